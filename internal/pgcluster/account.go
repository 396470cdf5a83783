package pgcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// account is the operating system user that the servers run as. PostgreSQL
// refuses to run as root.
type account struct {
	// credential is nil when the program itself is not root: then the servers
	// run as the same user.
	credential *syscall.Credential
}

// serverAccount picks postgres, else nobody, when this program runs as root.
//
// Errors: root, and neither account exists.
func serverAccount() (account, error) {
	if os.Geteuid() != 0 {
		return account{}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
		if uidErr == nil && gidErr == nil && uid != 0 {
			return account{&syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
		}
	}
	return account{}, errors.New("pgcluster: running as root and there is neither a user postgres nor a user nobody for the servers")
}

// own gives path to the account.
func (a account) own(path string) error {
	if a.credential == nil {
		return nil
	}
	return os.Chown(path, int(a.credential.Uid), int(a.credential.Gid))
}

// writeFile writes a file that only the account can read.
func (a account) writeFile(path string, content []byte) error {
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return err
	}
	return a.own(path)
}

// command prepares a program that runs in dir as the account, in a session of
// its own so that a terminal's Ctrl-C does not reach it, with nothing of the
// caller's PG* environment.
func (a account) command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "LC_ALL=C"}
	if path, ok := os.LookupEnv("LD_LIBRARY_PATH"); ok {
		cmd.Env = append(cmd.Env, "LD_LIBRARY_PATH="+path)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: a.credential}
	return cmd
}

// run runs a program to its end.
//
// Errors: it could not be started or failed; with what it printed.
func (a account) run(ctx context.Context, dir, name string, args ...string) error {
	cmd := a.command(ctx, dir, name, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return fmt.Errorf("pgcluster: %s: %w: %s", filepath.Base(name), err, strings.TrimSpace(string(bytes.ToValidUTF8(out, nil))))
	}
	return nil
}
