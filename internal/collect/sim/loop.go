package sim

import (
	"lime/internal/engine"
	"lime/internal/x86"
)

// loads lists the places that a block reads, given the registers at its head.
// ok is false if the block writes memory other than its stack, computes with vectors, or
// reads where cannot be told.
func (r *run) loads(t *thread, at *state, b *engine.Block) (out []watch, ok bool) {
	v := values{r: r, t: t, gpr: at.gpr, known: 0xffff}
	for pc := b.PC; pc < b.PC+uint64(b.Size); {
		in, ok := r.decode(pc)
		if !ok || !harmless(&in) {
			return nil, false
		}
		if in.HasMem && in.Mem.Read && in.Mem.Bytes > 0 {
			w, ok := v.watch(&in, pc)
			if !ok {
				return nil, false
			}
			out = append(out, w)
		}
		v.effect(&in, pc)
		pc += uint64(in.Len)
	}
	return out, true
}

// harmTable is what is known of blocks: whether one holds an instruction that is not harmless. A block may be
// cut in two, so its size belongs to the answer.
type harmTable []struct {
	size     uint32
	harmless bool
}

// harmlessPath reports whether all blocks on a path could be those of a loop that waits. Most loops that are looked at are work.
func (r *run) harmlessPath(path []state) bool {
	for i := range path {
		id, ok := r.blocks.startingAt(path[i].pc)
		if !ok || !r.harmlessBlock(id) {
			return false
		}
	}
	return true
}

func (r *run) harmlessBlock(id engine.BlockID) bool {
	x, b := &r.spins.harm, &r.eng.Blocks()[id]
	for len(*x) <= int(id) {
		*x = append(*x, harmTable{{}}...)
	}
	known := &(*x)[id]
	if known.size == b.Size {
		return known.harmless
	}
	known.size, known.harmless = b.Size, true
	for pc := b.PC; known.harmless && pc < b.PC+uint64(b.Size); {
		in, ok := r.decode(pc)
		known.harmless = ok && harmless(&in)
		pc += uint64(in.Len)
	}
	return known.harmless
}

// harmless reports whether an instruction changes nothing that another thread could see.
func harmless(in *x86.Inst) bool {
	if in.X87 || in.SSE || in.AVX || in.AVX512 {
		return false
	}
	if in.ImplicitWrite && in.Rep == 0 && isString(in) || in.Special == x86.SpecialRep {
		return false
	}
	if !in.HasMem || !in.Mem.Write {
		return true
	}
	return onStack(in) || tries(in)
}

func onStack(in *x86.Inst) bool {
	return in.Mem.Base == x86.RSP || in.Mem.Base == x86.RBP
}

// isString recognises the string instructions that write (Intel SDM vol. 2: MOVS A4, A5; STOS AA, AB; INS 6C, 6D).
func isString(in *x86.Inst) bool {
	switch in.Opcode {
	case 0xa4, 0xa5, 0xaa, 0xab, 0x6c, 0x6d:
		return in.Map == 0
	}
	return false
}

// tries recognises the attempts to take a lock: xchg (86, 87) and cmpxchg (0F B0, B1).
func tries(in *x86.Inst) bool {
	return in.Map == 0 && (in.Opcode == 0x86 || in.Opcode == 0x87) ||
		in.Map == 1 && (in.Opcode == 0xb0 || in.Opcode == 0xb1)
}

// values follows the general-purpose registers through a block, as far as they are known.
type values struct {
	r     *run
	t     *thread
	gpr   [16]uint64
	known uint16
}

func (v *values) reg(r x86.Reg) (uint64, bool) {
	if r == x86.NoReg {
		return 0, true
	}
	if r >= 16 {
		return 0, false
	}
	return v.gpr[r], v.known>>r&1 != 0
}

// address is the effective address of the memory operand.
func (v *values) address(in *x86.Inst, pc uint64) (uint64, bool) {
	m := &in.Mem
	if m.VSIB || m.Addr32 {
		return 0, false
	}
	base := pc + uint64(in.Len)
	if m.Base != x86.RIP {
		b, ok := v.reg(m.Base)
		if !ok {
			return 0, false
		}
		base = b
	}
	index, ok := v.reg(m.Index)
	if m.Seg == 0x64 {
		base += v.t.ctx.FSBase
	}
	return base + index*uint64(max(m.Scale, 1)) + uint64(int64(m.Disp)), ok
}

const stackReach = 64 << 10 // how far above the stack pointer a thread's own frames are taken to lie

func (v *values) watch(in *x86.Inst, pc uint64) (watch, bool) {
	addr, ok := v.address(in, pc)
	if !ok || in.Mem.Bytes > 8 {
		return watch{}, false
	}
	w := watch{addr: addr, n: int(in.Mem.Bytes)}
	w.value, ok = v.r.value(addr, w.n)
	w.stack = addr-v.gpr[rsp]+128 < stackReach
	return w, ok
}

// code reads n bytes of the program's code.
func (r *run) code(addr uint64, n int) []byte { return r.proc.Readable(addr, uint64(n)) }

// value reads n bytes (1 to 8) of the program's memory.
func (r *run) value(addr uint64, n int) (v uint64, ok bool) {
	b := r.proc.Readable(addr, uint64(n))
	if len(b) < n {
		return 0, false
	}
	for i := n - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v, true
}

// effect keeps track of moves and sums; whatever else an instruction writes is unknown after it.
func (v *values) effect(in *x86.Inst, pc uint64) {
	dst, value, ok := v.result(in, pc)
	v.known &^= uint16(in.Writes)
	if ok {
		v.gpr[dst] = value
		v.known |= 1 << dst
	}
}

// regField and rmField are the registers that ModRM names.
func regField(in *x86.Inst) x86.Reg { return x86.Reg(in.ModRM>>3&7 | in.Rex>>2&1<<3) }
func rmField(in *x86.Inst) x86.Reg  { return x86.Reg(in.ModRM&7 | in.Rex&1<<3) }

// result is what an instruction leaves in which register, for those that compilers compute
// addresses with.
func (v *values) result(in *x86.Inst, pc uint64) (dst x86.Reg, value uint64, ok bool) {
	if in.Enc != x86.Legacy || !in.HasModRM || in.OpSize16 || in.Map > 1 {
		return 0, 0, false
	}
	f := results()[uint16(in.Map)<<8|uint16(in.Opcode)]
	if f == nil {
		return 0, 0, false
	}
	dst, value, ok = f(v, in, pc)
	return dst, narrow(value, in.Rex&8 != 0), ok
}

type resultOf func(*values, *x86.Inst, uint64) (x86.Reg, uint64, bool)

// results is the table of these instructions, by map and opcode (Intel SDM vol. 2).
func results() map[uint16]resultOf {
	return map[uint16]resultOf{
		0x008d: func(v *values, in *x86.Inst, pc uint64) (x86.Reg, uint64, bool) { // lea
			a, ok := v.address(in, pc)
			return regField(in), a, ok
		},
		0x008b: func(v *values, in *x86.Inst, pc uint64) (x86.Reg, uint64, bool) { // mov r, r/m
			x, ok := v.operand(in, pc, width(in.Rex&8 != 0))
			return regField(in), x, ok
		},
		0x0089: func(v *values, in *x86.Inst, pc uint64) (x86.Reg, uint64, bool) { // mov r/m, r
			x, ok := v.reg(regField(in))
			return rmField(in), x, ok && !in.HasMem
		},
		0x0063: func(v *values, in *x86.Inst, pc uint64) (x86.Reg, uint64, bool) { // movsxd
			x, ok := v.operand(in, pc, 4)
			return regField(in), uint64(int64(int32(x))), ok
		},
		0x01b6: func(v *values, in *x86.Inst, pc uint64) (x86.Reg, uint64, bool) { // movzx r, byte in memory
			x, ok := v.operand(in, pc, 1)
			return regField(in), x & 0xff, ok && in.HasMem
		},
		0x01b7: func(v *values, in *x86.Inst, pc uint64) (x86.Reg, uint64, bool) { // movzx r, word
			x, ok := v.operand(in, pc, 2)
			return regField(in), x & 0xffff, ok
		},
		0x0003: func(v *values, in *x86.Inst, pc uint64) (x86.Reg, uint64, bool) { // add r, r/m
			x, ok := v.operand(in, pc, width(in.Rex&8 != 0))
			y, ok2 := v.reg(regField(in))
			return regField(in), x + y, ok && ok2
		},
		0x0001: func(v *values, in *x86.Inst, pc uint64) (x86.Reg, uint64, bool) { // add r/m, r
			x, ok := v.reg(regField(in))
			y, ok2 := v.reg(rmField(in))
			return rmField(in), x + y, ok && ok2 && !in.HasMem
		},
		0x0083: (*values).immediate, // add, sub, and r/m, imm8
		0x0081: (*values).immediate, // the same, imm32
		0x00c1: func(v *values, in *x86.Inst, pc uint64) (x86.Reg, uint64, bool) { // shl r/m, imm8
			x, ok := v.reg(rmField(in))
			return rmField(in), x << (uint(in.Imm) & 63), ok && !in.HasMem && in.ModRM>>3&7 == 4
		},
	}
}

// immediate computes the operations of opcodes 81 and 83.
func (v *values) immediate(in *x86.Inst, _ uint64) (x86.Reg, uint64, bool) {
	x, ok := v.reg(rmField(in))
	ok = ok && !in.HasMem
	switch in.ModRM >> 3 & 7 {
	case 0:
		return rmField(in), x + uint64(in.Imm), ok
	case 4:
		return rmField(in), x & uint64(in.Imm), ok
	case 5:
		return rmField(in), x - uint64(in.Imm), ok
	}
	return 0, 0, false
}

// operand is the r/m operand.
func (v *values) operand(in *x86.Inst, pc uint64, n int) (uint64, bool) {
	if !in.HasMem {
		return v.reg(rmField(in))
	}
	a, ok := v.address(in, pc)
	if !ok {
		return 0, false
	}
	return v.r.value(a, n)
}

func width(wide bool) int {
	if wide {
		return 8
	}
	return 4
}

func narrow(v uint64, wide bool) uint64 {
	if wide {
		return v
	}
	return v & 0xffffffff
}

// passPoint finds the instruction that every thread passes on its way to a spin loop, the releasing
// one too: the last atomic instruction or call in front of the loop in its function that the
// spinning thread came through in its last piece.
func (r *run) passPoint(s *spin, p *piece) uint64 {
	const reach = 1 << 14
	head := r.place(s)
	_, fn := r.images.function(head)
	if !r.images.own(head) {
		return 0
	}
	lo := max(fn, head-min(head, reach))
	found := uint64(0)
	edges, blocks := r.eng.Edges(), r.eng.Blocks()
	for _, e := range p.edges {
		if d := &edges[e.id]; d.From >= 0 && d.Kind != engine.EdgeReturn {
			if b := &blocks[d.From]; b.PC >= lo && b.PC < head && b.PC+uint64(b.Size) > found {
				found = max(found, r.meeting(b, head))
			}
		}
	}
	return found
}

// meeting is the last instruction of a block before head at which threads can meet, or 0.
func (r *run) meeting(b *engine.Block, head uint64) (found uint64) {
	for at := b.PC; at < min(b.PC+uint64(b.Size), head); {
		in, ok := r.decode(at)
		if !ok {
			break
		}
		if meets(&in) {
			found = at
		}
		at += uint64(in.Len)
	}
	return found
}

// meets reports whether threads can meet at an instruction: an atomic access (but not to the stack, which
// is a fence), or a call.
func meets(in *x86.Inst) bool {
	return in.Lock && in.HasMem && in.Mem.Base != x86.RSP || in.Branch == x86.BranchCall || in.Branch == x86.BranchCallInd
}

// place is the lowest address of the loop that is the program's own code, or of all of it.
func (r *run) place(s *spin) uint64 {
	own, all := ^uint64(0), ^uint64(0)
	for pc := range s.heads {
		all = min(all, pc)
		if r.images.own(pc) {
			own = min(own, pc)
		}
	}
	if own != ^uint64(0) {
		return own
	}
	return all
}
