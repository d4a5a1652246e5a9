package safe

import (
	"fmt"
	"os"
	"syscall"
)

// kernelFiles are the file systems whose regular files are the kernel's: reading them may wait for
// ever, and their sizes mean nothing. Numbers of statfs(2).
var kernelFiles = map[int64]string{0x9fa0: "proc", 0x62656572: "sysfs", 0x64626720: "debugfs", 0x74726163: "tracefs"}

// Open opens a regular file to read it. It never waits: not for the other end of a FIFO, and not
// for a device or a file of the kernel's, which it refuses.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	if err := regular(f); err != nil {
		f.Close()
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return f, nil
}

func regular(f *os.File) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if st.IsDir() {
		return fmt.Errorf("a directory, %w", errNotRegular)
	}
	if !st.Mode().IsRegular() {
		return errNotRegular
	}
	var fs syscall.Statfs_t
	if syscall.Fstatfs(int(f.Fd()), &fs) == nil && kernelFiles[int64(fs.Type)] != "" {
		return fmt.Errorf("%w: it is on the kernel's %s", errNotRegular, kernelFiles[int64(fs.Type)])
	}
	return nil
}

var errNotRegular = fmt.Errorf("not a regular file")
