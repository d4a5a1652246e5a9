package safe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Dir is a directory for temporary files. It is locked as long as it is used, so that what killed
// runs leave behind can be told from it.
type Dir struct {
	Path string
	held *os.File // nil where there are no locks
}

// TempDir makes a directory for temporary files, and removes those that killed runs have left. They
// all stand in one directory of the user's, which goes with the last of them. If that place is
// somebody else's, what is killed leaves its directory for good.
func TempDir() (*Dir, error) {
	home := filepath.Join(os.TempDir(), fmt.Sprintf("lime-%d", os.Geteuid()))
	for {
		if err := os.Mkdir(home, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if !ours(home) {
			path, err := os.MkdirTemp("", "lime-")
			return &Dir{Path: path}, err
		}
		sweep(home)
		d, err := newDir(home)
		if !errors.Is(err, errTaken) && !errors.Is(err, fs.ErrNotExist) {
			return d, err
		} // else another run has taken it, or what it is in, for something that was left
	}
}

// Remove removes the directory with what is in it.
func (d *Dir) Remove() error {
	err := os.RemoveAll(d.Path)
	if d.held != nil {
		_ = os.Remove(filepath.Dir(d.Path)) // unless others are in it
		err = errors.Join(err, d.held.Close())
	}
	return err
}

func newDir(home string) (*Dir, error) {
	path, err := os.MkdirTemp(home, "run-")
	if err != nil {
		return nil, err
	}
	held, err := hold(path)
	if errors.Is(err, errTaken) {
		return nil, err
	}
	return &Dir{path, held}, nil
}

// ours reports whether nobody else may put anything into a directory. One that is gone can be made
// again.
func ours(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.IsDir() && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}

// sweep removes the directories in home that nobody uses any more. What cannot be removed stays.
func sweep(home string) {
	entries, _ := os.ReadDir(home)
	for _, e := range entries {
		path := filepath.Join(home, e.Name())
		if f, err := hold(path); err == nil {
			_ = os.RemoveAll(path)
			f.Close()
		}
	}
}

// errTaken is what hold says of a directory that another run uses, or removes.
var errTaken = errors.New("another run has it")

// hold locks a directory.
func hold(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errTaken
	}
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || err == nil && !stands(f, path) {
		err = errTaken
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
