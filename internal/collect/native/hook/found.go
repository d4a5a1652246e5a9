package hook

// What a program that lime has started is to find.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Found is what a program that lime has started is to find, as long as it asks for nothing else, and
// would not: Go's runtime has changed it, or it belongs to lime's process alone.
type Found struct {
	Ignored   []syscall.Signal
	Closed    []int // descriptors
	Subreaper bool  // orphans among its descendants become its children
}

// calls are the system calls that bring it about; at ignore lies a struct sigaction.
func (f *Found) calls(ignore uint64) (out [][5]uint64) {
	const setSize = 8 // bytes of a set of signals
	for _, fd := range f.Closed {
		out = append(out, [5]uint64{unix.SYS_CLOSE, uint64(fd)})
	}
	if f.Subreaper {
		out = append(out, [5]uint64{unix.SYS_PRCTL, unix.PR_SET_CHILD_SUBREAPER, 1})
	}
	for _, sig := range f.Ignored {
		out = append(out, [5]uint64{unix.SYS_RT_SIGACTION, uint64(sig), ignore, 0, setSize})
	}
	return out
}

// Find has a program that lime has started, and that stands at its first instruction, find this. It
// must be the last thing that lime does with the program if SIGTRAP is ignored: an int3, or a single
// step, would take it back (a trap that is forced on a thread that ignores it makes the kernel forget
// that it does, force_sig_info in kernel/signal.c). So the system calls end at a stop of ptrace's own.
func Find(t *Tracee, f Found) error {
	const ignore, behind = 1, 8 // SIG_IGN; the system call's bytes
	saved, err := t.registers(t.PID)
	if err != nil {
		return err
	}
	at := saved.Rip
	calls := f.calls(at + behind)
	if len(calls) == 0 {
		return nil
	}
	code := binary.LittleEndian.AppendUint64([]byte{0x0f, 0x05, 0, 0, 0, 0, 0, 0}, ignore) // syscall, then a struct sigaction
	code = append(code, make([]byte, 24)...)
	old := make([]byte, len(code))
	if err := t.read(at, old); err != nil {
		return err
	}
	if err := t.write(at, code); err != nil {
		return err
	}
	var came []syscall.Signal
	for _, c := range calls {
		if err = callHere(t, saved, c, &came); err != nil {
			break
		}
	}
	if err := errors.Join(err, t.write(at, old), t.setRegisters(t.PID, &saved)); err != nil {
		return err
	}
	for _, sig := range came {
		if err := unix.Tgkill(t.PID, t.PID, sig); err != nil {
			return fmt.Errorf("pass signal %d on to process %d: %w", sig, t.PID, err)
		}
	}
	return nil
}

// callHere makes a system call at which the program stands.
func callHere(t *Tracee, regs unix.PtraceRegs, call [5]uint64, came *[]syscall.Signal) error {
	regs.Rax, regs.Orig_rax = call[0], ^uint64(0)
	regs.Rdi, regs.Rsi, regs.Rdx, regs.R10, regs.R8 = call[1], call[2], call[3], call[4], 0
	if err := t.setRegisters(t.PID, &regs); err != nil {
		return err
	}
	for range 2 { // its beginning, its end
		if err := t.nextSyscallStop(came); err != nil {
			return err
		}
	}
	after, err := t.registers(t.PID)
	if err != nil {
		return err
	}
	_, err = result(call[0], after.Rax, t.PID)
	return err
}

// Block sets the signals that the program's thread has blocked, bit n-1 for signal n.
func Block(t *Tracee, set uint64) error {
	const setSigmask, setSize = 0x420b, 8 // PTRACE_SETSIGMASK, linux/ptrace.h
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, setSigmask, uintptr(t.PID), setSize, uintptr(unsafe.Pointer(&set)), 0, 0)
	if errno != 0 {
		return fmt.Errorf("set the blocked signals of process %d: %w", t.PID, errno)
	}
	return nil
}

// nextSyscallStop lets the program run to the next beginning or end of a system call. Signals that
// come meanwhile are kept for later.
func (t *Tracee) nextSyscallStop(came *[]syscall.Signal) error {
	for {
		if err := unix.PtraceSyscall(t.PID, 0); err != nil {
			return fmt.Errorf("continue process %d to a system call: %w", t.PID, err)
		}
		ws, err := wait(t.PID)
		switch {
		case err != nil:
			return err
		case !ws.Stopped():
			return ErrGone
		case ws.StopSignal()&^0x80 == syscall.SIGTRAP:
			return nil
		}
		*came = append(*came, ws.StopSignal())
	}
}
