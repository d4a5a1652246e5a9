package hook

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"

	"lime/internal/x86"
)

// A process that has just begun must come to its own code before it can be hooked. It is led there
// without a breakpoint, which would end it if lime were killed: by a jump to code that makes a
// system call that does nothing, which lime sees, and then goes on.

// The room for code is divided: stubs, where threads arrive, and the code of jobs.
const (
	codeRoom    = 1 << 17
	jobsAt      = codeRoom - callRoom
	arrivalsAt  = jobsAt - arrivalRoom
	arrivalRoom = 256
	stubRoom    = arrivalsAt
)

// arrive lets the first thread of a seized process run until it comes to an address where an
// instruction begins.
func (t *Tracee) arrive(entry uint64) error {
	const most = 64
	body := make([]byte, most)
	if err := t.read(entry, body); err != nil {
		return err
	}
	n, err := movable(body)
	if err == nil && crosses(entry, jumpBytes) {
		err = errMoved
	}
	if err == nil {
		err = t.mapNear(entry)
	}
	if err != nil {
		return fmt.Errorf("stop process %d at %#x: %w", t.PID, entry, err)
	}
	var a asm
	a.MovImm(x86.RAX, unix.SYS_GETPID)
	a.Syscall()
	at := t.code + arrivalsAt
	arrived := at + uint64(len(a.Code))
	moved, err := relocate(body[:n], entry, arrived)
	if err != nil {
		return fmt.Errorf("stop process %d at %#x: %w", t.PID, entry, err)
	}
	if err := t.write(at, append(a.Code, moved.code...)); err != nil {
		return err
	}
	if err := t.write(entry, binary.LittleEndian.AppendUint32([]byte{jumpOpcode}, uint32(at-(entry+jumpBytes)))); err != nil {
		return err
	}
	regs, err := t.untilArrived(arrived)
	if err != nil {
		return err
	}
	if err := t.write(entry, body[:jumpBytes]); err != nil {
		return err
	}
	regs.Rip, regs.Orig_rax = entry, ^uint64(0) // what the call changed, RAX, RCX and R11, means nothing at a function's beginning
	if err := t.settle(t.PID, &regs); err != nil {
		return err
	}
	return t.stopAll() // it may have more threads now
}

// untilArrived lets the first thread run until the system call before an address has been made.
func (t *Tracee) untilArrived(arrived uint64) (regs unix.PtraceRegs, err error) {
	for sig, stops := 0, 0; stops < 2; {
		ws, err := t.untilSyscall(t.PID, sig)
		if err != nil {
			return regs, err
		}
		sig = 0
		switch {
		case syscallStop(ws):
			if regs, err = t.registers(t.PID); err != nil {
				return regs, err
			}
			if regs.Rip == arrived {
				stops++
			}
		case !eventStop(ws):
			sig = int(ws.StopSignal())
		}
	}
	return regs, nil
}

// mapNear makes the room for code in reach of an address.
func (t *Tracee) mapNear(addr uint64) error {
	if t.code != 0 {
		return nil
	}
	maps, err := Mappings(t.PID)
	if err != nil {
		return err
	}
	at, err := t.below(&image{path: "the program", lo: lowest(maps, addr)}, codeRoom)
	if err != nil {
		return err
	}
	return t.mapCodeAt(at, unix.MAP_FIXED_NOREPLACE)
}

// mapCodeAt makes the room for code at an address, or anywhere.
func (t *Tracee) mapCodeAt(at, flags uint64) (err error) {
	t.code, err = t.syscall(unix.SYS_MMAP, at, codeRoom, unix.PROT_READ|unix.PROT_EXEC,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|flags, ^uint64(0), 0)
	if err != nil || t.held == nil {
		return err
	}
	return t.moveIn(t.code + jobsAt)
}

// crosses reports whether bytes lie in more than one page: lime may be killed when it has written
// some of them.
func crosses(at uint64, n int) bool {
	const page = 4096
	return at/page != (at+uint64(n)-1)/page
}
