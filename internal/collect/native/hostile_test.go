package native

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"lime/internal/profile"
	"lime/internal/testenv"
)

// hostile is the beginning of programs that do to themselves what makes measuring hard: team(n)
// lets n threads meet at a barrier three times, with unequal work.
const hostile = `
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile long sink;
static long amount = 500000;
static void spin(long n) { for (long i = 0; i < n; i++) sink += i; }
static pthread_barrier_t bar;
static void *work(void *a) {
	for (int i = 0; i < 3; i++) { spin(amount * ((long)a + 1)); pthread_barrier_wait(&bar); }
	return a;
}
static void team(int n) {
	pthread_t t[n];
	pthread_attr_t at;
	pthread_attr_init(&at);
	pthread_attr_setstacksize(&at, 65536);
	pthread_barrier_init(&bar, 0, n);
	for (long i = 0; i < n; i++) if (pthread_create(&t[i], &at, work, (void *)(i % 8))) _exit(99);
	for (int i = 0; i < n; i++) pthread_join(t[i], 0);
}
`

// hostilePrograms are the programs: what they do, how they end, how many barriers of how many
// threads must be in the profile.
var hostilePrograms = []struct {
	name, body string
	status     int
	state      string
	barriers   int
	threads    int
	note       string
}{
	{"fork", `int main(void) { team(2); pid_t p = fork(); if (!p) { team(2); _exit(3); } int st; waitpid(p, &st, 0); team(2); return WEXITSTATUS(st); }`,
		3, "exited", 6, 2, "child-process"},
	{"exec", `int main(int c, char **v) { if (c > 1) return 5; team(2); execl("/proc/self/exe", v[0], "again", (char *)0); return 1; }`,
		5, "exited", 3, 2, ""},
	{"crash", `int main(void) { team(2); *(volatile int *)0 = 1; return 0; }`, 128 + int(unix.SIGSEGV), "signalled", 3, 2, ""},
	{"abort", `int main(void) { team(2); abort(); }`, 128 + int(unix.SIGABRT), "signalled", 3, 2, ""},
	{"kill", `int main(void) { team(2); kill(getpid(), SIGKILL); return 0; }`, 128 + int(unix.SIGKILL), "signalled", 3, 2, ""},
	{"handlers of its own for the signals of profilers and debuggers", `
static volatile int prof, trap;
static void onprof(int s) { prof++; }
static void ontrap(int s) { trap++; }
int main(void) {
	signal(SIGPROF, onprof); signal(SIGTRAP, ontrap);
	struct itimerval it = {{0, 1000}, {0, 1000}};
	setitimer(ITIMER_PROF, &it, 0);
	team(2);
	__asm__ volatile("int3");
	raise(SIGTRAP);
	while (prof < 3) spin(1000);
	return trap == 2 ? 6 : 1;
}`, 6, "exited", 3, 2, ""},
	{"closes every descriptor", `int main(void) { for (int i = 0; i < 4096; i++) close(i); team(2); return 7; }`, 7, "exited", 3, 2, ""},
	{"a thousand threads", `int main(void) { amount = 2000; team(1000); return 8; }`, 8, "exited", 3, 1000, ""},
	{"leaves threads behind", `static void *forever(void *a) { for (;;) pause(); }
int main(void) { pthread_t t; pthread_create(&t, 0, forever, 0); team(2); exit(9); }`, 9, "exited", 3, 2, ""},
	{"main ends first", `static void *late(void *a) { usleep(50000); _exit(10); }
int main(void) { pthread_t t; team(2); pthread_create(&t, 0, late, 0); pthread_exit(0); }`, 10, "exited", 3, 2, ""},
	{"children with names of their own",
		`int main(void) { team(2); for (int i = 0; i < 5; i++) if (system("true")) return 1; return 11; }`, 11, "exited", 3, 2, "child-process"},
	{"drops privileges", `int main(void) { team(2); if (getuid() == 0 && (setgid(65534) || setuid(65534))) return 1; team(2); return 12; }`, 12, "exited", 6, 2, ""},
	{"code on a stack of its own", `
static char stack[65536];
static void on(int s) { spin(3000000); }
int main(void) {
	stack_t ss = {stack, 0, sizeof stack};
	struct sigaction sa;
	memset(&sa, 0, sizeof sa);
	sa.sa_handler = on; sa.sa_flags = SA_ONSTACK;
	sigaltstack(&ss, 0); sigaction(SIGUSR1, &sa, 0);
	team(2);
	raise(SIGUSR1);
	return 13;
}`, 13, "exited", 3, 2, ""},
}

// Whatever a program does to itself, it ends as it does alone, and the profile holds what it did so
// far.
func TestHostilePrograms(t *testing.T) {
	allowed := able(needSamples, needTracing) == "" // otherwise who is a child and who a thread is not always told
	for _, c := range hostilePrograms {
		t.Run(c.name, func(t *testing.T) {
			p, res := record(t, Options{Command: []string{build(t, hostile+c.body)}, Stdout: new(strings.Builder), Stderr: new(strings.Builder)})
			if res.Status != c.status || res.EndState != c.state {
				t.Errorf("status %d, %s; want %d, %s", res.Status, res.EndState, c.status, c.state)
			}
			if got := sections(p)[profile.SectionBarrier]; got != [2]int{c.barriers, c.threads} && allowed {
				t.Errorf("%d barriers of %d threads; want %d of %d; notes %v", got[0], got[1], c.barriers, c.threads, p.Meta().Notes)
			}
			if c.note != "" && !noted(p, c.note) && allowed {
				t.Errorf("notes %v lack %s", p.Meta().Notes, c.note)
			}
		})
	}
}

// deny makes system calls fail for this process and all that it starts, as the filters of
// containers do (seccomp(2), bpf(4)).
func deny(errno unix.Errno, calls ...uint32) error {
	const retAllow, retErrno = 0x7fff0000, 0x00050000
	prog := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}}
	for _, nr := range calls {
		prog = append(prog, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 0, Jf: 1, K: nr},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: retErrno | uint32(errno)})
	}
	prog = append(prog, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: retAllow})
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	const setModeFilter, tsync = 1, 1 // for all threads
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, setModeFilter, tsync, uintptr(unsafe.Pointer(&fprog))); e != 0 {
		return e
	}
	return nil
}

// filters are what containers and careful administrators forbid, and what the profile must say and
// hold then.
var filters = []struct {
	name     string
	errno    unix.Errno
	calls    []uint32
	notes    []string
	barriers int
}{
	{"no perf events", unix.EPERM, []uint32{unix.SYS_PERF_EVENT_OPEN}, []string{"no-samples", "no-switches"}, 3},
	{"a kernel without perf events", unix.ENOSYS, []uint32{unix.SYS_PERF_EVENT_OPEN}, []string{"no-samples", "no-switches"}, 3},
	{"perf_event_paranoid 3", unix.EACCES, []uint32{unix.SYS_PERF_EVENT_OPEN}, []string{"no-samples", "no-switches"}, 3},
	{"no ptrace", unix.EPERM, []uint32{unix.SYS_PTRACE}, []string{"no-hooks"}, 0},
	{"a kernel without ptrace", unix.ENOSYS, []uint32{unix.SYS_PTRACE}, []string{"no-hooks"}, 0},
	{"neither", unix.EPERM, []uint32{unix.SYS_PTRACE, unix.SYS_PERF_EVENT_OPEN, unix.SYS_PROCESS_VM_READV},
		[]string{"no-hooks", "no-samples", "no-switches"}, 0},
	{"no memory of others", unix.EPERM, []uint32{unix.SYS_PROCESS_VM_READV}, nil, 3},
}

const filterEnv = "LIME_TEST_FILTER"

// Without the rights for one way of measuring the others still work, and the profile says what is
// missing. Filters cannot be taken away again, so each is tried in a process of its own.
func TestWithoutRights(t *testing.T) {
	if name := os.Getenv(filterEnv); name != "" {
		underFilter(t, name)
		return
	}
	program := build(t, hostile+`int main(void) { team(2); return 7; }`)
	for _, f := range filters {
		t.Run(f.name, func(t *testing.T) {
			if f.barriers > 0 {
				needs(t, needTracing)
			}
			cmd := exec.Command(os.Args[0], "-test.run=^TestWithoutRights$", "-test.v")
			cmd.Env = append(os.Environ(), filterEnv+"="+f.name, "LIME_TEST_PROGRAM="+program)
			out, err := cmd.CombinedOutput()
			switch {
			case err != nil:
				t.Errorf("%v\n%s", err, out)
			case strings.Contains(string(out), "--- SKIP"):
				testenv.Skip(t, testenv.NoFilters, string(out))
			}
		})
	}
}

func underFilter(t *testing.T, name string) {
	for _, f := range filters {
		if f.name != name {
			continue
		}
		if err := deny(f.errno, f.calls...); err != nil {
			testenv.Skip(t, testenv.NoFilters, err)
		}
		p, res := record(t, Options{Command: []string{os.Getenv("LIME_TEST_PROGRAM")}})
		if res.Status != 7 || res.EndState != "exited" {
			t.Errorf("status %d, %s; want 7, exited", res.Status, res.EndState)
		}
		if got := sections(p)[profile.SectionBarrier][0]; got != f.barriers {
			t.Errorf("%d barriers, want %d", got, f.barriers)
		}
		for _, code := range f.notes {
			if !noted(p, code) {
				t.Errorf("the notes do not say %s: %v", code, p.Meta().Notes)
			}
		}
		for _, c := range Doctor() {
			if !c.OK && c.Fix == "" {
				t.Errorf("the doctor does not say what would bring %s", c.Name)
			}
		}
		return
	}
	t.Fatalf("there is no filter %q", name)
}

// A program that may be executed but not read cannot be prepared: the message says what is missing.
func TestProgramThatMayNotBeRead(t *testing.T) {
	if os.Geteuid() == 0 {
		testenv.Skip(t, testenv.Root)
	}
	program := build(t, hostile+`int main(void) { return 0; }`)
	if err := os.Chmod(program, 0o111); err != nil {
		t.Fatal(err)
	}
	res, err := Run(t.Context(), Options{Command: []string{program}, Out: profile.New(profile.Meta{})})
	if err == nil || !strings.Contains(err.Error(), "allowed to read the program") || res.Status != statusCannotRun {
		t.Errorf("status %d, %v", res.Status, err)
	}
}
