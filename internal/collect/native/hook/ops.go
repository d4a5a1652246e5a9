package hook

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The single operations on a traced process. Between any two of them lime may be killed, and the
// process must go on as if it had never been looked at: the kernel lets go of it, and its threads
// run with the registers and the memory that they have at that moment.

// step is called before each operation.
func (t *Tracee) step() {
	if t.before != nil {
		t.before()
	}
}

func (t *Tracee) read(addr uint64, p []byte) error {
	if _, err := t.mem.ReadAt(p, int64(addr)); err != nil {
		return fmt.Errorf("read %d bytes at %#x of process %d: %w", len(p), addr, t.PID, err)
	}
	return nil
}

// write writes even where the program itself may not. What lies in one page is written as a whole
// or not at all.
func (t *Tracee) write(addr uint64, p []byte) error {
	t.step()
	if _, err := t.mem.WriteAt(p, int64(addr)); err != nil {
		return fmt.Errorf("write %d bytes at %#x of process %d: %w", len(p), addr, t.PID, err)
	}
	return nil
}

func (t *Tracee) registers(tid int) (r unix.PtraceRegs, err error) {
	if err := unix.PtraceGetRegs(tid, &r); err != nil {
		return r, fmt.Errorf("registers of thread %d of process %d: %w", tid, t.PID, err)
	}
	return r, nil
}

// setRegisters sets all of them at once.
func (t *Tracee) setRegisters(tid int, r *unix.PtraceRegs) error {
	t.step()
	delete(t.stands, tid)
	if err := unix.PtraceSetRegs(tid, r); err != nil {
		return fmt.Errorf("registers of thread %d of process %d: %w", tid, t.PID, err)
	}
	return nil
}

// resume lets a stopped thread run, with a signal.
func (t *Tracee) resume(tid, sig int) error {
	t.step()
	delete(t.stands, tid)
	if err := unix.PtraceCont(tid, sig); err != nil {
		return fmt.Errorf("continue thread %d of process %d: %w", tid, t.PID, err)
	}
	return nil
}

// untilSyscall lets a stopped thread run to the beginning or the end of a system call, or until it
// stops otherwise.
func (t *Tracee) untilSyscall(tid, sig int) (ws unix.WaitStatus, err error) {
	t.step()
	delete(t.stands, tid)
	if err := unix.PtraceSyscall(tid, sig); err != nil {
		return ws, fmt.Errorf("continue thread %d of process %d: %w", tid, t.PID, err)
	}
	return t.stopped(tid)
}

// interrupt has a thread stop; one that is stopped, before it does anything when it goes on.
func (t *Tracee) interrupt(tid int) error {
	t.step()
	if err := unix.PtraceInterrupt(tid); err != nil {
		return fmt.Errorf("stop thread %d of process %d: %w", tid, t.PID, err)
	}
	return nil
}

// blockSignals has all signals of a stopped thread wait.
func (t *Tracee) blockSignals(tid int) error {
	t.step()
	all := ^uint64(0)
	if err := ptraceInto(ptraceSetSigMask, tid, maskBytes, unsafe.Pointer(&all)); err != nil {
		return fmt.Errorf("signal mask of thread %d of process %d: %w", tid, t.PID, err)
	}
	return nil
}

// seize begins to trace a thread.
func (t *Tracee) seize(tid int) error {
	t.step()
	const tellSyscalls = unix.PTRACE_O_TRACESYSGOOD
	if _, _, e := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(tid), 0, tellSyscalls, 0, 0); e != 0 {
		return fmt.Errorf("trace thread %d of process %d: %w", tid, t.PID, e)
	}
	return nil
}

// Requests that the library does not have (linux/ptrace.h).
const (
	ptraceGetSigMask = 0x420a
	ptraceSetSigMask = 0x420b
	ptraceGetRseq    = 0x420f
)

// ptraceInto is a request about size bytes.
func ptraceInto(request, tid int, size uintptr, p unsafe.Pointer) error {
	if _, _, e := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), size, uintptr(p), 0, 0); e != 0 {
		return e
	}
	return nil
}

func (t *Tracee) detach(tid int) error {
	t.step()
	if err := unix.PtraceDetach(tid); err != nil {
		return fmt.Errorf("let go of thread %d of process %d: %w", tid, t.PID, err)
	}
	return nil
}

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

// stopped waits for a traced thread to stop.
func (t *Tracee) stopped(tid int) (unix.WaitStatus, error) {
	ws, err := wait(tid)
	if err == nil {
		err = t.gone(tid, ws)
	}
	return ws, err
}

// gone forgets a thread that has ended.
func (t *Tracee) gone(tid int, ws unix.WaitStatus) error {
	if ws.Exited() || ws.Signaled() {
		delete(t.held, tid)
		return &GoneError{TID: tid, Status: ws}
	}
	return nil
}

// GoneError is an ErrGone of a thread that has ended. Of a process's first thread, who started the
// process cannot learn its status any more: it was taken here.
type GoneError struct {
	TID    int
	Status unix.WaitStatus
}

func (e *GoneError) Error() string { return fmt.Sprintf("thread %d: %v", e.TID, ErrGone) }

// Unwrap makes it an ErrGone.
func (e *GoneError) Unwrap() error { return ErrGone }

// eventStop reports whether a thread stopped because it was told to, or with its whole process, and
// not for a signal of its own.
func eventStop(ws unix.WaitStatus) bool { return uint32(ws)>>16 == unix.PTRACE_EVENT_STOP }

// syscallStop reports whether a thread stopped at the beginning or the end of a system call.
func syscallStop(ws unix.WaitStatus) bool {
	const mark = 0x80 // PTRACE_O_TRACESYSGOOD
	return ws.Stopped() && ws.StopSignal() == unix.SIGTRAP|mark
}
