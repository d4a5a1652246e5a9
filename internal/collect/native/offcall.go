// The system call in which a thread leaves its core, from its registers and the code before them,
// and what kind of waiting that is.

package native

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"lime/internal/collect/known"
	"lime/internal/origin"
	"lime/internal/perf"
	"lime/internal/profile"
	"lime/internal/unwind"
	"lime/internal/x86"
)

// leaving finds where a thread was when it left its core.
func (s *sampler) leaving(rec *perf.Record) *leaving {
	s.pcs, s.sps = s.pcs[:0], s.sps[:0]
	if rec.HasRegs {
		_, _, _ = s.walk(unwind.Regs(rec.DWARF()), rec.Regs[perf.RegSP], rec.Stack) // as far as it goes
	}
	if len(s.pcs) == 0 {
		return &leaving{kind: kindOffCPU, path: profile.None}
	}
	w, _ := s.path(1)
	l := &leaving{call: s.ownCall(), path: w.path}
	number, known := s.code.systemCall(s.pcs[0])
	if !known {
		number = s.code.namedCall(s.pcs)
	}
	loop := s.ownLoop()
	if loop != s.code.look(l.call).b { // a loop of the language's library, before a wait that is seen
		loop = nil
	}
	here := number == noCall && loop != nil && (loop.spins || s.code.look(s.pcs[0]).fn.unseen()) // what it calls only waits, too
	if l.yields = loop != nil && (number == unix.SYS_SCHED_YIELD || here); l.yields {
		l.call, l.takes = loop.waitsFrom(), loop.takes
		l.kind = kindFault // should it leave the core of its own accord: it waits for a page
		return l
	}
	const regsSI, regsDI = 4, 5
	s.forOthers(l, waitingKind(number, [2]uint64{rec.Regs[regsDI], rec.Regs[regsSI]}))
	return l
}

// forOthers says what a thread waits for: in a function that is known, for what that function
// waits, whichever system call it makes for it.
func (s *sampler) forOthers(l *leaving, kind string) {
	l.kind = kind
	l.idles = kind == kindFutex && known.GoRuntimes(s.code.look(s.pcs[0]).fn.name) // goroutines never wait by it
	if kind == kindFault {
		return
	}
	switch s.waitsFor() {
	case known.ForLock:
		l.kind = kindLock
	case known.ForOthers:
		l.kind, l.waits = kindWork, s.inRuntime()
	case known.Nothing:
		l.waits = kind == kindFutex && s.inRuntime()
	}
}

// waitsFor is what the functions are for that the program's own code is in, as far as they are
// known: those between it and the kernel, and the one that it calls.
func (s *sampler) waitsFor() known.WaitsFor {
	for i, pc := range s.pcs {
		pc -= uint64(min(i, 1))
		if s.stubs != nil && s.stubs(pc) {
			continue
		}
		p := s.code.look(pc)
		if s.images.own(pc) {
			entry := uint64(0)
			if i > 0 {
				entry = s.code.goesTo(p.b)
			}
			if entry == 0 {
				return known.Nothing
			}
			return s.code.look(entry).fn.waits()
		}
		if what := p.fn.waits(); what != known.Nothing {
			return what
		}
		if known.LibraryLock(p.fn.name) {
			return known.ForLock
		}
	}
	return known.Nothing
}

// inRuntime reports whether the innermost open calls are of a runtime that hands out work, as
// OpenMP's: there, who sleeps waits for other threads.
func (s *sampler) inRuntime() bool {
	for i, pc := range s.pcs {
		pc -= uint64(min(i, 1))
		if s.images.own(pc) {
			return false
		}
		if im := s.images.at(pc); im != nil && handsOut(origin.OfFile(im.Path)) {
			return true
		}
		if _, sym, ok := s.images.symbol(pc); ok && handsOut(origin.OfName(sym.Name)) {
			return true
		}
	}
	return false
}

func handsOut(o origin.Owner) bool {
	return slices.Contains([]origin.Owner{origin.GNUOpenMP, origin.LLVMOpenMP, origin.TBB, origin.Rayon}, o)
}

// ownCall is the innermost of the program's own code among the open calls, but for what only tells the
// time; the innermost code of all if none is.
func (s *sampler) ownCall() uint64 {
	at := -1
	for i, pc := range s.pcs {
		if s.stubs != nil && s.stubs(pc) || !s.images.own(pc-uint64(min(i, 1))) {
			continue
		}
		if at < 0 {
			at = i
		}
		if !s.goesOn(pc - uint64(min(i, 1))) {
			at = i
			break
		}
	}
	if at <= 0 {
		return s.pcs[0]
	}
	return s.code.callBefore(s.pcs[at])
}

// Numbers that are no system call's.
const (
	noCall      = -1 // the thread was in its own code: a page was missing
	unknownCall = -2
)

// waitingKinds are the kinds of waiting in system calls.
func waitingKinds() map[string][]int {
	return map[string][]int{
		kindFault: {noCall},
		kindSleep: {unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_PAUSE, unix.SYS_RT_SIGSUSPEND, unix.SYS_RT_SIGTIMEDWAIT},
		kindMap: {unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MPROTECT, unix.SYS_PKEY_MPROTECT, unix.SYS_MREMAP,
			unix.SYS_MADVISE, unix.SYS_BRK},
		kindFutex: {unix.SYS_FUTEX, unix.SYS_FUTEX_WAITV, unix.SYS_FUTEX_WAIT, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP},
		kindIO: {unix.SYS_READ, unix.SYS_WRITE, unix.SYS_PREAD64, unix.SYS_PWRITE64, unix.SYS_READV, unix.SYS_WRITEV,
			unix.SYS_PREADV, unix.SYS_PWRITEV,
			unix.SYS_PREADV2, unix.SYS_PWRITEV2, unix.SYS_POLL, unix.SYS_PPOLL, unix.SYS_SELECT, unix.SYS_PSELECT6,
			unix.SYS_EPOLL_WAIT, unix.SYS_EPOLL_PWAIT,
			unix.SYS_EPOLL_PWAIT2, unix.SYS_SENDFILE, unix.SYS_CONNECT, unix.SYS_ACCEPT, unix.SYS_ACCEPT4,
			unix.SYS_SENDTO, unix.SYS_RECVFROM, unix.SYS_SENDMSG,
			unix.SYS_RECVMSG, unix.SYS_SENDMMSG, unix.SYS_RECVMMSG, unix.SYS_FSYNC, unix.SYS_FDATASYNC,
			unix.SYS_MSYNC, unix.SYS_SYNC_FILE_RANGE, unix.SYS_SYNCFS,
			unix.SYS_SYNC, unix.SYS_OPEN, unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_CLOSE, unix.SYS_STAT,
			unix.SYS_LSTAT, unix.SYS_NEWFSTATAT, unix.SYS_STATX,
			unix.SYS_GETDENTS, unix.SYS_GETDENTS64, unix.SYS_RENAME, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2,
			unix.SYS_MKDIR, unix.SYS_MKDIRAT, unix.SYS_RMDIR,
			unix.SYS_UNLINK, unix.SYS_UNLINKAT, unix.SYS_TRUNCATE, unix.SYS_FTRUNCATE, unix.SYS_FALLOCATE,
			unix.SYS_FLOCK, unix.SYS_FCNTL, unix.SYS_SPLICE,
			unix.SYS_TEE, unix.SYS_VMSPLICE, unix.SYS_COPY_FILE_RANGE, unix.SYS_IOCTL, unix.SYS_IO_GETEVENTS,
			unix.SYS_IO_SUBMIT, unix.SYS_IO_PGETEVENTS,
			unix.SYS_IO_URING_ENTER, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MQ_TIMEDSEND, unix.SYS_MQ_TIMEDRECEIVE},
	}
}

// waitingKind is what a thread waits for in a system call, by its number and first arguments. One
// that asks for no file's readiness only sleeps.
func waitingKind(number int, args [2]uint64) string {
	nothing := map[int]uint64{unix.SYS_SELECT: args[0], unix.SYS_PSELECT6: args[0], unix.SYS_POLL: args[1], unix.SYS_PPOLL: args[1]}
	if n, ok := nothing[number]; ok && n == 0 {
		return kindSleep
	}
	for kind, numbers := range waitingKinds() {
		for _, n := range numbers {
			if n == number {
				return kind
			}
		}
	}
	return kindOffCPU
}

// systemCall is the number of the system call that a thread is in which goes on at pc: what is
// written to the register for it in front of the instruction. It is not known where that is no
// constant.
func (c *code) systemCall(pc uint64) (number int, known bool) {
	b := c.look(pc - 1).b
	if b.kind != profile.EndSyscall || b.end != pc {
		return noCall, true
	}
	im, lo, _, _ := c.bounds(pc - 1)
	if im == nil || im.Bin == nil || lo >= b.last {
		return unknownCall, false
	}
	if n, ok := c.numbers[pc]; ok {
		return n, n != unknownCall
	}
	number = numberBefore(im.Bin.ReadAddr(lo-im.Bias, int(b.last-lo)))
	c.numbers[pc] = number
	return number, number != unknownCall
}

// lookBack is how many instructions in front of a system call may write its number.
const lookBack = 64

// numberBefore follows what is in eax at the end of code back to a constant: through copies between
// registers, until something else writes it.
func numberBefore(text []byte) int {
	var list []x86.Inst
	var in x86.Inst
	for at := 0; at < len(text); {
		if x86.Decode(text[at:], &in) != nil {
			at++
			continue
		}
		list = append(list, in)
		at += int(in.Len)
	}
	reg := x86.RAX
	for i := len(list) - 1; i >= max(0, len(list)-lookBack); i-- {
		if in := &list[i]; in.Writes.Has(reg) {
			n, from := source(in)
			if from == x86.NoReg {
				return n
			}
			reg = from
		}
	}
	return unknownCall
}

// source is what an instruction writes to its register: a constant, or what another register holds.
// Where the C library reads a word of the thread's that says whether there are others (fs:0x18),
// the branch behind it makes sure that it is nil.
func source(in *x86.Inst) (n int, from x86.Reg) {
	reg, rm := in.RegField(), in.RMField()
	if in.Map != 0 || in.Enc != x86.Legacy {
		return unknownCall, x86.NoReg
	}
	direct := in.HasModRM && !in.HasMem
	switch op := in.Opcode; {
	case op >= 0xb8 && op <= 0xbf, op == 0xc7 && direct:
		return int(int32(in.Imm)), x86.NoReg
	case (op == 0x31 || op == 0x33) && direct && reg == rm:
		return 0, x86.NoReg
	case op == 0x89 && direct:
		return 0, reg
	case op == 0x8b && direct:
		return 0, rm
	case op == 0x8b && in.Mem.Seg == 0x64 && in.Mem.Disp == 0x18 && in.Mem.Base == x86.NoReg:
		return 0, x86.NoReg
	}
	return unknownCall, x86.NoReg
}

// namedCall is the system call that a function of the C library is named after, among the innermost
// ones.
func (c *code) namedCall(pcs []uint64) int {
	names := map[string]int{"nanosleep": unix.SYS_NANOSLEEP, "clock_nanosleep": unix.SYS_CLOCK_NANOSLEEP,
		"usleep": unix.SYS_NANOSLEEP, "sleep": unix.SYS_NANOSLEEP,
		"read": unix.SYS_READ, "write": unix.SYS_WRITE, "pread": unix.SYS_PREAD64, "pwrite": unix.SYS_PWRITE64,
		"pread64": unix.SYS_PREAD64, "pwrite64": unix.SYS_PWRITE64,
		"fsync": unix.SYS_FSYNC, "fdatasync": unix.SYS_FDATASYNC, "recv": unix.SYS_RECVFROM,
		"recvfrom": unix.SYS_RECVFROM, "recvmsg": unix.SYS_RECVMSG,
		"send": unix.SYS_SENDTO, "sendto": unix.SYS_SENDTO, "sendmsg": unix.SYS_SENDMSG, "accept": unix.SYS_ACCEPT, "connect": unix.SYS_CONNECT,
		"epoll_wait": unix.SYS_EPOLL_WAIT, "openat": unix.SYS_OPENAT, "open": unix.SYS_OPEN, "open64": unix.SYS_OPEN,
		"futex_wait": unix.SYS_FUTEX}
	const most = 4
	for i, pc := range pcs[:min(len(pcs), most)] {
		_, s, ok := c.images.symbol(pc - uint64(min(i, 1)))
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimLeft(s.Name, "_"), "GI_"), "@")
		if n, found := names[strings.TrimLeft(name, "_")]; ok && found {
			return n
		}
	}
	return unknownCall
}
