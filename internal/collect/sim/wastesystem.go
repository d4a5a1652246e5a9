package sim

// The system reads and writes the program's memory: what it reads is no dead store, what it writes
// is new. Where it is not known what a call does, it is taken to read and write what its arguments
// may point to, so that nothing is claimed that may be false.

// span is a piece of memory.
type span struct{ addr, n uint64 }

// systemRow is what a system call does to memory at one of its arguments.
type systemRow struct {
	arg    int
	length int    // the argument that says how long it is; -1: n
	n      uint64 // bytes, or bytes of an element of the length
	reads  bool   // the system reads it
	writes bool
	vector bool // it is a list of struct iovec
}

func in(arg, length int) systemRow { return systemRow{arg: arg, length: length, n: 1, reads: true} }
func out(arg, length int) systemRow {
	return systemRow{arg: arg, length: length, n: 1, writes: true}
}
func fixed(arg int, n uint64) systemRow {
	return systemRow{arg: arg, length: -1, n: n, reads: true, writes: true}
}

// unknownReach is how far behind an argument a call may touch memory of which the table says
// nothing: more than any structure of a fixed size.
const unknownReach = 4096

// systemRows is the table, by number (syscall_64.tbl). Other arguments than those listed are no
// pointers.
func systemRows() map[uint64][]systemRow {
	iov := func(arg int, reads bool) systemRow {
		return systemRow{arg: arg, length: arg + 1, n: 16, reads: reads, writes: !reads, vector: true}
	}
	none := []systemRow{}
	rows := map[uint64][]systemRow{
		0: {out(1, 2)}, 1: {in(1, 2)}, 17: {out(1, 2)}, 18: {in(1, 2)}, // read, write, pread64, pwrite64
		19: {iov(1, false)}, 20: {iov(1, true)}, 295: {iov(1, false)}, 296: {iov(1, true)}, // readv, writev, preadv, pwritev
		44: {in(1, 2), in(4, 5)}, 45: {out(1, 2), fixed(4, 128), fixed(5, 4)}, // sendto, recvfrom
		217: {out(1, 2)}, 318: {out(0, 1)}, 79: {out(0, 1)}, // getdents64, getrandom, getcwd
		202: {fixed(0, 4), fixed(3, 16), fixed(4, 4)}, // futex
		// clock_gettime, clock_getres, gettimeofday, time
		228: {fixed(1, 16)}, 229: {fixed(1, 16)}, 96: {fixed(0, 16), fixed(1, 8)}, 201: {fixed(0, 8)},
		35: {fixed(0, 16), fixed(1, 16)}, 230: {fixed(2, 16), fixed(3, 16)}, // nanosleep, clock_nanosleep
		13: {fixed(1, 32), fixed(2, 32)}, 14: {fixed(1, 8), fixed(2, 8)}, // rt_sigaction, rt_sigprocmask
		11: {out(0, 1)}, 9: none, 10: none, 12: none, // munmap, mmap (see systemDone), mprotect, brk
		28: {out(0, 1)}, 25: {out(0, 1)}, // madvise, mremap
	}
	for _, nr := range []uint64{3, 8, 15, 24, 39, 60, 102, 104, 107, 108, 110, 186, 231, 273, 218, 334, 203, 234, 62, 200} {
		rows[nr] = none // close, lseek, rt_sigreturn, sched_yield, get*id, exit, exit_group, set_*, rseq, sched_setaffinity, tgkill, kill, tkill
	}
	return rows
}

var systemTable = systemRows()

// system tells what the call at which t stands reads, and notes what it may write until it is done.
func (m *wasteMeter) system(t *thread) {
	g, s := &t.ctx.GPR, m.stack(t)
	args := [...]uint64{g[rdi], g[rsi], g[rdx], g[10], g[r8], g[r9]}
	rows, known := systemTable[g[rax]]
	if !known {
		for arg := range args {
			rows = append(rows, fixed(arg, unknownReach))
		}
	}
	s.system = s.system[:0]
	for _, row := range rows {
		n := row.n
		if row.length >= 0 {
			n *= args[row.length]
		}
		if row.vector {
			m.vector(s, args[row.arg], n, row)
			continue
		}
		m.touched(s, span{args[row.arg], n}, row)
	}
	const mmap = 9
	if g[rax] == mmap {
		s.system = append(s.system, span{0, args[1]}) // at the address that it returns
	}
}

func (m *wasteMeter) touched(s *wasteStack, p span, row systemRow) {
	if row.reads {
		m.d.Read(p.addr, p.n)
	}
	if row.writes && p.addr != 0 {
		m.d.Forget(p.addr, p.n)
		s.system = append(s.system, p)
	}
}

// vector follows a list of struct iovec.
func (m *wasteMeter) vector(s *wasteStack, addr, bytes uint64, row systemRow) {
	const most = 1024 * 16
	m.d.Read(addr, min(bytes, most))
	for at := addr; at < addr+min(bytes, most); at += 16 {
		p, ok := m.r.word(at)
		n, ok2 := m.r.word(at + 8)
		if !ok || !ok2 {
			return
		}
		m.touched(s, span{p, n}, row)
	}
}

// systemDone forgets what the system may have written meanwhile.
func (m *wasteMeter) systemDone(s *wasteStack) {
	for _, p := range s.system {
		if p.addr == 0 {
			p.addr = m.r.threads[s.thread].ctx.GPR[rax]
		}
		m.d.Forget(p.addr, p.n)
	}
	s.system = s.system[:0]
}
