package hook

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Seize stops a process that runs already, with all its threads. It is to be called by way of
// Apart: where it fails, the kernel lets go of what did not stop. Nothing that it does is
// disturbed: system calls that were interrupted go on, and signals that come meanwhile wait until
// Detach. Should lime be killed meanwhile, it goes on as if it had not been stopped.
func Seize(pid int) (*Tracee, error) { return seizeBy(pid, nil) }

// Apart does something on a thread of its own, which ends with it: the kernel then lets go of all
// that this thread still traces.
func Apart(do func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() { // the first thread does not end: another one
			done <- Apart(do)
			runtime.UnlockOSThread()
			return
		}
		done <- do()
	}()
	return <-done
}

func seizeBy(pid int, before func()) (*Tracee, error) {
	t, err := Attach(pid)
	if err != nil {
		return nil, err
	}
	t.before = before
	t.held = map[int]bool{}
	if err = t.stopAll(); err == nil && !t.held[pid] {
		err = fmt.Errorf("process %d: its first thread is gone", pid)
	}
	if err != nil {
		return nil, errors.Join(err, t.Detach())
	}
	return t, nil
}

// stopAll stops all threads.
func (t *Tracee) stopAll() (err error) {
	for more := true; more && err == nil; {
		more, err = t.stopMore()
	}
	return err
}

// stopMore stops the threads that are not stopped yet, and reports whether there were any.
func (t *Tracee) stopMore() (more bool, err error) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", t.PID))
	if err != nil {
		return false, fmt.Errorf("threads of process %d: %w", t.PID, err)
	}
	for _, e := range entries {
		tid, err := strconv.Atoi(e.Name())
		if err != nil || t.held[tid] {
			continue
		}
		switch err := t.stop(tid); {
		case errors.Is(err, ErrGone) && tid == t.PID: // and the process with it
			return false, err
		case errors.Is(err, unix.ESRCH), errors.Is(err, ErrGone): // it has ended meanwhile
		case err != nil:
			return false, err
		default:
			more = true
		}
	}
	return more, nil
}

// stop stops a thread. A signal that is on its way to it is delivered first.
func (t *Tracee) stop(tid int) error {
	if err := t.seize(tid); err != nil {
		return err
	}
	t.held[tid] = true
	if err := t.interrupt(tid); err != nil {
		return err
	}
	ws, err := t.stoppedSoon(tid)
	if err == nil && !eventStop(ws) {
		err = t.passOn(tid, ws.StopSignal())
	}
	return err
}

// stopPatience is how long the threads that have been stopped wait for one that does not stop,
// because the kernel does something for it that cannot be interrupted: a read from a disk, some
// milliseconds, or a file system on a network that does not answer, or vfork(2) until the child has
// begun its program, which may be never.
const stopPatience = time.Second

// errNoStop is returned for a process with a thread that cannot be stopped.
var errNoStop = errors.New("it waits in the kernel, and cannot be stopped")

// stoppedSoon waits for a thread that was told to stop.
func (t *Tracee) stoppedSoon(tid int) (ws unix.WaitStatus, err error) {
	const least, most = 20 * time.Microsecond, 10 * time.Millisecond
	for start, pause := time.Now(), least; time.Since(start) < stopPatience; pause = min(2*pause, most) {
		got, err := unix.Wait4(tid, &ws, unix.WALL|unix.WNOHANG, nil)
		switch {
		case err != nil && !errors.Is(err, unix.EINTR):
			return ws, fmt.Errorf("wait for thread %d: %w", tid, err)
		case got == tid:
			return ws, t.gone(tid, ws)
		}
		time.Sleep(pause)
	}
	delete(t.held, tid) // it cannot be let go of either: when the thread that traces it ends, it is
	return ws, fmt.Errorf("thread %d of process %d: %w", tid, t.PID, errNoStop)
}

// release lets the threads of a seized process run.
func (t *Tracee) release() error {
	first := t.giveBack()
	for tid := range t.held {
		if err := t.detach(tid); err != nil && !errors.Is(err, unix.ESRCH) && first == nil {
			first = err
		}
	}
	return first
}

// firstCall is what every program of a C library refers to (System V ABI, crt1.o), whatever else it
// leaves to its libraries.
const firstCall = "__libc_start_main"

// Started reports whether the dynamic loader has done its work on a seized process: it has not
// while a reference of the program leads nowhere that the loader turns. The program itself is the
// last whose references it turns, so that then those of its libraries are done. While it works the
// thread may stand in a library, in a function that chooses another one (STT_GNU_IFUNC).
func (t *Tracee) Started(funcs []Func) (bool, error) {
	in, err := t.inLoader()
	if err != nil {
		return true, err
	}
	ims, err := t.images(append(slices.Clone(funcs), Func{Name: firstCall}))
	if err != nil || len(ims) == 0 {
		return !in, err
	}
	program := &ims[0]
	for name, slots := range program.refs {
		if !in && name != firstCall { // others may lead nowhere for good
			continue
		}
		if definition(ims, name) == 0 {
			return false, nil
		}
		for _, slot := range slots {
			if v, err := t.word(slot); err != nil || v == 0 || v < program.bias {
				return false, nil
			}
		}
	}
	return true, nil
}

// inLoader reports whether the first thread stands in the dynamic loader.
func (t *Tracee) inLoader() (bool, error) {
	regs, err := t.registers(t.PID)
	if err != nil {
		return false, err
	}
	v, err := t.auxv()
	if err != nil || v[atBase] == 0 {
		return false, err
	}
	maps, err := Mappings(t.PID)
	if err != nil {
		return false, err
	}
	path := ""
	for _, m := range maps {
		if m.Lo == v[atBase] {
			path = m.Path
		}
	}
	for _, m := range maps {
		if regs.Rip >= m.Lo && regs.Rip < m.Hi {
			return path != "" && m.Path == path, nil
		}
	}
	return false, nil
}

// leadOut has no thread stand behind the first byte of code that was moved and is about to be
// changed: who stands there goes on where it was moved to.
func (t *Tracee) leadOut(from, to uint64, moved relocated) error {
	for tid := range t.held {
		pc, err := t.pc(tid)
		if err != nil {
			return err
		}
		off, ok := moved.at[pc-from]
		if !ok || off == 0 {
			continue
		}
		regs, err := t.registers(tid)
		if err != nil {
			return err
		}
		regs.Rip = to + off
		if err := t.setRegisters(tid, &regs); err != nil {
			return err
		}
	}
	return nil
}

// pc is where a stopped thread stands.
func (t *Tracee) pc(tid int) (uint64, error) {
	if pc, ok := t.stands[tid]; ok {
		return pc, nil
	}
	regs, err := t.registers(tid)
	if err != nil {
		return 0, err
	}
	if t.stands == nil {
		t.stands = map[int]uint64{}
	}
	t.stands[tid] = regs.Rip
	return regs.Rip, nil
}

// Remove takes the hooks out of a process that is stopped. The code stays, for threads that are in
// it.
func (in *Installed) Remove(t *Tracee) error {
	for _, p := range in.patches {
		now := make([]byte, len(p.now))
		if err := t.read(p.at, now); err != nil {
			return err
		}
		if bytes.Equal(now, p.now) {
			if err := t.write(p.at, p.old); err != nil {
				return err
			}
		}
	}
	for _, s := range in.slots {
		v, err := t.word(s.at)
		if err != nil {
			return err
		}
		if v >= in.Lo && v < in.Hi {
			if err := t.writeWord(s.at, s.old); err != nil {
				return err
			}
		}
	}
	return nil
}
