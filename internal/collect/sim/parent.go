// The process that waits for the child, and says how it ended.

package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"lime/internal/profile"
	"lime/internal/sender"
)

// ChildVerb is the hidden word by which lime starts itself as the process that
// holds the program.
const ChildVerb = "__simulate"

// Run simulates a program and writes its profile. The error is lime's; how the
// program fared is in the Result.
func Run(ctx context.Context, o Options) (Result, error) {
	if o.Cores < 0 || o.Cores > MaxCores {
		return Result{Status: statusFailed}, fmt.Errorf("%d cores: choose 1 to %d", o.Cores, MaxCores)
	}
	cfg, err := o.config()
	if err != nil {
		return Result{Status: statusFailed}, err
	}
	if cfg.Env == nil {
		cfg.Env = environ(cfg.Cmd)
	}
	cfg.Parent, cfg.Found = os.Getpid(), found()
	const attempts = 5
	for range attempts {
		res, err := runChild(ctx, &o, cfg)
		if res.Status != statusAgain {
			return res, err
		}
	}
	return Result{Status: statusFailed},
		errors.New("an address range that the program needs was taken in every attempt; " +
			"if lime was built without its Makefile, use make build")
}

// runChild starts one child and waits for it.
func runChild(ctx context.Context, o *Options, cfg Config) (Result, error) {
	cmd, answer, err := o.command(cfg)
	if err != nil {
		return Result{Status: statusFailed}, err
	}
	defer answer.Close()
	runtime.LockOSThread() // the child is to die with this thread, which lasts as long as lime
	defer runtime.UnlockOSThread()
	var relay sender.Relay
	signals := make(chan os.Signal, sender.Waiting)
	sender.Notify(signals, sender.Signals()...)
	if err := cmd.Start(); err != nil {
		signal.Stop(signals)
		return Result{Status: statusFailed}, fmt.Errorf("start the process that holds the program: %w", err)
	}
	defer passOn(signals, &relay, cmd.Process)()
	closeAll(cmd.ExtraFiles)
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(unix.SIGTERM) })
	defer stop()
	text, _ := io.ReadAll(answer)
	var res Result
	told := json.Unmarshal(text, &res) == nil && len(text) > 0
	if told && res.GoesOn && o.GoesOn != nil {
		o.GoesOn(&res)
	}
	err = cmd.Wait()
	if told && res.GoesOn {
		res.Status = statusOf(cmd.ProcessState)
	}
	if !told {
		res, told = diedBetween(cfg.Out, cmd.ProcessState)
	}
	if told {
		res.ByKey = res.Signal == int(unix.SIGINT) && relay.KeyCame()
		return res, nil
	}
	return lost(cfg.Out, cmd.ProcessState, err)
}

// passOn hands the child, which is the program's process, what was sent to lime alone.
func passOn(signals chan os.Signal, relay *sender.Relay, child *os.Process) (stop func()) {
	go func() {
		for s := range signals {
			if n, ok := s.(syscall.Signal); ok && relay.Passes(n, child.Pid) {
				_ = child.Signal(n) // it may be gone
			}
		}
	}()
	return func() {
		signal.Stop(signals) // nothing is sent from here on
		close(signals)
	}
}

// command prepares the child, which is told what to do by one descriptor and answers on another.
func (o *Options) command(cfg Config) (*exec.Cmd, *os.File, error) {
	text, err := json.Marshal(cfg)
	if err != nil {
		return nil, nil, err
	}
	question, err := spool(text)
	if err != nil {
		return nil, nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	lime := o.Lime
	if lime == "" {
		lime = "/proc/self/exe"
	}
	cmd := exec.Command(lime, ChildVerb)
	cmd.Args[0] = "lime"
	if err := besideInherited(cmd, question, write); err != nil {
		return nil, nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if o.Stdin != nil {
		cmd.Stdin = o.Stdin
	}
	if o.Stdout != nil {
		cmd.Stdout = o.Stdout
	}
	if o.Stderr != nil {
		cmd.Stderr = o.Stderr
	}
	cmd.Env = append(os.Environ(), "GOTRACEBACK=single")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd, read, nil
}

// besideInherited gives the child files of lime's own, and tells it where, at numbers that lime has
// not inherited: those are the program's.
func besideInherited(cmd *exec.Cmd, files ...*os.File) error {
	const first = 3 // of ExtraFiles
	for n := first; len(files) > 0; n++ {
		if flags, err := unix.FcntlInt(uintptr(n), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			own, err := unix.FcntlInt(uintptr(n), unix.F_DUPFD_CLOEXEC, first)
			if err != nil {
				return fmt.Errorf("inherited descriptor %d: %w", n, err)
			}
			cmd.ExtraFiles = append(cmd.ExtraFiles, os.NewFile(uintptr(own), "inherited"))
			continue
		}
		cmd.ExtraFiles = append(cmd.ExtraFiles, files[0])
		cmd.Args = append(cmd.Args, strconv.Itoa(n))
		files = files[1:]
	}
	return nil
}

// spool puts text into a file in memory, to be read from its start.
func spool(text []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("lime", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memfd: %w", err)
	}
	f := os.NewFile(uintptr(fd), "lime")
	if _, err := io.Copy(f, bytes.NewReader(text)); err != nil {
		f.Close()
		return nil, err
	}
	_, err = f.Seek(0, io.SeekStart)
	return f, err
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// statusOf is the exit status of a process, as shells have it.
func statusOf(state *os.ProcessState) int {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return state.ExitCode()
}

// diedBetween is the result when a signal from outside met the process between two programs of which
// one replaces the other: there nobody handles it, as natively just after execve(2).
func diedBetween(out string, state *os.ProcessState) (res Result, ok bool) {
	ws, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !ws.Signaled() || ws.Signal() == unix.SIGABRT || !slices.Contains(sender.Signals(), os.Signal(ws.Signal())) {
		return res, false
	}
	res = Result{Status: statusOf(state), Signal: int(ws.Signal()), EndState: "signalled"}
	if n := ws.Signal(); n == unix.SIGINT || n == unix.SIGTERM {
		res.EndState = "interrupted" // as in ending.exited
	}
	_ = profile.Amend(out, func(m *profile.Meta) { m.EndState = res.EndState }) // there may be none yet
	return res, true
}

// lost is the result when the child died without an answer. The profile holds
// what was finished before.
func lost(out string, state *os.ProcessState, err error) (Result, error) {
	res := Result{Status: statusFailed, EndState: "lime-failed"}
	how := fmt.Sprint(err)
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		how = "signal " + unix.SignalName(ws.Signal())
	}
	amend(out, how)
	return res, fmt.Errorf("the process that held the program died (%s); what was finished before is in %s", how, out)
}

// amend marks the profile of a run that was lost. It opens as it is if that fails.
func amend(path, how string) {
	_ = profile.Amend(path, func(m *profile.Meta) {
		m.EndState = "lime-failed"
		m.Notes = append(m.Notes, profile.Note{Code: "lime-failed",
			Text: "the process that held the program died: " + how, N: 1})
	})
}
