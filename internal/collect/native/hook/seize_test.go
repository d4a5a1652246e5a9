package hook

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"lime/internal/testenv"
)

const running = `
#include <pthread.h>
#include <unistd.h>
static pthread_barrier_t b;
static volatile int stop, last;
static void *work(void *arg) {
	for (long n = 1;; n++) {
		if (arg == 0) last = stop;
		pthread_barrier_wait(&b);
		int end = last;
		usleep(500);
		pthread_barrier_wait(&b);
		if (end) return (void *)n;
	}
}
int main(void) {
	pthread_t t[4];
	long n, all = 0;
	char c;
	pthread_barrier_init(&b, 0, 4);
	for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, work, (void *)i);
	if (write(1, "x", 1) != 1 || read(0, &c, 1) != 0) return 1; /* interrupted by lime, it goes on */
	stop = 1;
	for (int i = 0; i < 4; i++) { void *r; pthread_join(t[i], &r); all += (long)r; n = (long)r; }
	return all == 4 * n ? 7 : 2;
}
`

// A process that runs already is hooked and unhooked, and does not notice.
func TestSeize(t *testing.T) {
	for _, link := range []string{"-rdynamic", "-static"} {
		t.Run(link, func(t *testing.T) { seize(t, link) })
	}
}

func seize(t *testing.T, link string) {
	t.Helper()
	cmd := exec.Command(compile(t, running, link))
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	if _, err := stdout.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	ring, err := NewRing()
	if err != nil {
		t.Fatal(err)
	}
	defer ring.Close()
	var in *Installed
	seized(t, cmd.Process.Pid, func(tr *Tracee) error {
		started, err := tr.Started(funcs)
		if err == nil && !started {
			err = errors.New("the program is not thought to have started")
		}
		if err == nil {
			in, err = Install(tr, ring, funcs)
		}
		return err
	})
	entries := map[int32]int{}
	for len(entries) < 4 || entries[0] < 100 {
		ring.Drain(func(r Record) {
			if r.Phase == Enter && funcs[r.Func].Name == "pthread_barrier_wait" {
				entries[r.TID]++
				entries[0]++
			}
		})
		runtime.Gosched()
	}
	if len(entries) != 5 {
		t.Errorf("records by thread: %v; want those of 4 threads", entries)
	}
	seized(t, cmd.Process.Pid, func(tr *Tracee) error { return in.Remove(tr) })
	seized(t, cmd.Process.Pid, func(tr *Tracee) error {
		for _, s := range in.slots {
			if v, err := tr.word(s.at); err != nil || v >= in.Lo && v < in.Hi {
				t.Errorf("the reference at %#x is %#x after the hooks are gone (%v)", s.at, v, err)
			}
		}
		for _, p := range in.patches {
			if now := make([]byte, len(p.old)); tr.read(p.at, now) != nil || !bytes.Equal(now, p.old) {
				t.Errorf("the code at %#x is %x after the hooks are gone; want %x", p.at, now, p.old)
			}
		}
		return nil
	})
	stdin.Close()
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("the program ended with %v, want status 7", cmd.ProcessState)
	}
}

// seized stops a process, does something to it, and lets it go.
func seized(t *testing.T, pid int, do func(*Tracee) error) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	tr, err := Seize(pid)
	if err != nil {
		testenv.Skip(t, testenv.NoTracing, err)
	}
	if err := errors.Join(do(tr), tr.Detach()); err != nil {
		t.Fatal(err)
	}
}

// A thread that waits for a child which it shares its memory with cannot be stopped.
const sharing = `
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static volatile int stop;
static volatile long n;
static void *count(void *arg) { while (!stop) n++; return arg; }
static void *wait_for_ever(void *arg) {
	if (vfork() == 0) { char c; if (write(1, "x", 1) != 1 || read(0, &c, 1) != 0) _exit(1); _exit(0); }
	return arg;
}
int main(void) {
	pthread_t t[2];
	pthread_create(&t[0], 0, count, 0);
	pthread_create(&t[1], 0, wait_for_ever, 0);
	pthread_join(t[1], 0);
	long seen = n;
	while (n == seen) usleep(100); /* the other thread goes on */
	stop = 1;
	pthread_join(t[0], 0);
	return write(1, "done", 4) == 4 ? 7 : 1;
}
`

// A process with a thread that cannot be stopped is left alone, and goes on when lime's thread
// ends.
func TestThreadThatDoesNotStop(t *testing.T) {
	v := startVictim(t, compile(t, sharing), false)
	if err := Apart(func() error { _, err := Seize(v.cmd.Process.Pid); return err }); !errors.Is(err, errNoStop) &&
		!errors.Is(err, syscall.EPERM) {
		t.Errorf("%v, want %v", err, errNoStop)
	}
	if err := v.end(); err != nil {
		t.Error(err)
	}
}

// It may read, write and end (seccomp(2)); any other call would be its death.
const confined = `
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) {
	char c;
	pthread_barrier_t b;
	pthread_barrier_init(&b, 0, 1);
	pthread_barrier_wait(&b);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)) return 1;
	if (write(1, "x", 1) != 1) return 1;
	int status = read(0, &c, 1) == 0 && write(1, "done", 4) == 4 ? 7 : 2;
	syscall(SYS_exit, status);
}
`

// A process that may not make the system calls that lime needs is not asked for them.
func TestConfined(t *testing.T) {
	v := startVictim(t, compile(t, confined), false)
	ring, err := NewRing()
	if err != nil {
		t.Fatal(err)
	}
	defer ring.Close()
	seized(t, v.cmd.Process.Pid, func(tr *Tracee) error {
		if _, err := Install(tr, ring, victimFuncs); !errors.Is(err, errNoWorker) {
			t.Errorf("%v, want %v", err, errNoWorker)
		}
		return nil
	})
	if err := v.end(); err != nil {
		t.Error(err)
	}
}

// A program that leaves all synchronisation to a library is looked at again and again on its way to
// its own code. Where it is said to have started, the loader has turned the references of all files:
// else it would turn those once more that lime has turned.
func TestStartedWithoutReferences(t *testing.T) {
	testenv.Tool(t, "gcc")
	dir := t.TempDir()
	lib, src := filepath.Join(dir, "libw.so"), filepath.Join(dir, "w.c")
	if err := os.WriteFile(src, []byte(`
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int work(void) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return 7; }
`), 0o644); err != nil {
		t.Fatal(err)
	}
	if msg, err := exec.Command("gcc", "-O2", "-shared", "-fPIC", "-o", lib, src).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, msg)
	}
	kinds := [][]string{{"-Wl,-z,lazy"}}
	if os.Getenv("LIME_LONG") != "" { // a tenth of a million instructions each, step by step
		kinds = append(kinds, []string{"-Wl,-z,now"}, []string{"-no-pie"})
	}
	for _, flags := range kinds {
		path := compile(t, "int work(void); int main(void) { return work(); }", append(flags, lib, "-Wl,-rpath,"+dir)...)
		if slots := stepUntilStarted(t, path, []Func{{Name: "pthread_mutex_lock"}, {Name: "pthread_mutex_unlock"}}); slots < 2 {
			t.Errorf("%v: %d references, want those of the library", flags, slots)
		}
	}
}

// stepUntilStarted lets a program go on, instruction by instruction, until it is said to have
// started. It returns how many references there are then.
func stepUntilStarted(t *testing.T, path string, wanted []Func) (slots int) {
	t.Helper()
	const often = 2000 // instructions
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd, tr := begin(t, path)
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	for steps := 0; ; steps++ {
		if steps%often == 0 {
			if started, err := tr.Started(wanted); err == nil && started {
				return turned(t, tr, steps, wanted)
			}
		}
		var ws syscall.WaitStatus
		if err := syscall.PtraceSingleStep(tr.PID); err != nil {
			t.Fatal(err)
		}
		if _, err := syscall.Wait4(tr.PID, &ws, 0, nil); err != nil || !ws.Stopped() {
			t.Fatal(err, ws)
		}
	}
}

// turned holds that all references have been turned, and counts them.
func turned(t *testing.T, tr *Tracee, steps int, wanted []Func) (slots int) {
	t.Helper()
	ims, err := tr.images(wanted)
	if err != nil {
		t.Fatal(err)
	}
	for _, im := range ims {
		for name, refs := range im.refs {
			for _, slot := range refs {
				slots++
				if v, err := tr.word(slot); err != nil || v < im.bias {
					t.Errorf("after %d instructions: the reference of %s to %s is %#x (%v)", steps, im.path, name, v, err)
				}
			}
		}
	}
	return slots
}
