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
	"syscall"

	"golang.org/x/sys/unix"

	"lime/internal/profile"
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
	cfg.Parent = os.Getpid()
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
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGHUP)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return Result{Status: statusFailed}, fmt.Errorf("start the process that holds the program: %w", err)
	}
	go passOn(signals, cmd.Process)
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
	if told {
		return res, nil
	}
	return lost(cfg.Out, cmd.ProcessState, err)
}

// passOn hands the child what was sent to lime alone. Interrupts come from a
// terminal, which tells the child too.
func passOn(signals <-chan os.Signal, child *os.Process) {
	for s := range signals {
		if s == unix.SIGTERM || s == unix.SIGHUP {
			_ = child.Signal(s)
		}
	}
}

// command prepares the child: descriptor 3 tells it what to do, on 4 it answers.
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
	cmd.ExtraFiles = []*os.File{question, write}
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
