package sim

import (
	"encoding/binary"

	"lime/internal/cpu"
	"lime/internal/waste"
	"lime/internal/x86"
)

// repeated is what a repeated string instruction is about to write: which of the pieces of its
// destination it will leave as they are.
type repeated struct {
	pc   uint64
	down bool
	lo   uint64
	same []bool // by piece from the one that holds lo on
}

// repeatPiece is the access as which a repeated instruction counts: it is cut where these end in
// memory. It is what a processor moves at once.
const repeatPiece = 64

const directionFlag = 1 << 10

// repeatAt is called before a repeated instruction.
func (m *wasteMeter) repeatAt(t *thread) {
	next := &m.stack(t).repeat
	*next = repeated{pc: t.ctx.RIP, down: t.ctx.RFLAGS&directionFlag != 0}
	in, ok := m.r.memory.decode(t.ctx.RIP)
	if !ok {
		return
	}
	if in.HasMem && in.Mem.VSIB {
		waste.Now(m.d, uint32(t.id), func() { m.lanes(t, in) })
		return
	}
	accesses := in.Accesses(nil)
	dst := len(accesses) - 1
	if dst < 0 || !accesses[dst].Write {
		return
	}
	g := &t.ctx.GPR
	size, down := uint64(accesses[dst].Bytes), next.down
	n := size * g[rcx]
	if g[rcx] == 0 || n/size != g[rcx] {
		return
	}
	to := lowest(g[rdi], n, size, down)
	old := m.r.memory.proc.Readable(to, n)
	if uint64(len(old)) < n {
		return
	}
	value, ok := m.written(t, accesses, to, n, size, down)
	if !ok {
		return
	}
	next.lo = to
	for at := to; at < to+n; {
		end := min(at/repeatPiece*repeatPiece+repeatPiece, to+n)
		same := true
		for a := at; a < end && same; a++ {
			same = value(a-to) == old[a-to]
		}
		next.same = append(next.same, same)
		at = end
	}
}

// written is what a repeated instruction will write, by offset from its lowest address.
func (m *wasteMeter) written(t *thread, accesses []x86.Access, to, n, size uint64, down bool) (func(uint64) byte, bool) {
	if len(accesses) == 1 { // stos
		v := t.ctx.GPR[rax]
		return func(i uint64) byte { return byte(v >> (8 * (i % size))) }, true
	}
	from := lowest(t.ctx.GPR[rsi], n, size, down)
	src := m.r.memory.proc.Readable(from, n)
	if uint64(len(src)) < n {
		return nil, false
	}
	if from+n <= to || to+n <= from || !down && to <= from || down && to >= from {
		return func(i uint64) byte { return src[i] }, true // what is read has not been written before
	}
	lo := min(from, to)
	all := append([]byte{}, m.r.memory.proc.Readable(lo, max(from, to)+n-lo)...)
	if uint64(len(all)) < max(from, to)+n-lo {
		return nil, false
	}
	for k := range n / size {
		i := k * size
		if down {
			i = n - size - i
		}
		copy(all[to-lo+i:][:size], append([]byte{}, all[from-lo+i:][:size]...))
	}
	return func(i uint64) byte { return all[to-lo+i] }, true
}

// lowest is the lowest address of a repeated access of n bytes.
func lowest(at, n, size uint64, down bool) uint64 {
	if down {
		return at + size - n
	}
	return at
}

// repeatDone takes the passage of a repeated instruction.
func (m *wasteMeter) repeatDone(s *wasteStack, b *wasteBlock, c waste.Context, words []uint64) {
	const before, after = 2, 3
	done := words[before] - words[after]
	down := s.repeat.pc == b.pc && s.repeat.down
	for k, acc := range b.shape.Repeat.Accesses(nil) {
		size := uint64(acc.Bytes)
		at := words[map[x86.Reg]int{x86.RSI: 0, x86.RDI: 1}[acc.Base]]
		lo := lowest(at, done*size, size, down)
		m.pieces(lo, done*size, func(at, n uint64) {
			if acc.Write {
				m.d.Store(c+waste.Context(k), at, int(n), s.repeat.unchanged(b.pc, at))
			} else {
				m.d.Load(c+waste.Context(k), at, int(n))
			}
		})
	}
	s.repeat = repeated{}
}

// unchanged reports whether the piece at an address stays as it is.
func (p *repeated) unchanged(pc, at uint64) bool {
	if p.pc != pc || at < p.lo {
		return false
	}
	i := at/repeatPiece - p.lo/repeatPiece
	return i < uint64(len(p.same)) && p.same[i]
}

// pieces cuts a range.
func (m *wasteMeter) pieces(lo, n uint64, use func(at, n uint64)) {
	for end := lo + n; lo < end; {
		next := min(lo/repeatPiece*repeatPiece+repeatPiece, end)
		use(lo, next-lo)
		lo = next
	}
}

// Where XSAVE keeps the lower and the upper halves of the vector registers, and says that there are
// upper ones (Intel SDM vol. 1, 13.4).
const (
	xsaveLow   = 160
	xsaveState = 512
	xsaveHigh  = 576
	highHalves = 1 << 2
)

// lanes tells of the elements of a gather or scatter: of all lanes, those included that its mask
// leaves out. They are no loads or stores that count: of a gather it is known that somebody has
// read there, of a scatter no more than that it may have written.
func (m *wasteMeter) lanes(t *thread, in *x86.Inst) {
	index := vector(t.ctx, int(in.Mem.Index))
	size := 4
	if in.Name[len(in.Name)-2] == 'q' { // vgatherqpd, vpscatterqd, ...
		size = 8
	}
	base := uint64(int64(in.Mem.Disp))
	if in.Mem.Base < 16 {
		base += t.ctx.GPR[in.Mem.Base]
	}
	for at := 0; at < len(index); at += size {
		i := int64(int32(binary.LittleEndian.Uint32(index[at:])))
		if size == 8 {
			i = int64(binary.LittleEndian.Uint64(index[at:]))
		}
		addr := base + uint64(i)*uint64(in.Mem.Scale)
		m.d.Read(addr, uint64(in.Mem.Bytes))
		if in.Mem.Write {
			m.d.Forget(addr, uint64(in.Mem.Bytes))
		}
	}
}

// vector is a register of 32 bytes. Of longer ones the rest is not looked at.
func vector(c *cpu.Context, n int) (v [32]byte) {
	copy(v[:16], c.XSave[xsaveLow+16*(n&15):])
	if c.XSave[xsaveState]&highHalves != 0 {
		copy(v[16:], c.XSave[xsaveHigh+16*(n&15):])
	}
	return v
}
