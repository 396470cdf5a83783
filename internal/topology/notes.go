package topology

import (
	"context"
	"log/slog"

	"github.com/pgryw/pgryw/router"
)

// note is one line of log.
type note struct {
	level slog.Level
	text  string
	attrs []slog.Attr
}

// tell hands notes to the logger, in order, on a goroutine of its own: the
// logger may be slow, or use the handle itself. The caller holds c.mu.
func (c *Cluster) tell(notes ...note) {
	if c.closed.Load() {
		return
	}
	c.untold = append(c.untold, notes...)
	if !c.telling && len(c.untold) > 0 {
		c.telling = true
		c.work.Go(c.tellAll)
	}
}

func (c *Cluster) tellAll() {
	for {
		c.mu.Lock()
		notes := c.untold
		c.untold = nil
		c.telling = len(notes) > 0
		c.mu.Unlock()
		if len(notes) == 0 {
			return
		}
		for _, n := range notes {
			c.cfg.Logger.LogAttrs(context.Background(), n.level, n.text, n.attrs...)
		}
	}
}

// noteStanding tells of a change of a node's standing.
func noteStanding(n *node, now standing, timeline uint32) note {
	attrs := []slog.Attr{slog.String("server", n.cfg.Label), slog.String("role", now.role.String())}
	switch now.trouble {
	case router.ReasonNone:
		if now.role == router.RolePrimary {
			attrs = append(attrs, slog.Uint64("timeline", uint64(timeline)))
		}
		return note{slog.LevelInfo, "pgryw: server is in use", attrs}
	case router.ReasonUnreachable:
		return note{slog.LevelWarn, "pgryw: server cannot be reached", append(attrs, slog.Any("error", n.err))}
	case router.ReasonAlias:
		return note{slog.LevelInfo, "pgryw: server is known under another address already", attrs}
	case router.ReasonForeign:
		return note{slog.LevelError, "pgryw: server is of another cluster and is not used", append(attrs, slog.Uint64("system", n.last.server.system))}
	}
	return note{slog.LevelWarn, "pgryw: server is not used", append(attrs, slog.String("reason", now.trouble.String()))}
}

func noteSplit(timeline uint32) note {
	return note{
		slog.LevelError,
		"pgryw: two servers have been primary on one timeline; no replica serves until a server is promoted to a new one",
		[]slog.Attr{slog.Uint64("timeline", uint64(timeline))},
	}
}

func noteSystem(was, now uint64) note {
	return note{
		slog.LevelWarn, "pgryw: all servers are of another cluster than before, which is used from now on",
		[]slog.Attr{slog.Uint64("was", was), slog.Uint64("system", now)},
	}
}

func noteBlind(n *node) note {
	return note{
		slog.LevelInfo,
		"pgryw: the role may not see which timeline the replica follows; after a promotion it serves fenced reads only from its next restart point on; pg_monitor mends it",
		[]slog.Attr{slog.String("server", n.cfg.Label)},
	}
}

func noteIndirect(n *node) note {
	return note{
		slog.LevelWarn,
		"pgryw: there is a pooler before the server, which answers two groups of messages from two connections; fenced reads go to the primary",
		[]slog.Attr{slog.String("server", n.cfg.Label)},
	}
}
