package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"lime/internal/testenv"
)

// listener says which signals reach it. The last one ends it; at first it sends one to its parent,
// as to all that it belongs with.
const listener = `
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
	sigset_t all;
	int n;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, 0);
	kill(getppid(), SIGVTALRM);
	printf("ready\n");
	fflush(stdout);
	do {
		sigwait(&all, &n);
		if (n == SIGWINCH || n == SIGCONT) continue;
		printf("%d\n", n);
		fflush(stdout);
	} while (n != SIGUSR2);
	return 7;
}
`

// listening is lime that records the listener.
type listening struct {
	cmd  *exec.Cmd
	out  *bufio.Reader
	file string
}

// verbs are those that run a program, and pass on to it what they are sent.
var verbs = []string{"record", "simulate", "count"}

// listen starts lime; with a terminal if that is one.
func listen(t *testing.T, verb string, terminal *os.File) *listening {
	t.Helper()
	lime, err := built()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	l := &listening{file: filepath.Join(dir, "signals")}
	l.cmd = exec.Command(lime, verb, "-o", l.file, "--", program(t, listener))
	l.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if terminal != nil {
		l.cmd.Stdin, l.cmd.Stderr = terminal, terminal
		l.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}
	out, err := l.cmd.StdoutPipe()
	if err := errors.Join(err, l.cmd.Start()); err != nil {
		t.Fatal(err)
	}
	l.out = bufio.NewReader(out)
	if line, err := l.out.ReadString('\n'); line != "ready\n" {
		t.Fatalf("the program says %q, %v", line, err)
	}
	return l
}

// program builds a C program.
func program(t *testing.T, source string) string {
	t.Helper()
	testenv.Tool(t, "gcc")
	dir := t.TempDir()
	src, out := filepath.Join(dir, "p.c"), filepath.Join(dir, "p")
	if err := os.WriteFile(src, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	if msg, err := exec.Command("gcc", "-O2", "-g", "-pthread", "-o", out, src).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %s", msg)
	}
	return out
}

// heard sends the last signal, and checks what came before it and how lime ended.
func (l *listening) heard(t *testing.T, want string) {
	t.Helper()
	if err := l.cmd.Process.Signal(unix.SIGUSR2); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(l.out) // the status says the rest
	_ = l.cmd.Wait()
	want += fmt.Sprintf("%d\n", int(unix.SIGUSR2))
	if string(rest) != want || l.cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("the program got %q, lime ended with %v; want %q, status 7", rest, l.cmd.ProcessState, want)
	}
	if code, stdout, stderr := run(t, filepath.Dir(l.file), "", "report", "--json", l.file); code != 0 && code != 3 ||
		!strings.Contains(stdout, `"complete": true`) {
		t.Errorf("report: %d, %s", code, stderr)
	}
}

// A signal that is sent to lime alone reaches the program, once; what the program sends to lime
// does not come back to it.
func TestSignalsReachTheProgram(t *testing.T) {
	for _, verb := range verbs {
		for _, n := range []syscall.Signal{unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGHUP, unix.SIGUSR1,
			unix.SIGALRM, unix.SIGABRT, unix.Signal(40)} {
			t.Run(verb+"/"+n.String(), func(t *testing.T) {
				l := listen(t, verb, nil)
				if err := l.cmd.Process.Signal(n); err != nil {
					t.Fatal(err)
				}
				l.hears(t, n)
				l.heard(t, "")
			})
		}
	}
}

// Who sends a signal again and again means the program each time: that it goes on is its own affair.
func TestProgramMayNotMindSignals(t *testing.T) {
	for _, verb := range verbs {
		l := listen(t, verb, nil)
		for range 5 {
			for _, n := range []syscall.Signal{unix.SIGTERM, unix.SIGINT} {
				if err := l.cmd.Process.Signal(n); err != nil {
					t.Fatal(err)
				}
				l.hears(t, n)
			}
		}
		l.heard(t, "")
	}
}

// What is sent to the whole group reaches the program, directly and by way of lime: once or twice.
func TestSignalsToTheGroup(t *testing.T) {
	for _, verb := range verbs {
		for _, n := range []syscall.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGUSR1} {
			l := listen(t, verb, nil)
			if err := unix.Kill(-l.cmd.Process.Pid, n); err != nil {
				t.Fatal(err)
			}
			l.hears(t, n)
			if err := l.cmd.Process.Signal(unix.Signal(40)); err != nil { // comes after those that lime has passed on before
				t.Fatal(err)
			}
			line, err := l.out.ReadString('\n')
			if line == fmt.Sprintf("%d\n", int(n)) {
				line, err = l.out.ReadString('\n')
			}
			if line != "40\n" {
				t.Errorf("%s, %v: the program got %q, %v", verb, n, line, err)
			}
			l.heard(t, "")
		}
	}
}

// hears checks what the program gets next.
func (l *listening) hears(t *testing.T, n syscall.Signal) {
	t.Helper()
	if line, err := l.out.ReadString('\n'); line != fmt.Sprintf("%d\n", int(n)) {
		t.Errorf("the program got %q, %v; want %v", line, err, n)
	}
}

// Keys of the terminal reach the program and lime, which does not pass them on, waits for the
// program, and keeps the profile.
func TestKeysReachTheProgram(t *testing.T) {
	for _, verb := range verbs {
		for _, row := range []struct {
			key  string
			want syscall.Signal
		}{{"\x03", unix.SIGINT}, {"\x1c", unix.SIGQUIT}} {
			keys, terminal := pty(t) // the end of a session takes its terminal along
			l := listen(t, verb, terminal)
			if _, err := io.WriteString(keys, row.key); err != nil {
				t.Fatal(err)
			}
			l.hears(t, row.want)
			l.heard(t, "")
		}
	}
}

// pty makes a terminal, and what types into it.
func pty(t *testing.T) (keys, terminal *os.File) {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		testenv.Skip(t, testenv.NoTerminal, err)
	}
	t.Cleanup(func() { keys.Close() })
	n, err1 := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	err2 := unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		testenv.Skip(t, testenv.NoTerminal, err)
	}
	t.Cleanup(func() { terminal.Close() })
	go func() { _, _ = io.Copy(io.Discard, keys) }() // what is said there is not looked at
	return keys, terminal
}

// By default a signal ends the program, and lime with its status; what was recorded is kept.
func TestSignalEndsTheProgram(t *testing.T) {
	lime, err := built()
	if err != nil {
		t.Fatal(err)
	}
	path := program(t, `#include <stdio.h>
#include <unistd.h>
int main(void) { puts("ready"); fflush(stdout); for (;;) pause(); }`)
	for _, verb := range verbs {
		for _, n := range []syscall.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGUSR1} {
			file := filepath.Join(t.TempDir(), "ended")
			cmd := exec.Command(lime, verb, "-o", file, "--", path)
			out, err := cmd.StdoutPipe()
			if err := errors.Join(err, cmd.Start()); err != nil {
				t.Fatal(err)
			}
			if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Process.Signal(n); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != 128+int(n) {
				t.Errorf("%s, %v: status %d", verb, n, got)
			}
			if _, stdout, _ := run(t, filepath.Dir(file), "", "report", "--json", file); !isWhole(stdout) {
				t.Errorf("%s, %v: the profile is not complete: %s", verb, n, grep(stdout, "end_state"))
			}
		}
	}
}

// isWhole says of a report that the profile holds all until the program's end by a signal.
func isWhole(json string) bool {
	return strings.Contains(json, `"end_state": "signalled"`) || strings.Contains(json, `"end_state": "interrupted"`)
}

// grep is the lines that hold a word.
func grep(text, word string) (out string) {
	for line := range strings.Lines(text) {
		if strings.Contains(line, word) {
			out += line
		}
	}
	return out
}

// The key that ends the program ends lime in the same way, with the profile complete: a shell's
// loop around the two ends, too.
func TestKeyEndsTheProgram(t *testing.T) {
	for _, verb := range verbs {
		keys, terminal := pty(t)
		file := filepath.Join(t.TempDir(), "ended")
		cmd := exec.Command(mustBuilt(t), verb, "-o", file, "--", "sh", "-c", "echo ready; exec sleep 1000")
		cmd.Stdin, cmd.Stderr = terminal, terminal
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		out, err := cmd.StdoutPipe()
		if err := errors.Join(err, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(keys, "\x03"); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !ws.Signaled() || ws.Signal() != unix.SIGINT {
			t.Errorf("%s: lime ended with %v, want %v", verb, cmd.ProcessState, unix.SIGINT)
		}
		if _, stdout, _ := run(t, filepath.Dir(file), "", "report", "--json", file); !isWhole(stdout) {
			t.Errorf("%s: the profile is not complete", verb)
		}
	}
}

// inheriting prints which signals it finds ignored, blocked and pending; with an argument, it first
// changes them and replaces itself, or, with more, changes as many as it may and becomes that
// program.
const inheriting = `
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
	sigset_t mask, pending;
	struct sigaction a;
	if (argc > 2) {
		sigemptyset(&mask);
		for (int i = 1; i < 65; i++) {
			if (i % 3 != 0) signal(i, SIG_IGN);
			if (i % 2 != 0) sigaddset(&mask, i);
		}
		sigprocmask(SIG_BLOCK, &mask, 0);
		execv(argv[2], argv + 2);
	}
	if (argc > 1) {
		signal(SIGUSR1, SIG_IGN); signal(SIGPIPE, SIG_IGN); signal(SIGHUP, SIG_DFL); signal(SIGCHLD, SIG_IGN);
		sigemptyset(&mask); sigaddset(&mask, SIGUSR2); sigaddset(&mask, SIGALRM); sigaddset(&mask, 40);
		sigprocmask(SIG_BLOCK, &mask, 0);
		raise(SIGUSR2); kill(getpid(), SIGALRM); kill(getpid(), 40);
		execl(argv[0], argv[0], (char *)0);
	}
	sigprocmask(0, 0, &mask); sigpending(&pending);
	for (int i = 1; i < 65; i++) {
		if (i == 32 || i == 33 || sigaction(i, 0, &a)) continue;
		if (a.sa_handler == SIG_IGN) printf("%d ignored\n", i);
		if (sigismember(&mask, i)) printf("%d blocked\n", i);
		if (sigismember(&pending, i)) printf("%d pending\n", i);
	}
	return 0;
}
`

// What is ignored and blocked a program has from who started it, or from the one that it replaces,
// and from that what is pending, too (execve(2)).
func TestSignalsAreInherited(t *testing.T) {
	path := program(t, inheriting)
	for _, args := range []string{"", " again"} {
		for _, traps := range []string{"exec ", "trap '' HUP PIPE TERM USR1 WINCH; exec ", "exec " + path + " start "} {
			text := func(lime string) string {
				cmd := exec.Command("sh", "-c", traps+lime+path+args)
				out, err := cmd.Output()
				if err != nil {
					t.Errorf("%s: %v", cmd, err)
				}
				return string(out)
			}
			want := text("")
			for _, verb := range verbs {
				if got := text(mustBuilt(t) + " " + verb + " -o " + filepath.Join(t.TempDir(), "p") + " -- "); got != want {
					t.Errorf("%s, %q%s:\n%snatively:\n%s", verb, traps, args, got, want)
				}
			}
		}
	}
}
