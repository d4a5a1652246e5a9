package hook

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Seize stops a process that runs already, with all its threads. Nothing that it does is disturbed: system calls that were
// interrupted go on, and signals that come meanwhile wait until Detach.
func Seize(pid int) (*Tracee, error) {
	t, err := Attach(pid)
	if err != nil {
		return nil, err
	}
	t.held = map[int][]syscall.Signal{}
	for more := true; more; {
		if more, err = t.stopAll(); err != nil {
			return nil, errors.Join(err, t.Detach())
		}
	}
	v, err := t.auxv()
	if err == nil && len(t.held[pid]) == 0 && !t.holds(pid) {
		err = fmt.Errorf("process %d: its first thread is gone", pid)
	}
	if err != nil {
		return nil, errors.Join(err, t.Detach())
	}
	t.scratch = v[atEntry] // is never run again
	return t, nil
}

func (t *Tracee) holds(tid int) bool { _, ok := t.held[tid]; return ok }

// stopAll stops the threads that are not stopped yet, and reports whether there were any.
func (t *Tracee) stopAll() (more bool, err error) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", t.PID))
	if err != nil {
		return false, fmt.Errorf("threads of process %d: %w", t.PID, err)
	}
	for _, e := range entries {
		tid, err := strconv.Atoi(e.Name())
		if err != nil || t.holds(tid) {
			continue
		}
		switch err := t.stop(tid); {
		case errors.Is(err, unix.ESRCH): // it has ended meanwhile
		case err != nil:
			return false, err
		default:
			more = true
		}
	}
	return more, nil
}

func (t *Tracee) stop(tid int) error {
	if err := unix.PtraceSeize(tid); err != nil {
		return fmt.Errorf("trace thread %d of process %d: %w", tid, t.PID, err)
	}
	t.held[tid] = nil
	if err := unix.PtraceInterrupt(tid); err != nil {
		return fmt.Errorf("stop thread %d of process %d: %w", tid, t.PID, err)
	}
	ws, err := wait(tid)
	if err != nil {
		return err
	}
	if ws.Exited() || ws.Signaled() {
		delete(t.held, tid)
		return unix.ESRCH
	}
	if sig := ws.StopSignal(); !eventStop(ws) {
		t.held[tid] = append(t.held[tid], sig)
	}
	return nil
}

// eventStop reports whether a thread stopped because it was told to, and not for a signal of its own.
func eventStop(ws unix.WaitStatus) bool { return uint32(ws)>>16 == unix.PTRACE_EVENT_STOP }

// wait waits for a traced thread.
func wait(tid int) (ws unix.WaitStatus, err error) {
	for {
		_, err := unix.Wait4(tid, &ws, unix.WALL, nil)
		if err == nil {
			return ws, nil
		}
		if !errors.Is(err, unix.EINTR) {
			return ws, fmt.Errorf("wait for thread %d: %w", tid, err)
		}
	}
}

// release lets the threads of a seized process run, with the signals that were held back.
func (t *Tracee) release() error {
	var first error
	for tid, signals := range t.held {
		for _, s := range signals {
			if err := unix.Tgkill(t.PID, tid, s); err != nil && first == nil {
				first = fmt.Errorf("signal %v for thread %d: %w", s, tid, err)
			}
		}
		if err := unix.PtraceDetach(tid); err != nil && !errors.Is(err, unix.ESRCH) && first == nil {
			first = fmt.Errorf("let go of thread %d of process %d: %w", tid, t.PID, err)
		}
	}
	return first
}

// Started reports whether the dynamic loader has done its work on a seized process: it has not while the process stands in the loader
// and a reference of the program leads nowhere.
func (t *Tracee) Started(funcs []Func) (bool, error) {
	in, err := t.inLoader()
	if err != nil || !in {
		return true, err
	}
	ims, err := t.images(funcs)
	if err != nil || len(ims) == 0 {
		return false, err
	}
	program := &ims[0]
	for name, slots := range program.refs {
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
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(t.PID, &regs); err != nil {
		return false, fmt.Errorf("registers of process %d: %w", t.PID, err)
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

// stepOut has no thread stand behind the first byte of code that is about to be changed.
func (t *Tracee) stepOut(lo, hi uint64) error {
	for tid := range t.held {
		for {
			pc, err := t.pc(tid)
			if err != nil || pc <= lo || pc >= hi {
				if err != nil {
					return err
				}
				break
			}
			if err := t.step(tid); err != nil {
				return err
			}
		}
	}
	return nil
}

// pc is where a stopped thread stands.
func (t *Tracee) pc(tid int) (uint64, error) {
	if pc, ok := t.stands[tid]; ok {
		return pc, nil
	}
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &regs); err != nil {
		return 0, fmt.Errorf("registers of thread %d of process %d: %w", tid, t.PID, err)
	}
	if t.stands == nil {
		t.stands = map[int]uint64{}
	}
	t.stands[tid] = regs.Rip
	return regs.Rip, nil
}

// step lets a thread execute one instruction; a signal that comes instead waits.
func (t *Tracee) step(tid int) error {
	delete(t.stands, tid)
	if err := unix.PtraceSingleStep(tid); err != nil {
		return fmt.Errorf("step thread %d of process %d: %w", tid, t.PID, err)
	}
	ws, err := wait(tid)
	switch {
	case err != nil:
		return err
	case ws.Exited(), ws.Signaled():
		delete(t.held, tid)
		return ErrGone
	case ws.StopSignal() != syscall.SIGTRAP:
		t.held[tid] = append(t.held[tid], ws.StopSignal())
	}
	return nil
}

// Remove takes the hooks out of a process that is stopped. The code stays, for threads that are in it.
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
