package hook

// What a program that lime has started is to find of signals.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Ignore has a program that lime has started, and that stands at its first instruction, ignore
// signals as long as it asks for nothing else. It must be the last thing that lime does with the
// program if SIGTRAP is one: an int3, or a single step, would take it back (a trap that is forced on
// a thread that ignores it makes the kernel forget that it does, force_sig_info in kernel/signal.c).
// So the system calls end at a stop of ptrace's own.
func Ignore(t *Tracee, signals []syscall.Signal) error {
	const ignore = 1 // SIG_IGN
	if len(signals) == 0 {
		return nil
	}
	saved, err := t.registers(t.PID)
	if err != nil {
		return err
	}
	at := saved.Rip
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
	for _, sig := range signals {
		if err = ignoreOne(t, saved, sig, &came); err != nil {
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

// ignoreOne makes the system call for a signal, at which the program stands.
func ignoreOne(t *Tracee, regs unix.PtraceRegs, sig syscall.Signal, came *[]syscall.Signal) error {
	const setSize = 8 // bytes of a set of signals
	regs.Rax, regs.Orig_rax = unix.SYS_RT_SIGACTION, ^uint64(0)
	regs.Rdi, regs.Rsi, regs.Rdx, regs.R10 = uint64(sig), regs.Rip+8, 0, setSize
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
	_, err = result(unix.SYS_RT_SIGACTION, after.Rax, t.PID)
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
