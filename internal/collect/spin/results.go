package spin

import (
	"lime/internal/collect/busywait"
	"lime/internal/x86"
)

// What a loop computes for later (doc.go, Results).

// Roots of values: what a round finds in a register, a vector register, or a place on the stack that
// the loop changes.
const (
	vectorRoots = 16
	placeRoots  = 48
	mostRoots   = 64 // of a loop with more places nothing is proved
)

// roots is a set of roots.
type roots uint64

// root is what the rounds find in a place that they hand on: whether somebody computes with it, and
// whether it moved by the same from each round to the next.
type root struct {
	read bool
	n    int
	last uint64 // value
	step uint64
	odd  bool // it has moved by something else
}

// sees notes its value in the next round.
func (r *root) sees(v uint64) {
	switch step := v - r.last; {
	case r.n == 0:
	case r.n == 1:
		r.step = step
	default:
		r.odd = r.odd || step != r.step
	}
	r.n++
	r.last = v
}

// results follows what values of a round are computed from.
type results struct {
	c       *counting
	all     [mostRoots]root
	regs    [16]roots
	vectors [32]roots
	flags   roots
	stored  map[place]roots // in the round under way
	found   map[place]int   // the root of a place
	seen    map[place]bool  // in the round under way
	used    roots           // by what decides, and by the system
	more    bool            // there are more places than roots
}

// leavesResult reports whether a loop computes what it does not use itself: something that a round
// makes of what the one before has left of it, that does not move by the same each time as a counter
// does, and that decides nothing, not even how long the thread pauses. It is for later, so to compute
// it is work.
func (c *counting) leavesResult() bool {
	r := results{c: c, found: map[place]int{}}
	var from [mostRoots]roots // what the next round's value is computed from
	for k := 0; k+1 < len(c.starts) && c.starts[k] < c.f.real; k++ {
		r.begins(c.head(c.starts[k]))
		for i := c.starts[k]; i < c.starts[k+1]; i++ {
			s := &c.f.steps[i]
			for j := s.first; j < s.last; j++ {
				r.instruction(&c.f.execs[j])
			}
		}
		r.ends(&from)
	}
	r.used = reached(&from, r.used)
	for i := range r.all {
		x := &r.all[i]
		if x.read && x.odd && r.used>>i&1 == 0 && reached(&from, from[i])>>i&1 != 0 {
			return true
		}
	}
	return r.more
}

// reached is all that roots were computed from, over any number of rounds.
func reached(from *[mostRoots]roots, set roots) roots {
	for before := roots(0); before != set; {
		before = set
		for i := range from {
			if before>>i&1 != 0 {
				set |= from[i]
			}
		}
	}
	return set
}

// begins begins a round.
func (r *results) begins(h *Head) {
	r.stored, r.seen, r.flags = map[place]roots{}, map[place]bool{}, 0
	for i := range r.regs {
		r.regs[i] = 1 << i
		r.all[i].sees(h.Regs[i])
	}
	for i := range r.vectors {
		r.vectors[i] = 1 << (vectorRoots + i)
	}
}

// ends notes what a round leaves for the next.
func (r *results) ends(from *[mostRoots]roots) {
	for i, of := range r.regs {
		from[i] |= of
	}
	for i, of := range r.vectors {
		from[vectorRoots+i] |= of
	}
	for p, of := range r.stored {
		if i, ok := r.found[p]; ok {
			from[i] |= of
		}
	}
}

// instruction follows one instruction.
func (r *results) instruction(x *exec) {
	in := x.in
	of := r.inputs(x)
	if in.FlagsRead != 0 {
		of |= r.flags
	}
	if in.Branch == x86.BranchCond || in.Branch == x86.BranchSyscall || x.tries {
		r.used |= of
	}
	if in.CondWrite {
		for reg := range r.regs {
			if in.Writes.Has(x86.Reg(reg)) {
				of |= r.regs[reg]
			}
		}
	}
	for reg := range r.regs {
		if in.Writes.Has(x86.Reg(reg)) {
			r.regs[reg] = of
		}
	}
	for v := range r.vectors {
		if in.VecWrites>>v&1 != 0 {
			r.vectors[v] = of
		}
	}
	if x.stores.n > 0 {
		r.stored[x.stores] = of
	}
	if in.FlagsWrite != 0 {
		r.flags = of
	}
}

// inputs is what an instruction computes from.
func (r *results) inputs(x *exec) (of roots) {
	in := x.in
	if whole, _ := busywait.Clears(in); whole || busywait.ClearsVector(in) || x.clock {
		return 0
	}
	reads := in.Reads
	if in.HasMem && in.Mem.Bytes > 0 {
		reads &^= r.c.addressOnly(in)
	}
	for reg := range r.regs {
		if reads.Has(x86.Reg(reg)) && reg != int(x86.RSP) {
			of |= r.regs[reg]
		}
	}
	for v := range r.vectors {
		if in.VecReads>>v&1 != 0 {
			of |= r.vectors[v]
		}
	}
	if x.loads.n > 0 {
		of |= r.loads(x)
	}
	for i := range r.all {
		if of>>i&1 != 0 {
			r.all[i].read = true
		}
	}
	return of
}

// loads is what was put into a place.
func (r *results) loads(x *exec) roots {
	if of, ok := r.stored[x.loads]; ok {
		return of
	}
	if !r.c.writes(x.loads) {
		return 0
	}
	i, ok := r.found[x.loads]
	if !ok {
		if i = placeRoots + len(r.found); i == mostRoots {
			r.more = true
			return 0
		}
		r.found[x.loads] = i
	}
	if !r.seen[x.loads] {
		r.seen[x.loads] = true
		r.all[i].sees(x.loaded)
	}
	return 1 << i
}
