package spin

import (
	"maps"
	"slices"

	"lime/internal/x86"
)

// Rounds that a thread would go if a test of a counter went the other way (doc.go, Imagined
// rounds).

// mostImagined is how many blocks are imagined for one judgement.
const mostImagined = 1024

// forked judges the rounds together with those in which tests of counters go the other way, as far
// as these come back. Where a counter decides what goes into a register, that counts as one if it
// does not surely stay as it is for so many rounds.
func (f *Follower) forked(c *counting, now *Head, rounds uint64) *counting {
	tried, behind := map[node]bool{}, map[node][]node{}
	for at, ok := c.fork(tried, rounds); ok; at, ok = c.fork(tried, rounds) {
		tried[at] = true
		more := f.otherwise(c, now, at, behind[at])
		if more == nil {
			continue
		}
		for n := range more.tests {
			if c.tests[n] == nil {
				behind[n] = append(slices.Clone(behind[at]), at)
			}
		}
		c = more
	}
	return c
}

// fork finds a test of a counter that has gone one way only, the lowest, for the sake of repetition.
func (c *counting) fork(tried map[node]bool, rounds uint64) (at node, ok bool) {
	for n, t := range c.tests {
		if t.tainted && !t.clocked && t.ways != 3 && !tried[n] && (t.jumps || c.sure(t) <= rounds) && (!ok || n.before(at)) {
			at, ok = n, true
		}
	}
	return at, ok
}

func (n node) before(o node) bool { return n.pc < o.pc || n.pc == o.pc && n.sp < o.sp }

// otherwise judges the rounds together with those in which a test, and those that must do so before
// it is reached, go the other way; nil if that shows nothing.
func (f *Follower) otherwise(c *counting, now *Head, at node, behind []node) *counting {
	steps, execs, guessed := len(f.steps), len(f.execs), maps.Clone(f.guessed)
	if !c.tests[at].jumps {
		f.loose[at] = true
		if more := f.judge(c.now); more != nil {
			return more
		}
		delete(f.loose, at)
		return nil
	}
	f.jumps = append(f.jumps, steps)
	if end := f.imagine(c, now, append(slices.Clone(behind), at)); end != nil {
		if more := f.judge(end); more != nil {
			return more
		}
	}
	f.jumps = f.jumps[:len(f.jumps)-1]
	f.steps, f.execs, f.guessed = f.steps[:steps], f.execs[:execs], guessed
	return nil
}

// imagining is a thread whose way is computed, not run.
type imagining struct {
	f     *Follower
	c     *counting // what the rounds so far have shown
	first *Head     // of the loop
	turns []node    // the tests that go the other way in the round under way
	left  int       // blocks that may yet be imagined
}

// imagine appends rounds to those that were followed, from now on: three times one in which the
// tests go the other way, and one in which they do not. It returns where they end, nil if they do
// not come back, or if it cannot be told where they lead.
func (f *Follower) imagine(c *counting, now *Head, turns []node) *Head {
	m := imagining{f: f, c: c, first: c.head(c.starts[0]), left: mostImagined - (len(f.steps) - f.real)}
	f.w.begin(f.prog, now)
	f.w.imagines = true
	h := *now
	for range leastRounds {
		for _, m.turns = range [][]node{turns, nil} {
			if !m.round(&h) || len(m.turns) > 0 {
				return nil
			}
		}
	}
	return &h
}

// round goes from the loop's first block to it; h is where the thread is.
func (m *imagining) round(h *Head) bool {
	for {
		if m.left--; m.left < 0 || !m.block(h) {
			return false
		}
		if h.PC == m.first.PC && h.Regs[x86.RSP] == m.first.Regs[x86.RSP] {
			m.arrives(h)
			return true
		}
	}
}

// arrives takes what is not known at the loop's head to differ from round to round.
func (m *imagining) arrives(h *Head) {
	for r := range h.Regs {
		if m.f.w.known>>r&1 == 0 {
			h.Regs[r] = ^m.first.Regs[r]
			m.f.w.regs[r] = h.Regs[r]
			m.f.w.lows &^= 1 << r
		}
	}
}

// block goes through a block, and on to the head of the next one.
func (m *imagining) block(h *Head) bool {
	f := m.f
	s := step{head: *h, first: len(f.execs)}
	for ends := false; !ends; ends = ends || h.PC == m.first.PC {
		in, ok := f.prog.Decode(h.PC)
		if !ok || !harmless(in) {
			return false
		}
		to, known := f.w.destination(in)
		if !f.run(in, h.PC) {
			return false
		}
		x := &f.execs[len(f.execs)-1]
		if !m.called(x, to, known) {
			return false
		}
		ends, s.head.End = in.Branch != x86.BranchNone, h.PC+uint64(in.Len)
		if h.PC, ok = m.next(x, node{h.PC, s.head.Regs[x86.RSP]}, to, known); !ok {
			return false
		}
	}
	s.last = len(f.execs)
	f.steps = append(f.steps, s)
	h.Regs = f.w.regs
	return f.w.known>>x86.RSP&1 != 0
}

// called is what a system call leaves: others than sched_yield, and those in which the thread only
// waits, are not imagined. These return as if what they wait for had happened.
func (m *imagining) called(x *exec, number uint64, known bool) bool {
	if x.in.Branch != x86.BranchSyscall {
		return true
	}
	x.sleeps = number != schedYield && !x.clock
	m.f.w.set(x86.RAX, 0, true)
	return known && (!x.sleeps || m.waits(number))
}

// Numbers of system calls (syscall_64.tbl), and operations of futex (include/uapi/linux/futex.h).
const (
	schedYield, nanosleep, futex, clockNanosleep = 24, 35, 202, 230
	futexWait, futexWaitBitset, futexCommand     = 0, 9, 0x7f
)

// waits reports whether a system call does nothing but wait.
func (m *imagining) waits(number uint64) bool {
	switch number {
	case nanosleep, clockNanosleep:
		return true
	case futex:
		op, ok := m.f.w.reg(x86.RSI)
		return ok && (op&futexCommand == futexWait || op&futexCommand == futexWaitBitset)
	}
	return false
}

// next is where the thread goes from an instruction.
func (m *imagining) next(x *exec, at node, to uint64, known bool) (uint64, bool) {
	in, next := x.in, x.pc+uint64(x.in.Len)
	switch in.Branch {
	case x86.BranchSyscall:
		return next, true
	case x86.BranchCond:
		if m.way(in, at) == 2 {
			return in.Target(x.pc), true
		}
		return next, true
	}
	return x.leads(to, known)
}

// way is the way that a test goes (branch.ways). One that a counter decides goes as it went, but for
// those that are to go the other way now. What cannot be told is noted: it must turn out that a
// counter decides it.
func (m *imagining) way(in *x86.Inst, at node) uint8 {
	t := m.c.tests[at]
	if i := slices.Index(m.turns, at); i >= 0 {
		m.turns = slices.Delete(slices.Clone(m.turns), i, i+1)
		return 3 - t.ways
	}
	c := m.f.w.flags.under(in.Cond)
	switch {
	case t != nil && t.ways != 3 && (t.tainted || c.width == 0 || !c.tells()):
		return t.ways
	case c.width == 0 || !c.tells():
		m.f.guessed[at] = true
		return 1
	case c.holds():
		return 2
	}
	return 1
}
