// What is asked, and the answer.

package busywait

// Out is the successor of a block that leads out of the loop, None one that there is not.
const (
	Out  = -1
	None = -2
)

// Block is a basic block of a loop. A call at its end must be known to do nothing but wait.
type Block struct {
	Code
	Taken, Fall int // indices of blocks: where its branch leads to, and what is behind it
}

// Loop is a natural loop; its first block is its head.
type Loop struct {
	Blocks []Block
	Known  Constants // at its head
	Frame  bool      // rbp points into the frame of the function's own
	Times  times     // where its calls store the time
}

// Verdict is what is proved of a loop.
type Verdict struct {
	Waits  bool // for others to change memory
	Takes  bool // and then it tries to take a word, as a lock is taken
	Saves  bool // it keeps something on the stack meanwhile
	Tries  bool // it has an atomic instruction of which only the constants may tell whether it takes
	Counts bool // it has counters
	At     At   // where it tries to take the word, else where it looks whether it may leave
}

// At is an instruction of a loop: which one of which block.
type At struct{ Block, Inst int }

// Judge judges a loop.
func Judge(l *Loop) (v Verdict) {
	a := analysis{loop: l, in: make([]*state, len(l.Blocks))}
	if !a.findSlots() || !a.settle() || !a.round.again {
		return v
	}
	fixed, ok := a.round.fixed(a.slots.end())
	if !ok || !fixed.holds(a.round.addresses) || !a.triesAlike(fixed) || !a.waitsWithoutRetrying(fixed) {
		return v
	}
	exit, ok := a.leavesByMemory(fixed)
	if !ok {
		return v
	}
	v = Verdict{Waits: true, Saves: len(a.slots.list) > 0, Tries: len(a.round.attempts) > 0, Counts: fixed.counts, At: exit}
	if t := a.takes(); t != nil {
		v.Takes, v.Tries, v.At = true, false, t.at
	}
	return v
}

// leavesByMemory finds a branch out of the loop that depends on memory and on nothing that varies.
func (a *analysis) leavesByMemory(f fixed) (at At, ok bool) {
	for _, e := range a.round.exits {
		if f.holds(e.test.deps) && f.loads(e.test) {
			return e.at, true
		}
	}
	return at, false
}

// triesAlike reports whether attempts that are no retries put the same each time round, and nothing
// that was loaded: it might have been loaded from where they put it.
func (a *analysis) triesAlike(f fixed) bool {
	for _, t := range a.round.attempts {
		if !t.retries(f) && (!f.holds(t.put.deps|t.expects.deps) || f.loads(t.put)) {
			return false
		}
	}
	return true
}

// takes is the attempt to take a lock, nil if none is proved to be one.
func (a *analysis) takes() *attempt {
	for i := range a.round.attempts {
		t := &a.round.attempts[i]
		if t.compares && t.expects.known == zero && t.put.known != zero || !t.compares && t.put.known == nonzero {
			return t
		}
	}
	return nil
}

// waitsWithoutRetrying reports whether there is a way round that comes through no attempt that fails
// only because others get on.
func (a *analysis) waitsWithoutRetrying(f fixed) bool {
	seen := make([]bool, len(a.loop.Blocks))
	for _, t := range a.round.attempts {
		seen[t.at.Block] = seen[t.at.Block] || t.raced || t.retries(f)
	}
	if seen[0] {
		return false
	}
	for work := []int{0}; len(work) > 0; {
		b := a.loop.Blocks[work[len(work)-1]]
		work = work[:len(work)-1]
		for _, to := range [...]int{b.Taken, b.Fall} {
			switch {
			case to == 0:
				return true
			case to > 0 && !seen[to]:
				seen[to], work = true, append(work, to)
			}
		}
	}
	return false
}
