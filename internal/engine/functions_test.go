package engine

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"lime/internal/x86"
)

// Random programs of functions, out of random encodings: what the decoder takes is tried on the
// processor, and what that takes too is put between branches, loops, calls and recursion that are
// sure to end.

// The places of such a program besides code and data: what keeps it on its way, which none of its
// instructions can reach but those that are meant to.
const (
	progControl = seqData + 0x100000 // counters and targets of indirect jumps
	progStack   = seqData + 0x200000
	progSlots   = pageSize / 8
	longest     = 4000 // instructions that a program executes, or a small multiple of that
)

// program is one that is being made.
type program struct {
	sequence
	valid     func(code []byte) bool // by the processor
	evex      bool
	control   [progSlots]uint64 // what its slots hold at the start
	slots     int
	functions []function
}

// function is one that stands; others may call it.
type function struct {
	at, cost int
	pops     bool // an argument
}

// randomProgram makes a program that begins at seqCode, and ends at the end of its code.
func randomProgram(r *rand.Rand, evex bool, valid func([]byte) bool) *program {
	p := &program{sequence: sequence{r: r}, valid: valid, evex: evex}
	p.add(0xe9, 0, 0, 0, 0)
	for range r.IntN(4) {
		p.function()
	}
	p.patch(1)
	p.body(3, longest)
	return p
}

// here is the address of the next instruction.
func (p *program) here() uint32 { return uint32(seqCode + len(p.code)) }

// patch has the 32-bit displacement at an offset lead to the next instruction.
func (p *program) patch(at int) {
	binary.LittleEndian.PutUint32(p.code[at:], uint32(len(p.code)-at-4))
}

// word adds a 32-bit number and returns its offset.
func (p *program) word(v uint32) (at int) {
	at = len(p.code)
	p.code = binary.LittleEndian.AppendUint32(p.code, v)
	return at
}

// slot takes a slot of the control page with a value, and returns its address and number.
func (p *program) slot(v uint64) (addr uint32, k int) {
	k = p.slots % progSlots
	p.slots++
	p.control[k] = v
	return uint32(progControl + 8*k), k
}

// function makes a function; it calls those before, or itself for some levels.
func (p *program) function() {
	f := function{at: len(p.code), pops: p.r.IntN(3) == 0}
	levels, skip := 0, 0
	if p.r.IntN(3) == 0 {
		levels = 1 + p.r.IntN(5)
	}
	cost := p.body(2, longest/8/(levels+1))
	if levels > 0 {
		at, _ := p.slot(uint64(levels))
		p.add(0xff, 0x0c, 0x25) // dec dword [levels]
		p.word(at)
		p.add(0x0f, 0x88) // js: enough
		skip = p.word(0)
		if f.pops {
			p.add(0x50)
		}
		p.add(0xe8)
		p.word(uint32(f.at - len(p.code) - 4))
		p.patch(skip)
	}
	if f.pops {
		p.add(0xc2, 8, 0)
	} else {
		p.add(0xc3)
	}
	f.cost = (cost + 6) * (levels + 1)
	p.functions = append(p.functions, f)
}

// body adds random pieces that execute no more than so many instructions, and returns how many at most.
func (p *program) body(depth, most int) (cost int) {
	for range 2 + p.r.IntN(12) {
		if cost > most/2 || len(p.code) > seqSize/2 {
			break
		}
		switch k := p.r.IntN(16); {
		case k == 0 && depth > 0:
			cost += p.loop(depth-1, (most-cost)/2)
		case k <= 2 && depth > 0:
			cost += p.branch(depth-1, (most-cost)/2)
		case k == 3 && depth > 0:
			r := byte(p.r.IntN(4)) // push, pieces, pop
			p.add(0x50 | r)
			cost += 2 + p.body(depth-1, (most-cost)/2)
			p.add(0x58 | r)
		case k <= 5 && len(p.functions) > 0:
			cost += p.call(most - cost)
		case k == 6:
			cost += p.repeated()
		default:
			cost += p.instruction()
		}
	}
	return cost
}

// loop repeats pieces; its counter lies in a slot.
func (p *program) loop(depth, most int) int {
	rounds := 2 + p.r.IntN(12)
	slot, _ := p.slot(0)
	p.add(0xc7, 0x04, 0x25) // mov dword [slot], rounds
	p.word(slot)
	p.word(uint32(rounds))
	top := len(p.code)
	cost := p.body(depth, most/rounds)
	p.add(0xff, 0x0c, 0x25) // dec dword [slot]
	p.word(slot)
	p.add(0x0f, 0x8f) // jg
	p.word(uint32(top - len(p.code) - 4))
	return 1 + rounds*(cost+2)
}

// branch goes over pieces or through them.
func (p *program) branch(depth, most int) int {
	at, k := 0, -1
	switch form := p.r.IntN(8); form {
	case 0: // through a register
		at = len(p.code) + 1
		p.setReg(x86.RDX, 0)
		p.add(0xff, 0xe2)
	case 1: // through memory
		slot, n := p.slot(0)
		p.add(0xff, 0x24, 0x25)
		p.word(slot)
		k = n
	case 2: // a return to where no call was
		at = len(p.code) + 1
		p.setReg(x86.RSI, 0)
		p.add(0x56, 0xc3)
	case 3: // loopne, loope, loop, jrcxz: their displacements are short
		p.add(0xe0|byte(p.r.IntN(4)), 2, 0xeb, 5, 0xe9)
		at = p.word(0)
	case 4:
		p.add(0xe9)
		at = p.word(0)
	default:
		p.add(0x0f, 0x80|byte(p.r.IntN(16)))
		at = p.word(0)
	}
	absolute := k < 0 && at > 0 && (p.code[at-1] == 0xb8|byte(x86.RDX) || p.code[at-1] == 0xb8|byte(x86.RSI))
	cost := 3 + p.body(depth, most)
	switch {
	case k >= 0:
		p.control[k] = uint64(p.here())
	case absolute:
		binary.LittleEndian.PutUint32(p.code[at:], p.here())
	default:
		p.patch(at)
	}
	return cost
}

// call calls one of the functions that stand, if that costs no more.
func (p *program) call(most int) int {
	f := p.functions[p.r.IntN(len(p.functions))]
	if f.cost > most {
		return 0
	}
	if f.pops {
		p.add(0x51)
	}
	to := uint32(seqCode + f.at)
	switch p.r.IntN(3) {
	case 0:
		p.setReg(x86.RAX, to)
		p.add(0xff, 0xd0)
	case 1:
		slot, _ := p.slot(uint64(to))
		p.add(0xff, 0x14, 0x25)
		p.word(slot)
	default:
		p.add(0xe8)
		p.word(uint32(f.at - len(p.code) - 4))
	}
	return f.cost + 3
}

// repeated is a repeated string instruction with a small count, or none.
func (p *program) repeated() int {
	p.setReg(x86.RCX, uint32(p.r.IntN(40)))
	p.toData(x86.RSI)
	p.toData(x86.RDI)
	ops := []byte{0xa4, 0xa5, 0xa6, 0xa7, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf}
	p.add([]byte{0xf2, 0xf3}[p.r.IntN(2)])
	switch p.r.IntN(3) {
	case 0:
		p.add(0x48)
	case 1:
		p.code = append(p.code[:len(p.code)-1], 0x66, p.code[len(p.code)-1])
	}
	p.add(ops[p.r.IntN(len(ops))])
	return 4
}

// toData lets a register point into the data.
func (p *program) toData(r x86.Reg) uint32 {
	at := uint32(seqData + seqMem/2 + p.r.IntN(32)*64)
	if p.r.IntN(8) == 0 {
		at += uint32(p.r.IntN(64))
	}
	p.setReg(r, at)
	return at
}

// instruction adds one of random encoding, with its address registers set up first. It returns how
// many it has added.
func (p *program) instruction() int {
	var in x86.Inst
	for range 200 {
		code := p.encoding()
		if x86.Decode(code, &in) != nil || !usable(&in) || !harmless(&in) || usesAVX512(&in) && !p.evex {
			continue
		}
		code = code[:in.Len]
		if in.DispLen == 4 {
			binary.LittleEndian.PutUint32(code[in.DispOff:], uint32(int32(p.r.IntN(4000)-2000)))
		}
		if x86.Decode(code, &in) != nil || !p.valid(code) {
			continue
		}
		return p.aimed(code, &in)
	}
	return 0
}

// aimed adds an instruction, its memory operand in the data.
func (p *program) aimed(code []byte, in *x86.Inst) int {
	m, n := &in.Mem, 1
	if !in.HasMem && (in.ImplicitRead || in.ImplicitWrite) && in.Name != "push" && in.Name != "pop" {
		for _, r := range []x86.Reg{x86.RSI, x86.RDI, x86.RBX} {
			p.toData(r)
			n++
		}
	}
	if in.HasMem && m.Base == x86.NoReg {
		binary.LittleEndian.PutUint32(code[in.DispOff:], uint32(seqData+seqMem/2+p.r.IntN(32)*64))
	}
	if in.HasMem && m.Index != x86.NoReg {
		p.setReg(m.Index, uint32(p.r.IntN(8)*16))
		n++
	}
	if in.HasMem && m.Base != x86.NoReg && m.Base != x86.RIP {
		at := p.toData(m.Base)
		binary.LittleEndian.PutUint32(p.code[len(p.code)-4:], at-uint32(m.Disp))
		n++
	}
	p.add(code...)
	if in.HasMem && m.Base == x86.RIP {
		at := len(p.code) - len(code) + int(in.DispOff)
		binary.LittleEndian.PutUint32(p.code[at:], uint32(seqData+seqMem/2+p.r.IntN(32)*64)-p.here())
	}
	return n
}

// encoding is a random one: prefixes, map, opcode, and bytes for what may follow.
func (p *program) encoding() []byte {
	r := p.r
	var b []byte
	random := func() byte { return byte(r.Uint32() >> 24) }
	switch kind := r.IntN(8); {
	case kind < 5:
		if r.IntN(4) == 0 {
			b = append(b, 0x66)
		}
		if r.IntN(4) == 0 {
			b = append(b, []byte{0xf2, 0xf3, 0xf0}[r.IntN(3)])
		}
		if r.IntN(2) == 0 {
			b = append(b, 0x40|byte(r.IntN(16)))
		}
		b = append(b, [][]byte{nil, {0x0f}, {0x0f, 0x38}, {0x0f, 0x3a}}[r.IntN(4)]...)
	case kind < 7 || !p.evex:
		b = append(b, 0xc4, random()&0xe0|byte(1+r.IntN(3)), random())
	default:
		b = append(b, 0x62, random()&0xf0|byte(1+r.IntN(3)), random()|4, random())
	}
	for len(b) < 15 {
		b = append(b, random())
	}
	return b
}

// notTwice are opcodes, map<<8 | opcode, of instructions that would not do the same twice, or would
// harm the process that runs them: the system's that the processor leaves to all, segment registers,
// addresses of 64 bits.
var notTwice = []struct{ first, last uint16 }{
	{0x08c, 0x08c}, {0x08e, 0x08e}, {0x0a0, 0x0a3},
	{0x100, 0x101}, {0x1a0, 0x1a1}, {0x1a8, 0x1a9}, {0x1b2, 0x1b2}, {0x1b4, 0x1b5}, {0x1c7, 0x1c7},
}

// harmless leaves out these, bits beyond an operand, what divides (most of it faults), and what
// moves the stack: that comes in pairs.
func harmless(in *x86.Inst) bool {
	op := uint16(in.Map)<<8 | uint16(in.Opcode)
	for _, r := range notTwice {
		if in.Enc == x86.Legacy && r.first <= op && op <= r.last {
			return false
		}
	}
	switch {
	case in.Enc == x86.Legacy && op == 0x1ae && !in.HasMem, in.BitString, in.HasMem && in.Mem.Base == in.Mem.Index:
		return false
	}
	return !slices.Contains([]string{"push", "pop", "div", "idiv"}, in.Name)
}
