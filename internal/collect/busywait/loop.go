// What is asked, and the answer.

package busywait

import "lime/internal/x86"

// Out is the successor of a block that leads out of the loop, None one that there is not.
const (
	Out  = -1
	None = -2
)

// Block is a basic block of a loop. A call at its end must be known to do nothing but wait.
type Block struct {
	Insts       []x86.Inst
	Taken, Fall int // indices of blocks: where its branch leads to, and what is behind it
}

// Loop is a natural loop; its first block is its head.
type Loop struct {
	Blocks []Block
	Before []x86.Inst // that are executed right in front of it, as far as that is one straight line
	Frame  bool       // rbp points into the frame of the function's own
}

// Verdict is what is proved of a loop.
type Verdict struct {
	Waits  bool // for others to change memory
	Takes  bool // and then it tries to take a word, as a lock is taken
	Saves  bool // it keeps something on the stack meanwhile
	Counts bool // it has counters
}

// Judge judges a loop.
func Judge(l *Loop) (v Verdict) {
	a := analysis{loop: l, in: make([]*state, len(l.Blocks))}
	if !a.findSlots() || !a.settle() || !a.round.again {
		return v
	}
	fixed, ok := a.round.fixed(a.slots.end())
	if !ok || !fixed.holds(a.round.addresses) || !a.leavesByMemory(fixed) || !a.triesAlike(fixed) || !a.waitsWithoutRetrying(fixed) {
		return v
	}
	return Verdict{Waits: true, Takes: a.takes(), Saves: len(a.slots.list) > 0,
		Counts: fixed.counts}
}

// leavesByMemory reports whether a branch out of the loop depends on memory and on nothing that
// varies.
func (a *analysis) leavesByMemory(f fixed) bool {
	for _, e := range a.round.exits {
		if f.holds(e.deps) && f.loads(e) {
			return true
		}
	}
	return false
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

// takes reports whether an attempt is one to take a lock.
func (a *analysis) takes() bool {
	for _, t := range a.round.attempts {
		if t.compares && t.expects.known == zero && t.put.known != zero || !t.compares && t.put.known == nonzero {
			return true
		}
	}
	return false
}

// waitsWithoutRetrying reports whether there is a way round that comes through no retry.
func (a *analysis) waitsWithoutRetrying(f fixed) bool {
	seen := make([]bool, len(a.loop.Blocks))
	for _, t := range a.round.attempts {
		seen[t.block] = seen[t.block] || t.retries(f)
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
