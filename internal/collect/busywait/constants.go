// What is known of registers where a loop begins: compilers keep the constants that a loop puts into
// a word in registers, and set these far in front of it.

package busywait

import "lime/internal/x86"

// Constants is what is known of the general registers somewhere in a function.
type Constants [16]held

// held is what is known of a register.
type held struct {
	known knowledge
	from  uint64 // where it was loaded from, in the image, as the addresses of functions are

	framed bool // it holds the address of a place of the frame, by one of the registers that point there
	base   x86.Reg
	disp   int32
}

// Code is a block of a function.
type Code struct {
	Addr  uint64 // of its first instruction
	Insts []x86.Inst
}

// From is where the image has what a register holds before the last instruction of a block, 0 if that
// is not known.
func (k Constants) From(c Code, r x86.Reg) uint64 {
	c.Insts = c.Insts[:max(len(c.Insts)-1, 0)]
	k.through(&c)
	return k[r&15].from
}

// Known computes what is known at the beginning of each block of a function. Blocks that no other
// leads to are entered from elsewhere (an exception), but for those that only pad.
func Known(blocks []Code, succ [][]int32) []Constants {
	in, entered := make([]Constants, len(blocks)), make([]bool, len(blocks))
	for i := range entered {
		entered[i] = true
	}
	for _, list := range succ {
		for _, to := range list {
			entered[to] = false
		}
	}
	var work []int32
	for b := range entered {
		if entered[b] = b == 0 || entered[b] && !Pads(blocks[b].Insts); entered[b] {
			work = append(work, int32(b))
		}
	}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		k := in[b]
		k.through(&blocks[b])
		for _, to := range succ[b] {
			if !entered[to] {
				in[to], entered[to] = k, true
				work = append(work, to)
			} else if in[to].join(&k) {
				work = append(work, to)
			}
		}
	}
	return in
}

// Pads reports whether a block does nothing.
func Pads(insts []x86.Inst) bool {
	for i := range insts {
		if in := &insts[i]; in.Writes != 0 || in.Branch != x86.BranchNone || in.HasMem && in.Mem.Bytes > 0 {
			return false
		}
	}
	return true
}

func (k *Constants) join(o *Constants) (changed bool) {
	for r := range k {
		if k[r] != o[r] && k[r] != (held{}) {
			k[r], changed = held{}, true
		}
	}
	return changed
}

func (k *Constants) through(c *Code) {
	pc := c.Addr
	for i := range c.Insts {
		in := &c.Insts[i]
		pc += uint64(in.Len)
		k.step(in, pc)
	}
}

// step takes in an instruction; next is behind it.
func (k *Constants) step(in *x86.Inst, next uint64) {
	if in.Branch != x86.BranchNone {
		for r := range k {
			if in.Branch != x86.BranchCond && in.Branch != x86.BranchJump && kept>>r&1 == 0 {
				k[r] = held{}
			}
		}
		return
	}
	v := held{known: immediate(in)}
	if at, is := inFrame(in); is {
		v = at
	} else if moved := in.Map == 0 && in.Enc == x86.Legacy && !in.OpSize16; clears(in) {
		v.known = zero
	} else if moved && in.Opcode == 0x89 && !in.HasMem {
		v = k[in.RegField()]
	} else if moved && in.Opcode == 0x8b && !in.HasMem {
		v = k[in.RMField()]
	} else if moved && in.Opcode == 0x8b && in.Mem.Base == x86.RIP {
		v.from = next + uint64(int64(in.Mem.Disp))
	}
	for r := range x86.Reg(16) {
		if k[r].framed && in.Writes.Has(k[r].base) {
			k[r] = held{}
		}
		if in.Writes.Has(r) {
			k[r] = v
		}
	}
}
