package safe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Temp makes a file beside the one at path, to be renamed to it or removed. What others leave behind
// that were killed is used again, so that it does not add up: as long as somebody writes a file it is
// locked. While somebody does, others get a name of their own.
func Temp(path string) (*os.File, error) {
	name := path + ".lime.tmp"
	for {
		f, err := created(name)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return f, err
		}
		if gone, err := removed(name); err != nil {
			return nil, err
		} else if !gone {
			return created(fmt.Sprintf("%s.lime-%d.tmp", path, os.Getpid()))
		}
	}
}

// Inherit gives a new file the mode of the one that it is to replace and, as far as the rights go,
// its owner.
func Inherit(path string, old fs.FileInfo) error {
	if st, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = os.Lchown(path, int(st.Uid), int(st.Gid))
	}
	return os.Chmod(path, old.Mode().Perm())
}

// created makes a file that is not there, and locks it.
func created(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	// A file system without locks has no files that are left, either: nobody can tell.
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err == nil && !stands(f, name) {
		f.Close()
		return nil, &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist} // taken for a left one in between
	}
	return f, nil
}

// removed removes a file that nobody writes any more; false: somebody does, or it is no file of ours.
func removed(name string) (bool, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, nil // a link, or another's
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() || syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return false, err
	}
	if !stands(f, name) {
		return true, nil
	}
	return true, os.Remove(name)
}

// stands reports whether a file still has its name.
func stands(f *os.File, name string) bool {
	here, err1 := f.Stat()
	there, err2 := os.Lstat(name)
	return err1 == nil && err2 == nil && os.SameFile(here, there)
}
