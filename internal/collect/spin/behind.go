package spin

import "lime/internal/x86"

// What a thread does when it has left its loop (doc.go, Locks).

// mostBehind is how many instructions are read behind a loop, on all ways together: a lock's attempt
// that is farther away is not found, and to wait for it is to wait for others' work. That of
// std::atomic, compiled without optimisation, is some 150 away, and a pause of 200 rounds is 600.
const mostBehind = 1024

// behind reads the code behind a loop in which a word is looked at.
type behind struct {
	word  place
	held  uint64        // what the loop finds there
	heads map[node]bool // where the thread is in its loop again
	been  map[node]bool // tests of what is not known, behind which both ways have been gone
	left  int           // instructions that may yet be read
	sets  uint64        // what the attempts to which ways have led set
}

// outcome is where a way behind a loop leads.
type outcome uint8

const (
	goesBack outcome = iota // to the loop
	takesIt
	leads // anywhere else, or too far
)

// and is where two ways lead together: the lock is taken on each that does not go back.
func (o outcome) and(p outcome) outcome { return max(o, p) }

// hiding is a program of which one word is not known.
type hiding struct {
	Program
	word place
}

func (p hiding) Load(addr uint64, n int) (uint64, bool) {
	if p.word.overlaps(place{addr, uint8(n)}) {
		return 0, false
	}
	return p.Program.Load(addr, n)
}

// holding is a program in which that word holds something else.
type holding struct {
	hiding
	value uint64
}

func (p holding) Load(addr uint64, n int) (uint64, bool) {
	if p.word == (place{addr, uint8(n)}) {
		return p.value, true
	}
	return p.hiding.Load(addr, n)
}

func (p place) overlaps(o place) bool {
	return p.addr < o.addr+uint64(o.n) && o.addr < p.addr+uint64(p.n)
}

// takesBehind notes which of the places that a loop watches are taken behind it.
func (f *Follower) takesBehind(round []step, list []Watch) {
	for i := range list {
		if w := &list[i]; !w.Stack && !w.Takes {
			w.Takes = f.takes(round, w)
		}
	}
}

// takes reports whether who leaves a round of a loop because of what a word holds then tries to take
// that. Who has it has taken it in the same way: so what would be set is set as long as the loop goes
// round.
func (f *Follower) takes(round []step, w *Watch) bool {
	b := behind{word: place{w.Addr, uint8(w.Bytes)}, held: w.Value, heads: map[node]bool{}, been: map[node]bool{}, left: mostBehind}
	if w.Value == 0 {
		return false
	}
	out := round[0].head.Regs[x86.RSP]
	for i := range round {
		out = max(out, round[i].head.Regs[x86.RSP])
	}
	for i := range round {
		if h := &round[i].head; h.Regs[x86.RSP] == out {
			b.heads[node{h.PC, out}] = true
		}
	}
	y := way{}
	y.begin(hiding{f.prog, b.word}, &round[0].head)
	y.holdsAlready(w)
	execs := f.execs[round[0].first:round[len(round)-1].last]
	for i := range execs { // what stays unknown from round to round
		y.goes(execs[i].in, execs[i].pc)
	}
	all, undecided := goesBack, map[int]bool{}
	for i := range execs {
		x := &execs[i]
		if x.in.Branch == x86.BranchCond && y.undecided(x.in) {
			undecided[i] = true
			_, other := goesOn(execs, i)
			if all = all.and(b.leads(y.apart(), other)); all == leads {
				return false
			}
		}
		y.goes(x.in, x.pc)
	}
	return all == takesIt && f.leaves(round, undecided, b.word, w.Value&^b.sets)
}

// goesOn is where a round goes from a branch, and where it does not.
func goesOn(execs []exec, i int) (on, other uint64) {
	x := &execs[i]
	on, other = execs[(i+1)%len(execs)].pc, x.in.Target(x.pc)
	if other == on {
		other = x.pc + uint64(x.in.Len)
	}
	return on, other
}

// leaves reports whether a round is left by one of some branches if nothing happens but that a word
// holds something else: who waits until more has been stored there than somebody has taken away
// waits for that.
func (f *Follower) leaves(round []step, by map[int]bool, word place, value uint64) bool {
	y := way{}
	y.begin(holding{hiding{f.prog, word}, value}, &round[0].head)
	execs := f.execs[round[0].first:round[len(round)-1].last]
	for range 2 { // what a round finds may be looked at in the next one
		for i := range execs {
			x := &execs[i]
			if x.in.Branch == x86.BranchCond && by[i] && !y.undecided(x.in) {
				to := x.pc + uint64(x.in.Len)
				if y.w.flags.under(x.in.Cond).holds() {
					to = x.in.Target(x.pc)
				}
				if on, _ := goesOn(execs, i); to != on {
					return true
				}
			}
			y.goes(x.in, x.pc)
		}
	}
	return false
}

// holdsAlready takes a register for a constant that has held, in front of the loop, what the word
// holds: somebody else has stored the same there.
func (y *way) holdsAlready(w *Watch) {
	for r := range y.ones {
		if low(y.w.regs[r], uint8(w.Bytes)) == w.Value {
			y.ones[r] = w.Value
		}
	}
}

// undecided reports whether it is not known which way a branch goes.
func (y *way) undecided(in *x86.Inst) bool {
	c := y.w.flags.under(in.Cond)
	return c.width == 0 || !c.tells()
}

// leads is where the thread comes that goes on at an address.
func (b *behind) leads(y *way, pc uint64) outcome {
	p := path{b: b, y: y}
	if p.back(pc) {
		return goesBack
	}
	a, ok := y.attempt(pc, p.next)
	switch {
	case !ok:
		return p.all
	case a.word == b.word.addr && a.sets != 0 && a.sets&b.held == a.sets && !a.clears:
		b.sets |= a.sets
		return p.all.and(takesIt)
	}
	return leads
}

// path is one way behind a loop.
type path struct {
	b   *behind
	y   *way
	all outcome // of the ways that part from it
}

// back reports whether the thread is in its loop again.
func (p *path) back(pc uint64) bool {
	sp, ok := p.y.w.reg(x86.RSP)
	return ok && p.b.heads[node{pc, sp}]
}

// next is where an instruction leads; false if the way ends there.
func (p *path) next(g *gone) (pc uint64, going bool) {
	b := p.b
	ok := b.left > 0 && !g.visible
	b.left--
	switch in := g.in; {
	case in.Branch != x86.BranchCond:
		to, known := g.leads(g.to, g.known)
		pc, ok = to, ok && known
	case p.y.undecided(in):
		sp, _ := p.y.w.reg(x86.RSP)
		at := node{g.pc, sp}
		if b.been[at] {
			return 0, false
		}
		b.been[at] = true
		if ok {
			p.all = p.all.and(b.leads(p.y.apart(), in.Target(g.pc)))
		}
		pc = g.pc + uint64(in.Len)
	case p.y.w.flags.under(in.Cond).holds():
		pc = in.Target(g.pc)
	default:
		pc = g.pc + uint64(in.Len)
	}
	if !ok {
		p.all = leads
	}
	return pc, p.all != leads && !p.back(pc)
}
