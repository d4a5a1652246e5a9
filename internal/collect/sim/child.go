// The process that holds the program: how it starts, and how it ends.

package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"lime/internal/engine"
	"lime/internal/guest"
	"lime/internal/profile"
	"lime/internal/sender"
	"lime/internal/start"
)

// maxTries is how often a child starts itself again because the addresses that the
// program needs are taken (by the randomised heap of Go's, one time in thirty).
const maxTries = 20

// ChildMain is the process that holds the program. It is called before
// anything else happens in it, with what follows ChildVerb, the descriptors on which it talks with
// its parent, and returns its exit status.
func ChildMain(args []string, stderr io.Writer) int {
	question, answer := -1, -1
	if len(args) == 2 {
		question, _ = strconv.Atoi(args[0])
		answer, _ = strconv.Atoi(args[1])
	}
	unix.CloseOnExec(question)
	unix.CloseOnExec(answer)
	if err := guest.ReserveFDs(); err != nil {
		fmt.Fprintln(stderr, "lime:", err)
		return statusFailed
	}
	cfg, err := readConfig(question)
	if err != nil {
		fmt.Fprintf(stderr, "lime: %s is started by lime itself only: %v\n", ChildVerb, err)
		return statusFailed
	}
	cfg.answer = highFD(answer)
	if err := guest.ReserveFDs(); err != nil { // the two numbers that are free now
		fmt.Fprintln(stderr, "lime:", err)
		return statusFailed
	}
	return cfg.hold(stderr)
}

// hold runs the program in this process, and answers how it fared.
func (cfg Config) hold(stderr io.Writer) int {
	cfg.settle()
	if cfg.Found == nil {
		cfg.Found = found()
	}
	if slices.Contains(cfg.Found.Closed, unix.Stderr) { // the number is the program's
		stderr = io.Discard
	}
	res := runHere(cfg, stderr)
	if res.Status == statusAgain && cfg.Tries < maxTries {
		// Here, not in the parent: a program that replaced itself must not begin anew.
		cfg.Tries++
		_ = replace(cfg, &guest.ExecRequest{Path: cfg.Cmd, Args: cfg.Args, Env: cfg.Env, Found: *cfg.Found})
	}
	text, _ := json.Marshal(res)
	_, _ = cfg.answer.Write(text)
	if cfg.Followed {
		return endAs(res)
	}
	return res.Status
}

func readConfig(fd int) (cfg Config, err error) {
	f := os.NewFile(uintptr(fd), "question")
	if f == nil {
		return cfg, errors.New("no question")
	}
	defer f.Close()
	return cfg, json.NewDecoder(f).Decode(&cfg)
}

// highFD moves a descriptor out of the way of the program's own.
func highFD(fd int) *os.File { return os.NewFile(uintptr(guest.HighFD(fd)), "answer") }

// replace starts over with the program by which the present one replaces itself: this process, its
// open files and its directory stay, the profile is that of the new program. It returns only if
// that fails.
func replace(cfg Config, e *guest.ExecRequest) error {
	cfg.Cmd, cfg.Args, cfg.Env, cfg.Found = e.Path, e.Args, e.Env, &e.Found
	text, err := json.Marshal(cfg)
	if err != nil {
		return err
	}
	question, err := spool(text)
	if err != nil {
		return err
	}
	q := highFD(int(question.Fd()))
	fds := []string{strconv.Itoa(int(q.Fd())), strconv.Itoa(int(cfg.answer.Fd()))}
	for _, f := range []*os.File{q, cfg.answer} {
		if _, err := unix.FcntlInt(f.Fd(), unix.F_SETFD, 0); err != nil {
			return err
		}
	}
	if cfg.Settled {
		randomise(false)
		defer randomise(true)
	}
	return unix.Exec("/proc/self/exe", append([]string{"lime", ChildVerb}, fds...), os.Environ())
}

// ballast is memory that is never touched. The collector of garbage waits until the heap has
// doubled, and so does not run at all in the short time that most programs take to start.
const ballast = 32 << 20

// runHere runs the program in this process.
func runHere(cfg Config, stderr io.Writer) Result {
	runtime.LockOSThread()
	if !cfg.Followed {
		dieWithParent(cfg.Parent)
	}
	debug.SetPanicOnFault(true)
	defer runtime.KeepAlive(make([]byte, ballast))
	var interrupts atomic.Int32
	cfg.interrupted = func() bool { return interrupts.Load() > 0 }
	if err := cfg.follow(); err != nil {
		return notRun(cfg, err, stderr)
	}
	meter, err := cfg.meter()
	if err != nil {
		return notRun(cfg, err, stderr)
	}
	w, err := profile.Create(cfg.Out, (&run{cfg: cfg, meter: meter}).meta())
	if err != nil {
		fmt.Fprintln(stderr, "lime:", err)
		return Result{Status: statusFailed, EndState: "lime-failed", Message: err.Error()}
	}
	r, err := newRun(cfg, meter, w)
	if err != nil {
		w.Close()
		return notRun(cfg, err, stderr)
	}
	if cfg.Progress {
		r.progress = newProgress(stderr)
	}
	r.whenCounted = func() { r.counted(w, stderr) }
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r.unrelay = relay(r.memory.proc, &interrupts, cancel)
	return r.complete(ctx, w, stderr)
}

// dieWithParent has the kernel end this process when lime is gone. What lime asked
// for at the start is lost in a replacement: it belongs to a thread, and another
// one may have called exec (prctl(2), PR_SET_PDEATHSIG).
func dieWithParent(parent int) {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return
	}
	if parent != 0 && os.Getppid() != parent {
		_ = unix.Kill(os.Getpid(), unix.SIGKILL)
	}
}

// complete runs to the end and closes the profile.
func (r *run) complete(ctx context.Context, w *profile.Writer, stderr io.Writer) Result {
	err := r.protected(func() { r.loop(ctx) })
	if err != nil {
		r.end.over = false
		r.ending.stop("lime-failed", err)
	}
	r.progress.clear()
	if !r.counting.over() {
		closing := r.protected(func() { r.out.err = r.finish() })
		r.end.err = joined(r.end.err, closing, r.out.err, w.Close())
	}
	if !r.cfg.Followed || r.end.signal == 0 { // who has started the program tells what it died of
		for _, text := range r.end.words {
			fmt.Fprintln(stderr, "lime:", text)
		}
	}
	if r.end.err != nil {
		fmt.Fprintln(stderr, "lime:", r.end.err)
	}
	if r.end.exec != nil {
		r.unrelay()
		replacing(r.beside, func() { r.replaced(stderr) })
	}
	return r.result()
}

// replaced has the program be what it has replaced itself by. It returns only if that fails.
func (r *run) replaced(stderr io.Writer) {
	e := r.end.exec
	if r.counting.over() {
		r.end.err = fmt.Errorf("replace the program by %s: %w", e.Path, r.memory.proc.DoExec(e))
		fmt.Fprintln(stderr, "lime:", r.end.err)
		return
	}
	next := r.cfg
	e.HandOn(r.memory.proc)
	if next.Children != "" { // each program has a profile of its own
		next.Out = ChildProfile(next.Children, e.Path, os.Getpid())
	}
	r.end.err = fmt.Errorf("replace the program by %s: %w", e.Path, replace(next, e))
	r.end.state = "lime-failed"
	_ = profile.Amend(r.cfg.Out, func(m *profile.Meta) { m.EndState = r.end.state })
	fmt.Fprintln(stderr, "lime:", r.end.err)
}

// counted closes the profile of a program that goes on, and tells the parent.
func (r *run) counted(w *profile.Writer, stderr io.Writer) {
	r.progress.clear()
	r.progress = nil
	if r.end.err = joined(r.end.err, w.Close()); r.end.err != nil {
		fmt.Fprintln(stderr, "lime:", r.end.err)
	}
	res := r.result()
	res.GoesOn = true
	text, _ := json.Marshal(res)
	_, _ = r.cfg.answer.Write(text)
	r.cfg.answer.Close()
}

// joined is errors.Join, in which nothing is said twice: a profile that could
// not be written fails whatever is done with it.
func joined(errs ...error) error {
	said := map[string]bool{}
	var out []error
	for _, err := range errs {
		if err != nil && !said[err.Error()] {
			said[err.Error()] = true
			out = append(out, err)
		}
	}
	return errors.Join(out...)
}

// protected turns a panic into an error: a stray access of the program's may
// have damaged anything.
func (r *run) protected(f func()) (err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("internal error: %v\n%s", e, debug.Stack())
		}
	}()
	f()
	return nil
}

func (r *run) result() Result {
	res := Result{
		Status: r.end.status, EndState: r.end.state, Instances: r.out.instances, Threads: len(r.roster.threads),
		RunTime: r.clocks.latest, Notes: r.notes.List(), Message: strings.Join(r.end.words, "\n"), Parts: r.numbers.list(),
		Missed: r.even.missed(), NoLock: r.locks.lockBook.changes.missed(),
		Never: r.focus.never(),
	}
	switch {
	case r.end.err != nil, r.end.state == "deadlock":
		res.Status = statusFailed
	case r.end.signal != 0:
		res.Status, res.Signal = 128+r.end.signal, r.end.signal
	case r.end.state == "interrupted" && !r.end.asked:
		res.Status = 128 + int(unix.SIGINT)
	}
	if r.end.err != nil {
		res.Message = r.end.err.Error()
	}
	return res
}

// notRun is the result when the program could not be started.
func notRun(cfg Config, err error, stderr io.Writer) Result {
	if errors.Is(err, guest.ErrAddressTaken) || errors.Is(err, engine.ErrNoRoom) {
		return Result{Status: statusAgain}
	}
	_ = profile.Remove(cfg.Out) // nothing is in it
	fmt.Fprintln(stderr, "lime:", err)
	res := Result{Status: statusFailed, EndState: "lime-failed", Message: err.Error()}
	var load *guest.LoadError
	if errors.As(err, &load) && load.Status != 0 {
		res.Status = load.Status
	}
	return res
}

// found is what this process was started with.
func found() *guest.Found {
	s := guest.Found{Ignored: start.Ignored(), Closed: start.Closed(), Subreaper: start.Subreaper(), Limits: map[uint64][2]uint64{}}
	var l unix.Rlimit
	if soft, known := start.OpenFiles(); known && unix.Getrlimit(unix.RLIMIT_NOFILE, &l) == nil {
		s.Limits[unix.RLIMIT_NOFILE] = [2]uint64{soft, l.Max}
	}
	var known bool
	if s.Blocked, known = start.Blocked(); known {
		return &s
	}
	var mask unix.Sigset_t
	if unix.PthreadSigmask(unix.SIG_BLOCK, nil, &mask) == nil {
		s.Blocked = mask.Val[0]
	}
	return &s
}

// relay hands signals from outside to the program. The third that a terminal's key sends ends the
// run, whatever the program does with them; the profile so far is kept.
func relay(p *guest.Process, interrupts *atomic.Int32, cancel func()) (stop func()) {
	signals := make(chan os.Signal, sender.Waiting)
	signal.Notify(signals, guest.RelayedSignals()...) // also those that are ignored until the program handles them
	sender.Notify(signals, guest.RelayedSignals()...)
	done := make(chan struct{})
	go func() {
		keys := 0
		for s := range signals {
			n, _ := s.(unix.Signal)
			if n == unix.SIGINT || n == unix.SIGTERM {
				interrupts.Add(1)
			}
			if _, sent := sender.Of(n); n == unix.SIGINT && !sent {
				if keys++; keys >= 3 {
					cancel()
				}
			}
			p.PostSignal(int(n))
		}
		close(done)
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
		<-done
	}
}
