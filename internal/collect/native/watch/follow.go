package watch

// A thread is followed on paper: what its next instructions will leave in registers, flags and
// memory is computed for those by which compilers decide where to go. What others leave is not
// known.

import (
	"encoding/binary"
	"math/bits"

	"golang.org/x/sys/unix"

	"lime/internal/x86"
)

// value is a number that may not be known.
type value struct {
	v  uint64
	ok bool
}

func known(v uint64) value { return value{v, true} }

// low is its lowest bytes.
func (x value) low(size int) value {
	if size < 8 {
		x.v &= 1<<(8*size) - 1
	}
	return x
}

// signed is the number of so many bytes, extended by its sign.
func (x value) signed(size int) value {
	shift := 64 - 8*size
	x.v = uint64(int64(x.v<<shift) >> shift)
	return x
}

// way is how far a thread has been followed.
type way struct {
	*memory
	pc      uint64
	reg     [16]value
	flags   value  // those of arithmetic, as in RFLAGS
	down    value  // the direction flag
	stored  []cell // what was stored on the way, the newest last
	anyCell bool   // something was stored, nobody knows where
	fs, gs  uint64
	data    []block // memory that was read on the way
}

// cell is memory that was stored to on the way.
type cell struct {
	access
	value
}

func newWay(m *memory, r *unix.PtraceRegs) *way {
	x := &way{memory: m, pc: r.Rip, flags: known(r.Eflags), down: known(r.Eflags & flagD), fs: r.Fs_base, gs: r.Gs_base}
	for i := range x.reg {
		x.reg[i] = known(general(r, x86.Reg(i)))
	}
	return x
}

// Flags of RFLAGS (Intel SDM vol. 1, 3.4.3).
const (
	flagC = 1 << 0
	flagP = 1 << 2
	flagZ = 1 << 6
	flagS = 1 << 7
	flagO = 1 << 11
)

// holds tells whether a condition code holds (Intel SDM vol. 2, appendix B.1.4).
func (x *way) holds(code uint8) (yes, ok bool) {
	f := x.flags.v
	less := f&flagS != 0 != (f&flagO != 0)
	yes = [...]bool{f&flagO != 0, f&flagC != 0, f&flagZ != 0, f&(flagC|flagZ) != 0, f&flagS != 0, f&flagP != 0, less,
		less || f&flagZ != 0}[code>>1]
	return yes != (code&1 != 0), x.flags.ok
}

// address is where a memory operand lies; next is the address of the instruction behind.
func (x *way) address(m *x86.Mem, next uint64) value {
	a := known(uint64(int64(m.Disp)))
	switch m.Base {
	case x86.NoReg:
	case x86.RIP:
		a.v += next
	default:
		a.v, a.ok = a.v+x.reg[m.Base&15].v, x.reg[m.Base&15].ok
	}
	if m.Index != x86.NoReg {
		a.v, a.ok = a.v+x.reg[m.Index&15].v*uint64(m.Scale), a.ok && x.reg[m.Index&15].ok
	}
	if m.Addr32 {
		a.v = uint64(uint32(a.v))
	}
	switch m.Seg {
	case 0x64:
		a.v += x.fs
	case 0x65:
		a.v += x.gs
	}
	return a
}

// load is what stands in memory, as far as that is known.
func (x *way) load(at value, size int) (out value) {
	if !at.ok || x.anyCell {
		return value{}
	}
	for i := len(x.stored) - 1; i >= 0; i-- {
		c := &x.stored[i]
		if c.overlap(at.v, size) == 0 {
			continue
		}
		if c.addr != at.v || c.bytes < size {
			return value{}
		}
		return c.low(size)
	}
	out.v, out.ok = x.cached(at.v, size)
	return out
}

// store leaves a number in memory.
func (x *way) store(at value, size int, v value) {
	if !at.ok {
		x.anyCell = true
		return
	}
	x.stored = append(x.stored, cell{access{addr: at.v, bytes: size}, v.low(size)})
}

// put leaves a number in a register: four bytes clear the upper half, fewer leave the rest.
func (x *way) put(r x86.Reg, v value, size int) {
	v = v.low(size)
	if size < 4 {
		old := x.reg[r&15]
		v = value{old.v&^(1<<(8*size)-1) | v.v, v.ok && old.ok}
	}
	x.reg[r&15] = v
}

// result sets the flags that tell of a number.
func (x *way) result(v value, size int, more uint64) {
	v = v.low(size)
	f := more
	if v.v == 0 {
		f |= flagZ
	}
	if v.v>>(8*size-1)&1 != 0 {
		f |= flagS
	}
	if bits.OnesCount8(uint8(v.v))%2 == 0 {
		f |= flagP
	}
	x.flags = value{f, v.ok}
}

// sum adds, and sets the flags.
func (x *way) sum(a, b value, size int, carry uint64) value {
	a, b = a.low(size), b.low(size)
	out := value{a.v + b.v + carry, a.ok && b.ok}.low(size)
	var f uint64
	if top := 8*size - 1; (a.v&b.v|(a.v|b.v)&^out.v)>>top&1 != 0 {
		f |= flagC
	}
	if top := 8*size - 1; (a.v^out.v)&(b.v^out.v)>>top&1 != 0 {
		f |= flagO
	}
	x.result(out, size, f)
	return out
}

// difference subtracts, and sets the flags.
func (x *way) difference(a, b value, size int, borrow uint64) value {
	out := x.sum(a, value{^b.v, b.ok}, size, 1-borrow)
	x.flags.v ^= flagC
	return out
}

// logical sets the flags of a result of and, or, xor, test.
func (x *way) logical(v value, size int) value {
	x.result(v, size, 0)
	return v
}

// cached reads memory by blocks that are kept for the way.
func (x *way) cached(addr uint64, n int) (uint64, bool) {
	at := addr &^ (dataBlock - 1)
	if addr+uint64(n) > at+dataBlock {
		return x.read(addr, n)
	}
	for i := range x.data {
		if x.data[i].at == at {
			return x.data[i].number(addr, n)
		}
	}
	b := block{at: at}
	b.n = x.peek(at, b.bytes[:])
	x.data = append(x.data, b)
	return b.number(addr, n)
}

// dataBlock is how many bytes are read at once.
const dataBlock = 256

// block is memory as it was read.
type block struct {
	at    uint64
	n     int
	bytes [dataBlock]byte
}

func (b *block) number(addr uint64, n int) (uint64, bool) {
	from := int(addr - b.at)
	if from+n > b.n {
		return 0, false
	}
	var w [8]byte
	copy(w[:], b.bytes[from:from+n])
	return binary.LittleEndian.Uint64(w[:]), true
}
