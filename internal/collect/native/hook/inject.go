package hook

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"lime/internal/x86"
)

// How a thread of a process that runs already is made to perform system calls. The code for that,
// with all registers that it must restore as constants in it, lies where no code of the process is:
// at first in what fills up the last page of a mapping of code, later in a mapping of lime's own.
// It takes no stack, and changes neither flags nor vector registers. So one operation alone, that
// which sets the thread's registers, begins it, and from then on the thread finds back to what it
// did by itself, whether or not lime is there to see that.

// callRoom is the room for the code of one job: the mask of signals that is restored, and the code.
const callRoom = 208

// errNoRoom is returned for a process without room for the first call.
var errNoRoom = errors.New("no unused bytes in its mappings of code")

// job is system calls that a thread makes one after the other: the registers of the first, and the
// code from there on. What it leaves in R8 and R9 is its result.
type job struct {
	first call
	asm
	calls int
}

// call is a system call: its number and its arguments.
type call struct {
	nr   uint64
	args []uint64
}

// newJob is one call; its result is in R8.
func newJob(nr uint64, args ...uint64) *job {
	j := &job{first: call{nr, args}}
	j.syscall()
	j.Mov(x86.R8, x86.RAX)
	return j
}

func (j *job) syscall() {
	j.Syscall()
	j.calls++
}

// mapFile maps the file that has been opened, shared, and closes it: R9 is where it is.
func (j *job) mapFile(size int) *job {
	j.MovImm(x86.RDI, 0)
	j.MovImm(x86.RSI, uint64(size))
	j.MovImm(x86.RDX, unix.PROT_READ|unix.PROT_WRITE)
	j.MovImm(x86.R10, unix.MAP_SHARED)
	j.MovImm(x86.R9, 0)
	j.MovImm(x86.RAX, unix.SYS_MMAP)
	j.syscall()
	j.Mov(x86.R9, x86.RAX)
	j.Mov(x86.RDI, x86.R8)
	j.MovImm(x86.RAX, unix.SYS_CLOSE)
	j.syscall()
	return j
}

// finish restores the signal mask, which stands at an address, and all registers.
func (j *job) finish(mask uint64, r *unix.PtraceRegs) {
	j.MovImm(x86.RDI, sigSetMask)
	j.MovImm64(x86.RSI, mask)
	j.MovImm(x86.RDX, 0)
	j.MovImm(x86.R10, maskBytes)
	j.MovImm(x86.RAX, unix.SYS_RT_SIGPROCMASK)
	j.syscall()
	j.resumeAs(r)
}

const (
	sigSetMask = 2 // SIG_SETMASK
	maskBytes  = 8
)

// syscall makes the program perform a system call, and restores it.
func (t *Tracee) syscall(nr uint64, args ...uint64) (uint64, error) {
	if t.held == nil {
		return t.borrow(nr, args...)
	}
	out, err := t.perform(newJob(nr, args...))
	if err != nil {
		return 0, err
	}
	return result(nr, out.R8, t.PID)
}

// perform has a thread of the program do a job, and returns the registers that this leaves.
func (t *Tracee) perform(j *job) (out unix.PtraceRegs, err error) {
	if t.room == 0 {
		if err := t.findRoom(); err != nil {
			return out, err
		}
	}
	tid, saved, err := t.worker()
	if err != nil {
		return out, err
	}
	var mask [maskBytes]byte
	if err := ptraceInto(ptraceGetSigMask, tid, maskBytes, unsafe.Pointer(&mask)); err != nil {
		return out, fmt.Errorf("signal mask of thread %d of process %d: %w", tid, t.PID, err)
	}
	j.finish(t.room, &saved)
	if maskBytes+len(j.Code) > callRoom {
		return out, fmt.Errorf("%d bytes for %d system calls", len(j.Code), j.calls)
	}
	if err := t.write(t.room, append(mask[:], j.Code...)); err != nil {
		return out, err
	}
	regs := saved
	j.first.load(&regs)
	regs.Rip = t.room + maskBytes
	if err := t.setRegisters(tid, &regs); err != nil { // from here on the thread does its job and goes on, with or without lime
		return out, err
	}
	borrowed := t.borrowed
	t.borrowed = false // should anything fail now, the room is the thread's
	if err := t.blockSignals(tid); err != nil {
		return out, err
	}
	if err := t.watchCalls(tid, j.calls); err != nil {
		return out, err
	}
	if out, err = t.registers(tid); err != nil {
		return out, err
	}
	if err = t.settle(tid, &saved); err == nil {
		t.borrowed = borrowed
	}
	return out, err
}

// load puts a call into the registers.
func (c *call) load(r *unix.PtraceRegs) {
	r.Rax, r.Orig_rax = c.nr, ^uint64(0)
	for i, p := range []*uint64{&r.Rdi, &r.Rsi, &r.Rdx, &r.R10, &r.R8, &r.R9} {
		if i < len(c.args) {
			*p = c.args[i]
		}
	}
}

// worker chooses the thread that is to make calls, and returns its registers: one that is in no
// system call if there is one, for such a call has to be made again if lime is killed; and none
// that is in a restartable sequence (rseq(2)), which the kernel would take to be left, or may make
// fewer calls than lime may.
func (t *Tracee) worker() (tid int, r unix.PtraceRegs, err error) {
	own := filters(os.Getpid(), os.Getpid())
	for _, id := range slices.Sorted(maps.Keys(t.held)) {
		regs, err := t.registers(id)
		if err != nil {
			return 0, r, err
		}
		if t.inSequence(id, regs.Rip) || filters(t.PID, id) > own {
			continue
		}
		if tid == 0 || !interrupted(&regs) {
			tid, r = id, regs
		}
		if !interrupted(&r) {
			break
		}
	}
	if tid == 0 {
		return 0, r, fmt.Errorf("process %d: %w", t.PID, errNoWorker)
	}
	return tid, r, nil
}

// errNoWorker is returned for a process that cannot be asked for a system call.
var errNoWorker = errors.New("its threads may not make the system calls that lime needs: they are confined by " +
	"seccomp(2), or in restartable sequences")

// filters is the number of filters of system calls that a thread is under.
func filters(pid, tid int) (n int) {
	const strict = 1 << 20 // hardly any call is left
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", pid, tid))
	if err != nil {
		return 0
	}
	if strings.Contains(string(b), "\nSeccomp:\t1\n") {
		return strict
	}
	_, rest, _ := strings.Cut(string(b), "\nSeccomp_filters:")
	_, _ = fmt.Sscan(rest, &n) // kernels before 5.9 do not tell
	return n
}

// inSequence reports whether a thread is in a restartable sequence.
func (t *Tracee) inSequence(tid int, pc uint64) bool {
	const sequenceAt = 8 // rseq_cs in struct rseq
	var conf struct {
		pointer                   uint64
		size, sig, flags, padding uint32
	}
	if err := ptraceInto(ptraceGetRseq, tid, unsafe.Sizeof(conf), unsafe.Pointer(&conf)); err != nil || conf.pointer == 0 {
		return false // an older kernel, or no sequences
	}
	at, err := t.word(conf.pointer + sequenceAt)
	if err != nil || at == 0 {
		return false
	}
	var b [32]byte // version and flags; start, length, where it is begun again
	if t.read(at, b[:]) != nil {
		return false
	}
	return pc-binary.LittleEndian.Uint64(b[8:]) < binary.LittleEndian.Uint64(b[16:])
}

// What the kernel leaves in RAX of a thread that it stops in a system call (include/linux/errno.h):
// the call is made again when the thread goes on, the last one by restart_syscall(2).
const (
	restartSys     = -512
	restartNoIntr  = -513
	restartNoHand  = -514
	restartBlocked = -516
)

// interrupted reports whether a thread stands in a system call that is to be made again.
func interrupted(r *unix.PtraceRegs) bool {
	if int64(r.Orig_rax) < 0 {
		return false
	}
	switch int64(r.Rax) {
	case restartSys, restartNoIntr, restartNoHand, restartBlocked:
		return true
	}
	return false
}

// resumeAs goes on with the registers as they were, and with the system call that was interrupted,
// which the kernel would have made again. The stack pointer and the registers that calls keep were
// not changed.
func (a *asm) resumeAs(r *unix.PtraceRegs) {
	rax, rip := r.Rax, r.Rip
	if interrupted(r) {
		rax, rip = r.Orig_rax, rip-2
		if int64(r.Rax) == restartBlocked {
			rax = unix.SYS_RESTART_SYSCALL
		}
	}
	for _, x := range []struct {
		to x86.Reg
		v  uint64
	}{{x86.RAX, rax}, {x86.RCX, r.Rcx}, {x86.RDX, r.Rdx}, {x86.RSI, r.Rsi}, {x86.RDI, r.Rdi}, {x86.R8, r.R8},
		{x86.R9, r.R9}, {x86.R10, r.R10}, {x86.R11, r.R11}} {
		a.MovImm64(x.to, x.v)
	}
	a.jumpTo(rip)
}

// watchCalls lets a thread run until it has made its calls. All signals that a program can handle
// are blocked meanwhile.
func (t *Tracee) watchCalls(tid, calls int) error {
	sig := 0
	for stops := 0; stops < 2*calls; {
		ws, err := t.untilSyscall(tid, sig)
		if err != nil {
			return err
		}
		sig = 0
		switch {
		case syscallStop(ws):
			stops++
		case !eventStop(ws): // SIGSTOP, which cannot be blocked
			sig = int(ws.StopSignal())
		}
	}
	return nil
}

// settle stops a thread that has made its calls in the state in which it was.
func (t *Tracee) settle(tid int, saved *unix.PtraceRegs) error {
	ws, err := t.stopAgain(tid, 0)
	if err != nil {
		return err
	}
	if err := t.setRegisters(tid, saved); err != nil || eventStop(ws) {
		return err
	}
	return t.passOn(tid, ws.StopSignal())
}

// passOn delivers a signal that a thread has stopped for, and stops it again: at the beginning of
// its handler, if it has one.
func (t *Tracee) passOn(tid int, sig syscall.Signal) error {
	for {
		ws, err := t.stopAgain(tid, sig)
		if err != nil || eventStop(ws) {
			return err
		}
		sig = ws.StopSignal()
	}
}

// stopAgain lets a thread go, and stops it before it does anything.
func (t *Tracee) stopAgain(tid int, sig syscall.Signal) (ws unix.WaitStatus, err error) {
	if err := t.interrupt(tid); err != nil {
		return ws, err
	}
	if err := t.resume(tid, int(sig)); err != nil {
		return ws, err
	}
	return t.stopped(tid)
}

// findRoom looks for bytes that fill up the last page of a mapping of code: they are mapped, they
// can be run, and nothing is there.
func (t *Tracee) findRoom() error {
	list, err := Mappings(t.PID)
	if err != nil {
		return err
	}
	v, err := t.auxv()
	if err != nil {
		return err
	}
	first := map[string]uint64{} // where a file's mappings begin
	for _, m := range list {
		if _, ok := first[m.Path]; !ok {
			first[m.Path] = m.Lo
		}
		base := first[m.Path]
		if m.Lo == v[atVDSO] {
			base = m.Lo
		} else if m.Path == "" {
			continue
		}
		if !m.Exec || m.Shared {
			continue
		}
		if at := t.padding(base, m); at != 0 && t.write(at, make([]byte, callRoom)) == nil {
			t.room, t.borrowed = at, true
			return nil
		}
	}
	return fmt.Errorf("process %d: %w", t.PID, errNoRoom)
}

// padding finds room behind the end of the code in the last page of a mapping; base is where the
// file begins. Room that is not empty may be in use: by a thread that an earlier tracer left there.
func (t *Tracee) padding(base uint64, m Mapping) uint64 {
	end := t.codeEnd(base, m)
	if end == 0 || end >= m.Hi {
		return 0
	}
	rest := make([]byte, m.Hi-end)
	if t.read(end, rest) != nil {
		return 0
	}
	const align = 16
	for at := len(rest) - callRoom; at >= 0; at -= align {
		if bytes.Count(rest[at:at+callRoom], []byte{0}) == callRoom {
			return end + uint64(at)
		}
	}
	return 0
}

// codeEnd is where, in a mapping, the segment ends that it was made for, as the ELF header in
// memory has it; 0: not known.
func (t *Tracee) codeEnd(base uint64, m Mapping) uint64 {
	const most, size = 64, 56
	var h [64]byte
	if t.read(base, h[:]) != nil || string(h[:4]) != elf.ELFMAG || h[elf.EI_CLASS] != byte(elf.ELFCLASS64) {
		return 0
	}
	le := binary.LittleEndian
	n := int(le.Uint16(h[56:]))
	table := make([]byte, size*min(n, most))
	if n > most || t.read(base+le.Uint64(h[32:]), table) != nil {
		return 0
	}
	bias, based := base, false
	for ; len(table) > 0; table = table[size:] {
		kind, flags := elf.ProgType(le.Uint32(table)), elf.ProgFlag(le.Uint32(table[4:]))
		off, vaddr, memsz := le.Uint64(table[8:]), le.Uint64(table[16:]), le.Uint64(table[40:])
		if kind != elf.PT_LOAD {
			continue
		}
		if !based { // the first one lies where the file begins
			bias, based = base-(vaddr-off), true
		}
		begin := vaddr + bias
		if e := begin + memsz; flags&elf.PF_X != 0 && e > m.Lo && e <= m.Hi && off+m.Lo-begin == m.Offset {
			return e
		}
	}
	return 0
}

// giveBack leaves the first room as it was found.
func (t *Tracee) giveBack() error {
	if !t.borrowed {
		return nil
	}
	at := t.room
	t.room, t.borrowed = 0, false
	return t.write(at, make([]byte, callRoom))
}

// moveIn has further calls made from a mapping of lime's own.
func (t *Tracee) moveIn(room uint64) error {
	err := t.giveBack()
	t.room = room
	return err
}

// result is what a system call returned.
func result(nr, rax uint64, pid int) (uint64, error) {
	if ret := int64(rax); ret < 0 && ret > -4096 {
		return 0, fmt.Errorf("system call %d in process %d: %w", nr, pid, unix.Errno(-ret))
	}
	return rax, nil
}
