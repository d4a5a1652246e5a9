package watch

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

func init() { runtime.LockOSThread() } // TestMain is on the first thread

// TestMain asks, while the process's first thread is free to take a goroutine and then while it is
// not, where one runs that is to end with its thread.
func TestMain(m *testing.M) {
	runtime.UnlockOSThread()
	for range 200 {
		onAThread(func() {
			if unix.Gettid() == unix.Getpid() {
				println("a goroutine is to end with the first thread, which does not end")
				os.Exit(1)
			}
		})
	}
	os.Exit(m.Run())
}
