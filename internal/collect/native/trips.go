package native

import (
	"lime/internal/graph"
	"lime/internal/profile"
	"lime/internal/unwind"
	"lime/internal/x86"
)

// The test of a loop compares how far the loop has come with where it ends. A sample taken inside
// of the loop holds both, in the thread's registers or on its stack: their distance, averaged over
// the samples, tells how many iterations are left on average, hence how often the loop goes round,
// thread by thread. So samples tell a loop that runs longer in some threads from one that merely
// lies around or inside of the cause.

// loopTest is the comparison that decides over another iteration of a loop.
type loopTest struct {
	b    *block
	a, z operand
	size uint8 // bytes
}

// operand is one side of a comparison.
type operand struct {
	kind  operandKind
	reg   x86.Reg
	imm   int64
	scale uint8
	index x86.Reg
}

type operandKind uint8

const (
	operandNone operandKind = iota
	operandReg
	operandImm
	operandMem // [reg + index*scale + imm]
)

// loops finds the loops of a decoded function and gives every block the tests of those around it,
// innermost first.
func (c *code) loops(f *function, text []byte) {
	p := flow(f)
	if p == nil {
		return
	}
	c.spinLoops(f, p, text)
	tests := make([]*loopTest, len(p.Loops))
	for l := range p.Loops {
		if v := p.Loops[l].Test; v != graph.None {
			tests[l] = comparison(f.blocks[v], text[f.blocks[v].addr-f.blocks[0].addr:])
		}
	}
	for i, b := range f.blocks {
		for l := p.Inner[i]; l != graph.None && len(b.tests) < maxTests; l = p.Loops[l].Parent {
			if tests[l] != nil {
				b.tests = append(b.tests, tests[l])
			}
		}
	}
}

// flow is the control-flow graph of a decoded function, nil if it is too large. A jump through one word
// of the image leads to the one place that the loader has filled in, another function: only a table has
// several words. The linkage tables of the dynamic linker are thousands of such jumps.
func flow(f *function) *graph.Proc {
	if len(f.blocks) == 0 || len(f.blocks) > maxLoopBlocks {
		return nil
	}
	index := map[uint64]int32{}
	for i, b := range f.blocks {
		index[b.addr] = int32(i)
	}
	succ, ends := make([][]int32, len(f.blocks)), make([]graph.ProcBlock, len(f.blocks))
	for i, b := range f.blocks {
		ends[i] = graph.ProcBlock{Cond: b.kind == profile.EndCond, Indirect: b.kind == profile.EndJumpInd && b.slot == 0,
			Fails: b.kind == profile.EndOther}
		if to, ok := index[b.target]; ok && (b.kind == profile.EndCond || b.kind == profile.EndJump) {
			succ[i] = append(succ[i], to)
		}
		if to, ok := index[b.end]; ok && b.falls() {
			succ[i] = append(succ[i], to)
		}
	}
	return graph.NewProc(succ, ends)
}

const (
	maxLoopBlocks = 20000
	maxTests      = 4 // loops of a frame that are looked at
)

// falls reports whether control can go on behind the block.
func (b *block) falls() bool {
	switch b.kind {
	case profile.EndJump, profile.EndRet, profile.EndJumpInd, profile.EndOther:
		return false
	}
	return true
}

// comparison reads what a block's branch depends on: the last instruction before it that sets
// flags.
func comparison(b *block, text []byte) *loopTest {
	var in, last x86.Inst
	var now, then loads
	for pc := b.addr; pc < b.last; pc += uint64(in.Len) {
		at := pc - b.addr
		if at >= uint64(len(text)) || x86.Decode(text[at:], &in) != nil {
			return nil
		}
		if in.FlagsWrite&x86.ZF != 0 {
			last, then = in, now
		}
		now.follow(&in)
	}
	t := &loopTest{b: b}
	if !t.read(&last) {
		return nil
	}
	t.a, t.z = then.origin(t.a), then.origin(t.z)
	return t
}

// loads is where the registers were loaded from in this block. A comparison that follows compares
// what lies there: the register itself may hold anything elsewhere in the loop, and nothing that is
// known in a caller.
type loads [16]operand

func (l *loads) follow(in *x86.Inst) {
	for r := range l {
		if in.Writes.Has(x86.Reg(r)) {
			l[r] = operand{}
		}
	}
	if in.Opcode == 0x8b && in.Map == 0 && in.Enc == x86.Legacy && in.HasMem && !in.OpSize16 { // mov r, m
		l[in.RegField()] = rm(in)
	}
}

func (l *loads) origin(o operand) operand {
	if o.kind == operandReg && l[o.reg&15].kind == operandMem {
		return l[o.reg&15]
	}
	return o
}

// rexW is the bit of a REX prefix for operands of 64 bits.
const rexW = 8

// read takes the operands of cmp, and of sub, add, dec and inc, whose result is compared with 0
// (Intel SDM vol. 2, opcode map).
func (t *loopTest) read(in *x86.Inst) bool {
	if in.Len == 0 || in.Map != 0 || in.Enc != x86.Legacy || in.Lock {
		return false
	}
	digit := in.Digit()
	reg := in.RegField()
	t.size = 4
	switch {
	case in.Rex&rexW != 0:
		t.size = 8
	case in.OpSize16:
		return false
	}
	switch {
	case in.Opcode == 0x39: // cmp r/m, r
		t.a, t.z = rm(in), operand{kind: operandReg, reg: reg}
	case in.Opcode == 0x3b: // cmp r, r/m
		t.a, t.z = operand{kind: operandReg, reg: reg}, rm(in)
	case in.Opcode == 0x3d: // cmp eax, imm
		t.a, t.z = operand{kind: operandReg, reg: x86.RAX}, operand{kind: operandImm, imm: in.Imm}
	case (in.Opcode == 0x81 || in.Opcode == 0x83) && digit == 7: // cmp r/m, imm
		t.a, t.z = rm(in), operand{kind: operandImm, imm: in.Imm}
	case (in.Opcode == 0x81 || in.Opcode == 0x83) && (digit == 5 || digit == 0), // sub, add
		in.Opcode == 0xff && digit <= 1: // inc, dec
		t.a, t.z = rm(in), operand{kind: operandImm}
	default:
		return false
	}
	return t.a.kind != operandNone && t.z.kind != operandNone
}

// rm is the operand that ModRM names.
func rm(in *x86.Inst) operand {
	if !in.HasMem {
		return operand{kind: operandReg, reg: in.RMField()}
	}
	m := &in.Mem
	if m.Base > x86.R15 || m.Seg != 0 || m.Addr32 || m.VSIB { // static data are not in the sample
		return operand{}
	}
	return operand{kind: operandMem, reg: m.Base, index: m.Index, scale: m.Scale, imm: int64(m.Disp)}
}

// dwarfReg orders general-purpose registers by DWARF number.
func dwarfReg(r x86.Reg) int {
	return [...]int{0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15}[r&15]
}

// kept reports whether a register of a caller is known: calls preserve it (System V ABI AMD64,
// 3.2.1).
func kept(r x86.Reg) bool {
	return r == x86.RBX || r == x86.RBP || r == x86.RSP || r >= x86.R12 && r <= x86.R15
}

// value reads an operand; leaf tells that all registers are known.
func (o *operand) value(regs *unwind.Regs, mem unwind.Memory, leaf bool) (uint64, bool) {
	if o.kind == operandImm {
		return uint64(o.imm), true
	}
	if !leaf && !kept(o.reg) {
		return 0, false
	}
	v := regs[dwarfReg(o.reg)]
	if o.kind == operandReg {
		return v, true
	}
	v += uint64(o.imm)
	if o.index != x86.NoReg {
		if !leaf && !kept(o.index) {
			return 0, false
		}
		v += regs[dwarfReg(o.index)] * uint64(o.scale)
	}
	return mem(v)
}

// left is the distance between the two sides.
func (t *loopTest) left(regs *unwind.Regs, mem unwind.Memory, leaf bool) (uint64, bool) {
	a, ok1 := t.a.value(regs, mem, leaf)
	z, ok2 := t.z.value(regs, mem, leaf)
	if !ok1 || !ok2 {
		return 0, false
	}
	d := int64(a - z)
	if t.size == 4 {
		d = int64(int32(uint32(a) - uint32(z)))
	}
	if d < 0 {
		d = -d
	}
	return uint64(d), d >= 0 && d < mostLeft
}

// mostLeft: two values further apart have nothing to do with each other.
const mostLeft = 1 << 40

// trip is what a sample tells of a loop.
type trip struct {
	test *block
	left uint64
}
