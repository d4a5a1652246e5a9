package sender

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A signal that a process sent is told from one that the kernel did, and Go's own handling of
// signals goes on.
func TestOf(t *testing.T) {
	ch := make(chan os.Signal, 4)
	Notify(ch, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM, unix.Signal(40))
	defer signal.Stop(ch)
	for _, n := range []syscall.Signal{unix.SIGUSR1, unix.SIGUSR2, unix.Signal(40), unix.SIGUSR1} {
		if err := unix.Kill(os.Getpid(), n); err != nil {
			t.Fatal(err)
		}
		if s := <-ch; s != n {
			t.Fatalf("%v came, want %v", s, n)
		}
		if pid, ok := Of(n); !ok || pid != os.Getpid() {
			t.Errorf("%v: process %d, %t; want this one", n, pid, ok)
		}
		if _, ok := Of(n); ok {
			t.Errorf("%v is told of twice", n)
		}
	}
	if _, err := unix.Setitimer(unix.ITIMER_REAL, unix.Itimerval{Value: unix.Timeval{Usec: 1000}}); err != nil {
		t.Fatal(err)
	}
	if s := <-ch; s != unix.SIGALRM {
		t.Fatalf("%v came", s)
	}
	if pid, ok := Of(unix.SIGALRM); ok {
		t.Errorf("the kernel's signal is said to be sent by %d", pid)
	}
	cmd := exec.Command("sh", "-c", "echo $$; kill -USR2 $PPID")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	<-ch
	if pid, ok := Of(unix.SIGUSR2); !ok || pid != cmd.Process.Pid {
		t.Errorf("sent by %d, %t; want %s", pid, ok, out)
	}
}

// Of a signal that nobody asked for nothing is known: it is taken to be sent.
func TestUnknown(t *testing.T) {
	for _, n := range []syscall.Signal{0, -1, 65, unix.SIGWINCH} {
		if pid, ok := Of(n); !ok || pid != 0 {
			t.Errorf("%d: %d, %t", int(n), pid, ok)
		}
	}
}

// What is ignored stays so.
func TestIgnored(t *testing.T) {
	signal.Ignore(unix.SIGHUP)
	defer signal.Reset(unix.SIGHUP)
	ch := make(chan os.Signal, 1)
	Notify(ch, unix.SIGHUP)
	if !signal.Ignored(unix.SIGHUP) {
		t.Error("an ignored signal is caught")
	}
}
