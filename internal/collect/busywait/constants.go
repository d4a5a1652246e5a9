// What is known of registers where a loop begins: compilers keep the constants that a loop puts into
// a word in registers, and set these far in front of it.

package busywait

import "lime/internal/x86"

// Constants is what is known of the general registers somewhere in a function.
type Constants [16]knowledge

// Known computes what is known at the beginning of each block of a function. Blocks that no other
// leads to are entered from elsewhere (an exception), but for those that only pad.
func Known(blocks [][]x86.Inst, succ [][]int32) []Constants {
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
		if entered[b] = b == 0 || entered[b] && !pads(blocks[b]); entered[b] {
			work = append(work, int32(b))
		}
	}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		k := in[b]
		for i := range blocks[b] {
			k.step(&blocks[b][i])
		}
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

// pads reports whether a block does nothing.
func pads(insts []x86.Inst) bool {
	for i := range insts {
		if in := &insts[i]; in.Writes != 0 || in.Branch != x86.BranchNone || in.HasMem && in.Mem.Bytes > 0 {
			return false
		}
	}
	return true
}

func (k *Constants) join(o *Constants) (changed bool) {
	for r := range k {
		if k[r] != o[r] && k[r] != unknown {
			k[r], changed = unknown, true
		}
	}
	return changed
}

func (k *Constants) step(in *x86.Inst) {
	if in.Branch != x86.BranchNone {
		for r := range k {
			if in.Branch != x86.BranchCond && in.Branch != x86.BranchJump && kept>>r&1 == 0 {
				k[r] = unknown
			}
		}
		return
	}
	v := immediate(in)
	switch {
	case clears(in):
		v = zero
	case in.Map == 0 && in.Enc == x86.Legacy && !in.HasMem && !in.OpSize16 && in.Opcode == 0x89:
		v = k[regField(in)]
	case in.Map == 0 && in.Enc == x86.Legacy && !in.HasMem && !in.OpSize16 && in.Opcode == 0x8b:
		v = k[rmField(in)]
	}
	for r := range x86.Reg(16) {
		if in.Writes.Has(r) {
			k[r] = v
		}
	}
}
