package profile

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// While a Writer writes its file, it holds a lock on one byte of it, so that nobody removes the
// file meanwhile. The lock is fcntl(2)'s of old: children of the process do not have it, and it
// goes with the process. It goes, too, when any descriptor of the file is closed in the process, so
// it is taken when the database is open, and its own descriptor stays open until that is closed.

// claimByte is far behind the bytes that the database engine locks, and its files' end.
const claimByte = 1 << 42

func claimLock() unix.Flock_t {
	return unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: claimByte, Len: 1}
}

// claim locks the file. Where the file system knows no locks, the file has none.
func (w *Writer) claim() (err error) {
	if w.claimed, err = os.OpenFile(w.path, os.O_RDWR, 0); err != nil {
		return err
	}
	lock := claimLock()
	_ = unix.FcntlFlock(w.claimed.Fd(), unix.F_SETLK, &lock)
	return nil
}

// unclaimed fails if another process writes the file.
func unclaimed(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil // what keeps it from being replaced will show
	}
	defer f.Close()
	lock := claimLock()
	if unix.FcntlFlock(f.Fd(), unix.F_GETLK, &lock) == nil && lock.Type != unix.F_UNLCK {
		return fmt.Errorf("process %d is writing it", lock.Pid)
	}
	return nil
}
