package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// roomBytes is how much a folder must have free to be chosen by itself: a
// container's /dev/shm often has 64 MiB only, less than three servers need.
const roomBytes = 1 << 30

// newFolder makes the temporary folder of a cluster, in parent or else in the
// first suitable place.
//
// Errors: no place is one that the account can reach and write.
func newFolder(ctx context.Context, parent string, who account) (string, error) {
	if parent != "" {
		return folderIn(ctx, parent, who)
	}
	var errs []error
	for _, parent := range []string{"/dev/shm", os.TempDir(), "/tmp"} {
		if err := hasRoom(parent); err != nil {
			errs = append(errs, err)
			continue
		}
		dir, err := folderIn(ctx, parent, who)
		if err == nil {
			return dir, nil
		}
		errs = append(errs, err)
	}
	return "", errors.Join(errs...)
}

// hasRoom returns an error if parent has less than roomBytes free.
func hasRoom(parent string) error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(parent, &fs); err != nil {
		return fmt.Errorf("pgcluster: %s: %w", parent, err)
	}
	if free := fs.Bavail * uint64(fs.Bsize); free < roomBytes {
		return fmt.Errorf("pgcluster: %s has only %d MiB free", parent, free>>20)
	}
	return nil
}

// folderIn makes a temporary folder in parent and proves that the account can
// use it: root may have a folder that nobody else can reach.
func folderIn(ctx context.Context, parent string, who account) (string, error) {
	dir, err := os.MkdirTemp(parent, "pgcluster-")
	if err != nil {
		return "", fmt.Errorf("pgcluster: %w", err)
	}
	err = who.own(dir)
	if err == nil {
		err = who.run(ctx, "/", "/bin/sh", "-c", `cd "$0" && : >probe && rm probe`, dir)
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}
