// Package calls says which memory of a program Linux's system calls read and write: what the system
// reads is no dead store, what it writes is new. Where it is not known what a call does, it is
// taken to read and write what its arguments may point to, so that nothing is claimed that may be
// false. It knows numbers and arguments only, and imports nothing.
package calls

// Span is a piece of memory that a call touches.
type Span struct {
	Addr, N uint64
	Reads   bool // the system reads it
	Writes  bool
}

// row is what a system call does to memory at one of its arguments.
type row struct {
	arg    int
	length int    // the argument that says how long it is; -1: n
	n      uint64 // bytes, or bytes of an element of the length
	reads  bool
	writes bool
	vector bool // it is a list of struct iovec
}

func in(arg, length int) row  { return row{arg: arg, length: length, n: 1, reads: true} }
func out(arg, length int) row { return row{arg: arg, length: length, n: 1, writes: true} }
func both(arg int, n uint64) row {
	return row{arg: arg, length: -1, n: n, reads: true, writes: true}
}

// unknownReach is how far behind an argument a call may touch memory of which the table says
// nothing: more than any structure of a fixed size.
const unknownReach = 4096

// Map is the number of mmap: all that lies at the address that it returns is new.
const Map = 9

// Table is what the system calls do, by number (syscall_64.tbl). Other arguments than those listed
// are no pointers.
type Table map[uint64][]row

// NewTable makes the table.
func NewTable() Table {
	iov := func(arg int, reads bool) row {
		return row{arg: arg, length: arg + 1, n: 16, reads: reads, writes: !reads, vector: true}
	}
	none := []row{}
	t := Table{
		0: {out(1, 2)}, 1: {in(1, 2)}, 17: {out(1, 2)}, 18: {in(1, 2)}, // read, write, pread64, pwrite64
		19: {iov(1, false)}, 20: {iov(1, true)}, 295: {iov(1, false)}, 296: {iov(1, true)}, // readv, writev, preadv, pwritev
		44: {in(1, 2), in(4, 5)}, 45: {out(1, 2), both(4, 128), both(5, 4)}, // sendto, recvfrom
		217: {out(1, 2)}, 318: {out(0, 1)}, 79: {out(0, 1)}, // getdents64, getrandom, getcwd
		202: {both(0, 4), both(3, 16), both(4, 4)}, // futex
		// clock_gettime, clock_getres, gettimeofday, time
		228: {both(1, 16)}, 229: {both(1, 16)}, 96: {both(0, 16), both(1, 8)}, 201: {both(0, 8)},
		35: {both(0, 16), both(1, 16)}, 230: {both(2, 16), both(3, 16)}, // nanosleep, clock_nanosleep
		13: {both(1, 32), both(2, 32)}, 14: {both(1, 8), both(2, 8)}, // rt_sigaction, rt_sigprocmask
		11: {out(0, 1)}, Map: none, 10: none, 12: none, // munmap, mmap, mprotect, brk
		28: {out(0, 1)}, 25: {out(0, 1)}, // madvise, mremap
	}
	for _, nr := range []uint64{3, 8, 15, 24, 39, 60, 102, 104, 107, 108, 110, 186, 231, 273, 218, 334, 203, 234, 62, 200} {
		t[nr] = none // close, lseek, rt_sigreturn, sched_yield, get*id, exit, exit_group, set_*, rseq, sched_setaffinity, tgkill, kill, tkill
	}
	return t
}

// Touched passes what a call touches. word reads a word of the program's memory.
func (t Table) Touched(nr uint64, args *[6]uint64, word func(addr uint64) (uint64, bool), use func(Span)) {
	rows, known := t[nr]
	if !known {
		for _, at := range args {
			use(Span{at, unknownReach, true, true})
		}
		return
	}
	for _, r := range rows {
		n := r.n
		if r.length >= 0 {
			n *= args[r.length]
		}
		if r.vector {
			list(args[r.arg], n, r, word, use)
			continue
		}
		use(Span{args[r.arg], n, r.reads, r.writes})
	}
}

// list follows a list of struct iovec.
func list(addr, bytes uint64, r row, word func(addr uint64) (uint64, bool), use func(Span)) {
	const size, most = 16, 1024 * 16 // UIO_MAXIOV of them
	bytes = min(bytes, most)
	use(Span{Addr: addr, N: bytes, Reads: true})
	for at := addr; at < addr+bytes; at += size {
		p, ok := word(at)
		n, ok2 := word(at + 8)
		if !ok || !ok2 {
			return
		}
		use(Span{p, n, r.reads, r.writes})
	}
}
