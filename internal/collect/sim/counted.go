package sim

import (
	"lime/internal/engine"
	"lime/internal/x86"
)

// A loop that only counts up to a number in memory looks like one that waits for that number to change. What tells them
// apart is who decides: if every test on the way round looks at the counter, the loop ends by itself, and is work.

// slot is a place on the stack, as instructions name it.
type slot struct {
	base x86.Reg
	disp int32
}

// counting follows a loop's counter through its blocks.
type counting struct {
	counters map[slot]bool // that keep a counter
	tainted  x86.RegSet    // registers that hold something computed from the counter
	from     map[x86.Reg]slot
	flags    bool // the flags do
}

// counted reports whether nothing but the counter decides when the loop ends.
func (r *run) counted(path []state, now *state) bool {
	c := &counting{counters: map[slot]bool{}}
	first := x86.RegSet(0)
	for i := range now.gpr {
		if now.gpr[i] != path[0].gpr[i] {
			first |= 1 << i
		}
	}
	tests := 0
	for range 2 { // the first time round finds the counters that are kept on the stack
		c.tainted, c.flags, c.from, tests = first, false, map[x86.Reg]slot{}, 0
		for i := range path {
			id, ok := r.blocks.startingAt(path[i].pc)
			if !ok {
				return false
			}
			b := &r.eng.Blocks()[id]
			r.count(c, b)
			if b.End == engine.EndCond {
				tests++
				if !c.flags {
					tests = -len(path)
				}
			}
		}
	}
	return tests > 0
}

// count follows one block.
func (r *run) count(c *counting, b *engine.Block) {
	for pc := b.PC; pc < b.PC+uint64(b.Size); {
		in, ok := r.decode(pc)
		if !ok {
			return
		}
		c.step(&in)
		pc += uint64(in.Len)
	}
}

func (c *counting) step(in *x86.Inst) {
	at, stack := slot{}, in.HasMem && onStack(in)
	if stack {
		at = slot{in.Mem.Base, in.Mem.Disp}
	}
	uses := in.Reads&c.tainted != 0 || stack && in.Mem.Read && c.counters[at]
	if stack && in.Mem.Write && (in.Mem.Read || in.Reads&c.tainted != 0 || c.stores(in, at)) {
		c.counters[at] = true // or keeps the register that counts while that is used for something else
	}
	for reg := range x86.Reg(16) {
		switch {
		case in.Writes>>reg&1 == 0:
		case stack && in.Mem.Read:
			c.from[reg] = at
		case in.Reads>>reg&1 == 0:
			delete(c.from, reg)
		}
	}
	if uses {
		c.tainted |= in.Writes
	} else if !in.CondWrite {
		c.tainted &^= in.Writes
	}
	if in.FlagsWrite != 0 {
		c.flags = uses
	}
}

// stores reports whether the instruction writes back to a slot what was computed from it.
func (c *counting) stores(in *x86.Inst, at slot) bool {
	for reg, from := range c.from {
		if from == at && reg != in.Mem.Base && in.Reads>>reg&1 != 0 {
			return true
		}
	}
	return false
}
