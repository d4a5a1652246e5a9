package hook

// A program that lime has started, made to ignore SIGTRAP.

import (
	"encoding/binary"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// IgnoreTraps has a program that lime has started, and that stands at its first instruction, ignore
// SIGTRAP as long as it asks for nothing else: a trap that is under way when its tracer dies does
// no harm then. It must be the last thing that lime does with the program: an int3, or a single
// step, would take it back (a trap that is forced on a thread that ignores it makes the kernel
// forget that it does, force_sig_info in kernel/signal.c). So the system call ends at a stop of
// ptrace's own.
func (t *Tracee) IgnoreTraps() error {
	const ignore, setSize = 1, 8 // SIG_IGN; bytes of a set of signals
	saved, err := t.registers(t.PID)
	if err != nil {
		return err
	}
	regs := saved
	at := regs.Rip
	code := binary.LittleEndian.AppendUint64([]byte{0x0f, 0x05, 0, 0, 0, 0, 0, 0}, ignore) // syscall, then a struct sigaction
	code = append(code, make([]byte, 24)...)
	old := make([]byte, len(code))
	if err := t.read(at, old); err != nil {
		return err
	}
	if err := t.write(at, code); err != nil {
		return err
	}
	regs.Rax, regs.Orig_rax = unix.SYS_RT_SIGACTION, ^uint64(0)
	regs.Rdi, regs.Rsi, regs.Rdx, regs.R10 = uint64(unix.SIGTRAP), at+8, 0, setSize
	if err := t.setRegisters(t.PID, &regs); err != nil {
		return err
	}
	var came []syscall.Signal
	for range 2 { // its beginning, its end
		if err := t.nextSyscallStop(&came); err != nil {
			return err
		}
	}
	if regs, err = t.registers(t.PID); err != nil {
		return err
	}
	if err := t.write(at, old); err != nil {
		return err
	}
	if err := t.setRegisters(t.PID, &saved); err != nil {
		return err
	}
	for _, sig := range came {
		if err := unix.Tgkill(t.PID, t.PID, sig); err != nil {
			return fmt.Errorf("pass signal %d on to process %d: %w", sig, t.PID, err)
		}
	}
	_, err = result(unix.SYS_RT_SIGACTION, regs.Rax, t.PID)
	return err
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
