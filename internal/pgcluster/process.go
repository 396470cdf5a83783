package pgcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// process is an entry of the operating system's process table.
type process struct {
	pid, parent int
	state       byte // as ps prints it: T stopped, Z ended but not waited for
}

// processes lists all processes: from /proc, or with ps where there is none.
func processes(ctx context.Context) ([]process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return processesByPS(ctx)
	}
	var all []process
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err != nil {
			continue // it has ended meanwhile
		}
		// 42 (a name, which may contain anything) S 1 ...
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 2 {
			continue
		}
		parent, err := strconv.Atoi(fields[1])
		if err == nil {
			all = append(all, process{pid: pid, parent: parent, state: fields[0][0]})
		}
	}
	return all, nil
}

// processesByPS lists all processes with ps.
func processesByPS(ctx context.Context) ([]process, error) {
	out, err := exec.CommandContext(ctx, "ps", "-A", "-o", "pid=", "-o", "ppid=", "-o", "state=").Output()
	if err != nil {
		return nil, fmt.Errorf("pgcluster: ps: %w", err)
	}
	var all []process
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		pid, pidErr := strconv.Atoi(fields[0])
		parent, parentErr := strconv.Atoi(fields[1])
		if pidErr == nil && parentErr == nil {
			all = append(all, process{pid: pid, parent: parent, state: fields[2][0]})
		}
	}
	return all, nil
}

// family returns the process pid, first, and its children, without those that
// have ended.
func family(ctx context.Context, pid int) ([]process, error) {
	all, err := processes(ctx)
	if err != nil {
		return nil, err
	}
	var members []process
	for _, p := range all {
		switch {
		case p.state == 'Z':
		case p.pid == pid:
			members = slices.Insert(members, 0, p)
		case p.parent == pid:
			members = append(members, p)
		}
	}
	return members, nil
}

// haveEnded says whether all these processes have, and names one that has not.
func haveEnded(ctx context.Context, members []process) (ended bool, state string, err error) {
	all, err := processes(ctx)
	if err != nil {
		return false, "", err
	}
	for _, p := range all {
		if p.state != 'Z' && slices.ContainsFunc(members, func(m process) bool { return m.pid == p.pid }) {
			return false, fmt.Sprint("process ", p.pid), nil
		}
	}
	return true, "", nil
}

// signal sends a signal to a process, which may have ended.
func signal(pid int, s syscall.Signal) error {
	if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("pgcluster: %s to process %d: %w", s, pid, err)
	}
	return nil
}
