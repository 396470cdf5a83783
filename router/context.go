package router

import "context"

type hintKey struct{}

// WithPrimary returns a context whose statements run on the primary.
//
// Cost: none.
func WithPrimary(ctx context.Context) context.Context {
	return context.WithValue(ctx, hintKey{}, HintPrimary)
}

// WithReplica returns a context whose reads ask for a replica: the way to one
// under pgryw.route=hinted. The read is still fenced, and a known write still
// runs on the primary.
//
// Cost: none.
func WithReplica(ctx context.Context) context.Context {
	return context.WithValue(ctx, hintKey{}, HintReplica)
}

// HintFrom returns the hint that ctx carries; the innermost counts.
func HintFrom(ctx context.Context) Hint {
	hint, _ := ctx.Value(hintKey{}).(Hint)
	return hint
}
