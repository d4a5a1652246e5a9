// What instructions do to values.

package busywait

import "lime/internal/x86"

// analysis goes through a loop until nothing changes any more.
type analysis struct {
	loop   *Loop
	slots  slots
	words  []word
	in     []*state // at each block's beginning, nil: not reached so far
	choice value    // what branches within the loop depend on
	round  round
	at     At     // that is gone through
	next   uint64 // what is behind that
}

// findSlots finds the slots to which the loop stores. It fails if there are too many, or some that
// lie across each other.
func (a *analysis) findSlots() bool {
	for b := range a.loop.Blocks {
		for i := range a.loop.Blocks[b].Insts {
			in := &a.loop.Blocks[b].Insts[i]
			s, ok := a.slot(in)
			if !ok || !in.Mem.Write || a.loop.Times.meet(s) {
				continue
			}
			_, found, clear := a.slots.find(s)
			if !clear || !found && len(a.slots.list) == mostSlots {
				return false
			}
			if !found {
				a.slots.list = append(a.slots.list, s)
			}
		}
	}
	return true
}

// slot is the slot that an instruction's memory operand is.
func (a *analysis) slot(in *x86.Inst) (slot, bool) {
	if !in.HasMem || in.Mem.Bytes == 0 || in.Lock || in.Mem.Index != x86.NoReg || in.Mem.Seg != 0 || in.BitString {
		return slot{}, false
	}
	return slot{in.Mem.Base, in.Mem.Disp, in.Mem.Bytes}, in.Mem.Base == x86.RSP || in.Mem.Base == x86.RBP && a.loop.Frame
}

// settle computes the states; false if the loop does something that no waiting loop does. Each state
// only grows, so it ends.
func (a *analysis) settle() bool {
	a.in[0] = a.head()
	a.choice = value{is: noPlace}
	for changed := true; changed; {
		changed = false
		a.round = round{}
		for b := range a.loop.Blocks {
			if a.in[b] == nil {
				continue
			}
			again, ok := a.through(b)
			if !ok {
				return false
			}
			changed = changed || again
		}
	}
	return true
}

// head is the state at the loop's head. What the loop writes is what it is, and what it leaves alone
// is as good as a constant.
func (a *analysis) head() *state {
	s := &state{flags: outside()}
	written := a.written()
	for i := range s.at {
		s.at[i] = value{deps: written & only(i), is: int8(i), counter: true}
	}
	for r, k := range a.loop.Known {
		s.at[r].known, s.at[lows+r].known = k.known, k.known
		s.at[r].framed, s.at[lows+r].framed = k.framed, k.framed
	}
	return s
}

// written is all places that the loop may write.
func (a *analysis) written() (w set) {
	for i := range a.slots.list {
		w |= only(firstSlot + i)
	}
	for b := range a.loop.Blocks {
		for i := range a.loop.Blocks[b].Insts {
			in := &a.loop.Blocks[b].Insts[i]
			w |= places(in.Writes, in.VecWrites)
			if in.Branch == x86.BranchCall || in.Branch == x86.BranchCallInd {
				w |= clobbered
			}
		}
	}
	return w
}

// through goes through a block and hands its state on.
func (a *analysis) through(b int) (changed, ok bool) {
	s := *a.in[b]
	block := &a.loop.Blocks[b]
	a.next = block.Addr
	for i := range block.Insts {
		a.at, a.next = At{b, i}, a.next+uint64(block.Insts[i].Len)
		if !a.step(&s, &block.Insts[i]) {
			return false, false
		}
	}
	test := a.test(&s, block)
	switch {
	case block.Taken == None || block.Fall == None:
	case block.Taken == Out || block.Fall == Out:
		a.round.exits = append(a.round.exits, exit{a.at, test})
	default:
		if n := a.choice.deps | test.deps; n != a.choice.deps {
			a.choice.deps, changed = n, true
		}
	}
	taken, fall := s, s
	a.refine(&taken, &fall, block)
	changed = a.goTo(block.Taken, &taken) || changed
	return a.goTo(block.Fall, &fall) || changed, true
}

// test is what the branch at a block's end depends on.
func (a *analysis) test(s *state, b *Block) value {
	if n := len(b.Insts); n > 0 && b.Insts[n-1].Branch == x86.BranchLoop {
		return s.get(x86.RCX, false).with(s.flags)
	}
	return s.flags
}

func (a *analysis) goTo(to int, s *state) bool {
	switch {
	case to < 0:
		return false
	case to == 0:
		if !a.round.again {
			a.round.again, a.round.back = true, *s
		} else {
			a.round.back.join(s, a.choice)
		}
		return false
	case a.in[to] == nil:
		n := *s
		a.in[to] = &n
		return true
	}
	return a.in[to].join(s, a.choice)
}

// step takes in an instruction; false if it changes what others see, or cannot be told.
func (a *analysis) step(s *state, in *x86.Inst) bool {
	if !Allowed(in) {
		return false
	}
	_, inFrame := a.slot(in)
	switch {
	case in.Branch == x86.BranchCond || in.Branch == x86.BranchJump:
	case in.Branch == x86.BranchCall || in.Branch == x86.BranchCallInd:
		a.call(s)
	case Tries(in):
		a.try(s, in)
	case fences(in):
		s.flags = outside()
	case stores(in) && !inFrame, a.loop.Frame && in.Writes.Has(x86.RBP):
		return false
	default:
		return a.compute(s, in)
	}
	return true
}

// clobbered is what a call may change: all vector registers, and the general ones but for these
// (System V ABI, figure 3.4).
const clobbered = set(1<<firstSlot-1) &^ (kept | kept<<lows)

const kept = 1<<x86.RBX | 1<<x86.RSP | 1<<x86.RBP | 1<<x86.R12 | 1<<x86.R13 | 1<<x86.R14 | 1<<x86.R15

func (a *analysis) call(s *state) {
	gone := outside()
	gone.counter = true // what is left in most of them nobody reads
	s.flags = gone
	clobbered.each(func(i int) { s.at[i] = gone })
}

// compute takes in an instruction that leaves values in registers, flags and slots.
func (a *analysis) compute(s *state, in *x86.Inst) bool {
	if in.HasMem && in.Mem.Bytes == 0 && in.Writes == 0 && in.VecWrites == 0 { // nop, prefetch
		return true
	}
	v, ok := a.result(s, in)
	if !ok {
		return false
	}
	if place, found, _ := a.place(in); found && in.Mem.Write {
		s.at[place] = v
	}
	for r := range x86.Reg(16) {
		if in.Writes.Has(r) {
			s.set(r, ofBytes(in), v)
		}
	}
	places(0, in.VecWrites).each(func(i int) { s.at[i] = v })
	switch {
	case in.FlagsWrite&x86.StatusFlags == x86.StatusFlags && !in.CondWrite:
		s.flags = v
		s.flags.is = noPlace
	case in.FlagsWrite != 0:
		s.flags = s.flags.with(v)
	}
	return true
}

// tellsTime reports whether an instruction's memory operand may be where a call has stored the time.
func (a *analysis) tellsTime(s *state, in *x86.Inst) bool {
	if len(a.loop.Times) == 0 {
		return false
	}
	if at, inFrame := a.slot(in); inFrame {
		return a.loop.Times.meet(at)
	}
	for _, r := range [...]x86.Reg{in.Mem.Base, in.Mem.Index} {
		if r == x86.RSP || r < 16 && s.get(r, false).framed {
			return true
		}
	}
	return false
}

// place is the written slot that an instruction names.
func (a *analysis) place(in *x86.Inst) (place int, found, ok bool) {
	if s, inFrame := a.slot(in); inFrame {
		return a.slots.find(s)
	}
	return 0, false, true
}

// result is what an instruction computes.
func (a *analysis) result(s *state, in *x86.Inst) (value, bool) {
	if clears(in) {
		v := constant(zero)
		v.narrow = true
		return v, true
	}
	m, inMemory, ok := a.memory(s, in)
	if !ok {
		return m, false
	}
	n := sum{moves: moves(in), steps: steps(in), chooses: chooses(in), all: constant(unknown), one: constant(unknown)}
	if inMemory && in.Mem.Read {
		n.add(m)
	}
	reads, vec := a.operands(in)
	for r := range x86.Reg(16) {
		switch {
		case !reads.Has(r):
		case r == x86.RCX && shiftsByCL(in):
			n.decide(s.get(r, false))
		default:
			n.add(s.get(r, readsByte(in)))
		}
	}
	places(0, vec).each(func(i int) { n.add(s.at[i]) })
	if in.FlagsRead != 0 {
		n.decide(s.flags)
	}
	switch in.Special {
	case x86.SpecialNone, x86.SpecialPause, x86.SpecialSerial:
	default:
		n.add(outside())
	}
	v := n.value(in)
	v.narrow = narrow(in) || v.narrow && moves(in)
	if _, is := inFrame(in); is {
		v.framed = true
	}
	return v, true
}

// operands are the registers of which an instruction makes what it leaves.
func (a *analysis) operands(in *x86.Inst) (x86.RegSet, uint32) {
	reads, vec := in.Reads, in.VecReads
	if _, inFrame := a.slot(in); inFrame {
		reads &^= 1 << in.Mem.Base
	}
	if putsByte(in) {
		reads &^= in.Writes
	}
	if in.CondWrite {
		reads, vec = reads|in.Writes, vec|in.VecWrites
	}
	return reads, vec
}

// memory is what is read where an instruction's memory operand is, and what is noted of its address.
func (a *analysis) memory(s *state, in *x86.Inst) (v value, is, ok bool) {
	if !in.HasMem || in.Mem.Bytes == 0 {
		return v, false, true
	}
	place, found, ok := a.place(in)
	if !ok || in.Mem.VSIB {
		return v, false, false
	}
	if found {
		return s.at[place], true, true
	}
	if a.tellsTime(s, in) {
		v = outside()
		v.counter = true // what a loop makes of the time it makes anew each time round
		return v, true, true
	}
	return a.load(s, in), true, true
}

// load is what memory holds that the loop does not change.
func (a *analysis) load(s *state, in *x86.Inst) value {
	deps := s.address(in)
	a.round.addresses |= deps
	return value{deps: deps, is: noPlace, loaded: true, counter: deps == 0, word: a.wordAt(in, a.next, deps)}
}

// address is what the address of an instruction's memory operand depends on.
func (s *state) address(in *x86.Inst) (deps set) {
	for _, r := range [...]x86.Reg{in.Mem.Base, in.Mem.Index} {
		if r < 16 {
			deps |= s.get(r, false).deps
		}
	}
	return deps
}

// sum is what is made of some values.
type sum struct {
	moves, steps, chooses bool // what the instruction does
	all                   value
	one                   value // the last of them
	n                     int   // how many of them are no constants
	bad                   bool  // one of them is no counter
}

func (n *sum) add(v value) {
	n.all = n.all.with(v)
	n.bad = n.bad || !v.counter
	if !v.constant() {
		n.n++
	}
	if n.n == 0 || !v.constant() {
		n.one = v
	}
}

// decide takes in what chooses between values, or how far one is shifted.
func (n *sum) decide(v value) {
	n.all = n.all.with(v)
	n.bad = n.bad || !n.chooses
}

func (n *sum) value(in *x86.Inst) value {
	if n.moves && n.n <= 1 {
		if k := immediate(in); k != unknown {
			return constant(k)
		}
		return n.one
	}
	v := n.all
	v.counter = v.counter || !n.bad && (n.steps && n.n <= 1 || n.chooses)
	v.known = immediate(in)
	return v
}
