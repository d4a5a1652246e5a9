package spin

import (
	"slices"

	"lime/internal/collect/busywait"
	"lime/internal/x86"
)

// Code and memory of the program, as a Follower needs them.
type Program interface {
	// Decode is the instruction at an address.
	Decode(pc uint64) (*x86.Inst, bool)
	// Load is what n bytes (1 to 8) of memory hold.
	Load(addr uint64, n int) (uint64, bool)
}

// Head is a thread at the head of a basic block.
type Head struct {
	PC, End uint64 // of the block's code
	Regs    [16]uint64
	FSBase  uint64
}

// Watch is a place in memory that a loop reads and does not change, and what it held.
type Watch struct {
	Addr  uint64
	Bytes int
	Value uint64
	Stack bool   // it is on the thread's own stack
	PC    uint64 // of the first instruction that loads it
	Takes bool   // it is a lock's: the loop takes it if it finds it free, or the code behind the loop does
}

// Code is a stretch of code.
type Code struct{ Lo, Hi uint64 }

// Loop is a loop in which a thread waits, as far as the loop itself can tell.
type Loop struct {
	Fixed   bool     // the thread's state repeats: it cannot leave by itself, but for the clock
	Clock   bool     // the state repeats but for what the clock says, and that may end the loop
	Rounds  uint64   // if not Fixed: how often it surely goes round; Endless if nothing in it ends it
	Seen    uint64   // how often it surely goes round as it was seen to, and keeps its core
	Blocks  []uint64 // the heads of the blocks of a round in order, or, if not Fixed, of those seen
	Stops   []uint64 // those of them at whose heads the thread was looked at
	Beyond  []Code   // what else is in it, if not Fixed: the thread was not seen there, and would come back
	Round   []uint64 // the heads of the blocks of one round, in order
	Instrs  uint64   // of a round
	Watches []Watch
	// Below is how far the stack pointer stands, at the head of a block that was seen or imagined, below
	// where it is in the loop's outermost function.
	Below map[uint64]uint64
	// Sleeps says that what a counter ends are only the rounds: the thread then waits in the system,
	// and goes round again.
	Sleeps bool
	// Pure says that no register and no place on the stack is carried from one round into the next,
	// but for counters that end nothing, so that who has gone the same way round once more has
	// waited, whatever its registers held.
	Pure bool
}

// Endless is the number of rounds of a loop that nothing of its own ends.
const Endless = 1 << 62

// Limits of what is followed. They bound the time of a search, and decide nothing else: a loop with
// longer rounds, or with more places, is not proved to wait, and is work.
const (
	firstBlocks = 256  // blocks followed, unless the thread pauses on its way
	pauseBlocks = 1024 // then: rounds with 100 pauses within, of which a period shows after five at most
	mostBlocks  = 8192 // now and then: rounds with 1,000 pauses within
	patience    = 64   // blocks within which the thread must come back to where its rounds are thought to begin
	mostWatches = 256
	mostMoves   = 16 // rounds in a row in which a load moves on: the thread goes through data
)

// Follower follows one thread round a loop.
type Follower struct {
	prog  Program
	steps []step
	execs []exec
	w     walker
	// Brent's search for a period: the step compared with, and how many steps until the next one
	// takes its place.
	anchor, power int
	period        int // of the candidate, 0 if none; it is proved when it has gone by twice
	started       int // steps at which it was found
	pauses        bool
	base          int // step at which the rounds begin that are looked at
	rounds, look  int // how often it was there again; at how many its rounds are looked at next
	moved         moving
	chains        chains
	// While rounds are imagined (imagine.go):
	real    int           // steps that were followed
	jumps   []int         // steps at which it was gone on from where the thread stands
	guessed map[node]bool // tests of which it could not be told which way they go
	loose   map[node]bool // instructions by which what counters decide goes into registers
}

// moving counts the rounds in which some load at one instruction has moved on, the same way each
// time.
type moving struct {
	pc, addr uint64
	up       bool
	rounds   int
}

// sees notes a load, and reports whether its instruction has moved on too often. One instruction is
// watched at a time, the first that moves.
func (m *moving) sees(x *exec) bool {
	up := x.loads.addr > m.addr
	switch {
	case x.loads.n == 0 || m.rounds > 0 && x.pc != m.pc:
	case x.pc == m.pc && x.loads.addr != m.addr && (m.rounds == 0 || up == m.up):
		m.addr, m.up = x.loads.addr, up
		m.rounds++
	default:
		m.pc, m.addr, m.rounds = x.pc, x.loads.addr, 0
	}
	return m.rounds > mostMoves
}

// step is a block that was gone through.
type step struct {
	head        Head
	first, last int      // its instructions in execs
	then        []uint64 // blocks that ran right behind it
}

// New returns a follower of nobody.
func New(p Program) *Follower { return &Follower{prog: p} }

// Start begins anew; memory is used again.
func (f *Follower) Start() {
	*f = Follower{prog: f.prog, steps: f.steps[:0], execs: f.execs[:0], jumps: f.jumps[:0], power: 1}
}

// Steps is the number of blocks followed since Start.
func (f *Follower) Steps() int { return len(f.steps) }

// Tires reports whether the thread has been followed for long enough; more is whether a long search
// is wanted.
func (f *Follower) Tires(more bool) bool {
	n := len(f.steps)
	switch {
	case !f.pauses:
		return n >= firstBlocks
	case !more:
		return n >= pauseBlocks
	}
	return n >= mostBlocks
}

// Step tells of the block that the thread is about to go through; going is false if the block holds
// what no waiting loop does, or what cannot be told, and the thread need not be followed on. A loop
// is returned as soon as it is proved that the thread's state repeats, or that it surely goes round
// for so many instructions.
func (f *Follower) Step(h Head, instrs uint64) (l *Loop, going bool) {
	if l := f.repeats(&h); l != nil {
		return l, true
	}
	if f.comesBack(&h) {
		if l := f.Counting(&h, instrs); l != nil {
			return l, true
		}
	}
	s := step{head: h, first: len(f.execs)}
	f.w.begin(f.prog, &h)
	going = f.walk(h.PC, h.End)
	s.last = len(f.execs)
	f.steps = append(f.steps, s)
	return nil, going
}

// walk follows the instructions of a block.
func (f *Follower) walk(pc, end uint64) bool {
	for pc < end {
		in, ok := f.prog.Decode(pc)
		if !ok || !harmless(in) {
			return false
		}
		if !f.run(in, pc) {
			return false
		}
		f.pauses = f.pauses || in.Special == x86.SpecialPause || in.Branch == x86.BranchSyscall
		pc += uint64(in.Len)
	}
	return true
}

// Next lists where the thread may have gone from the last block, as far as that can be told without
// its registers.
func (f *Follower) Next() []uint64 {
	if len(f.execs) == 0 {
		return nil
	}
	x := &f.execs[len(f.execs)-1]
	next := x.pc + uint64(x.in.Len)
	switch x.in.Branch {
	case x86.BranchNone:
		return []uint64{next}
	case x86.BranchCond:
		return []uint64{next, x.in.Target(x.pc)}
	case x86.BranchJump, x86.BranchCall:
		return []uint64{x.in.Target(x.pc)}
	case x86.BranchRet:
		if x.loads.n == 8 {
			return []uint64{x.loaded}
		}
	}
	return nil
}

// Then tells that the thread has gone through another block since the last step, without having
// been looked at.
func (f *Follower) Then(pc, end uint64) bool {
	s := &f.steps[len(f.steps)-1]
	ok := f.walk(pc, end)
	s.last, s.then = len(f.execs), append(s.then, pc)
	return ok
}

// comesBack reports whether the thread is where its rounds began, often enough that it pays to look
// at them: each look costs as much as all rounds so far, so the next one comes when they are twice
// as many. Where it was not for as many steps as it took to get there, none began: it may go round
// an inner loop for long.
func (f *Follower) comesBack(h *Head) bool {
	n := len(f.steps)
	if n == 0 {
		return false
	}
	if b := &f.steps[f.base].head; b.PC != h.PC || b.Regs[x86.RSP] != h.Regs[x86.RSP] {
		if f.rounds == 0 && n >= 2*f.base+patience {
			f.base = n
		}
		return false
	}
	if f.rounds++; f.rounds == 1 && f.outwards() {
		return false
	}
	if f.rounds <= leastRounds || f.rounds < f.look {
		return false
	}
	f.look = 2 * f.rounds
	return true
}

// outwards has the rounds begin in the outermost function of the first one, and reports whether that
// is another place: where what a function returns to is known within the round, it is no state that
// the round began with.
func (f *Follower) outwards() bool {
	out := f.base
	for i := f.base; i < len(f.steps); i++ {
		if f.steps[i].head.Regs[x86.RSP] > f.steps[out].head.Regs[x86.RSP] {
			out = i
		}
	}
	moved := out != f.base
	if moved {
		f.base, f.rounds = out, 0
	}
	return moved
}

// repeats looks for a period (Brent's algorithm) in which state repeats; h is the state now, behind
// all steps.
func (f *Follower) repeats(h *Head) *Loop {
	n := len(f.steps)
	if n == 0 {
		return nil
	}
	if f.period == 0 {
		if a := &f.steps[f.anchor].head; a.PC == h.PC && a.Regs == h.Regs {
			f.period, f.started = n-f.anchor, n
		} else if n-f.anchor == f.power {
			f.anchor, f.power = n, 2*f.power
			return nil // the step at anchor comes now
		} else {
			return nil
		}
	}
	if n < f.started+f.period {
		if was := &f.steps[n-f.period].head; was.PC != h.PC || was.Regs != h.Regs {
			f.period, f.anchor, f.power = 0, n, 2*f.power
		}
		return nil
	}
	if was := &f.steps[n-f.period].head; was.PC == h.PC && was.Regs == h.Regs && f.sameLoads() {
		if l := f.fixed(); l != nil {
			return l
		}
	}
	f.period, f.anchor, f.power = 0, n, 2*f.power // a place on the stack counts, for one
	return nil
}

// sameLoads reports whether the last two periods loaded the same from the same places.
func (f *Follower) sameLoads() bool {
	n := len(f.steps)
	a, b := f.steps[n-2*f.period:n-f.period], f.steps[n-f.period:]
	for i := range b {
		x, y := f.execs[a[i].first:a[i].last], f.execs[b[i].first:b[i].last]
		if len(x) != len(y) {
			return false
		}
		for j := range y {
			if x[j].pc != y[j].pc || x[j].loads != y[j].loads || x[j].loaded != y[j].loaded || x[j].stores != y[j].stores {
				return false
			}
		}
	}
	return true
}

// fixed makes the loop of the last period; nil if it watches nothing.
func (f *Follower) fixed() *Loop {
	n := len(f.steps)
	round := f.steps[n-f.period:]
	execs := f.execs[round[0].first:round[len(round)-1].last]
	l := &Loop{Fixed: true, Rounds: Endless, Seen: Endless, Instrs: uint64(len(execs))}
	for i := range round {
		l.Blocks = append(append(l.Blocks, round[i].head.PC), round[i].then...)
		l.Stops = append(l.Stops, round[i].head.PC)
	}
	l.Round, l.Below = l.Blocks, below(round)
	l.Watches = watches(execs, round[0].head.Regs[x86.RSP])
	if len(l.Watches) == 0 || len(l.Watches) > mostWatches || readsClock(execs) || carriesVectors([][]exec{execs}) {
		return nil
	}
	l.Pure = pure(execs, 0, nil) || pure(fromLook(execs, l.Watches), 0, nil)
	f.takesBehind(round, l.Watches)
	return l
}

// fromLook is a round begun where the thread first looks at what may let it go: it may have been found
// within a pause, whose counter stands on the stack.
func fromLook(execs []exec, list []Watch) []exec {
	i := slices.IndexFunc(execs, func(x exec) bool {
		return x.loads.n > 0 && slices.ContainsFunc(list, func(w Watch) bool { return !w.Stack && w.PC == x.pc })
	})
	if i < 0 {
		return execs
	}
	return slices.Concat(execs[i:], execs[:i])
}

// below is Loop.Below of some steps.
func below(steps []step) map[uint64]uint64 {
	out, at := uint64(0), map[uint64]uint64{}
	for i := range steps {
		out = max(out, steps[i].head.Regs[x86.RSP])
	}
	for i := range steps {
		if h := &steps[i].head; at[h.PC] == 0 {
			at[h.PC] = out - h.Regs[x86.RSP]
		}
	}
	return at
}

// stackReach is how far above the stack pointer a thread's own frames are taken to lie. It only
// says which of the places watched gives a wait its name; all are watched.
const stackReach = 64 << 10

// watches lists the places that instructions load and do not store to.
func watches(execs []exec, sp uint64) (out []Watch) {
	seen := map[place]bool{}
	for i := range execs {
		if execs[i].changes() {
			seen[execs[i].stores] = true
		}
	}
	own := func(p place) bool { // written by the loop, in part at least
		for s := range seen {
			if p.addr < s.addr+uint64(s.n) && s.addr < p.addr+uint64(p.n) {
				return true
			}
		}
		return false
	}
	done := map[place]int{}
	for i := range execs {
		x := &execs[i]
		p := x.loads
		if p.n == 0 || own(p) {
			continue
		}
		k, ok := done[p]
		if !ok {
			k = len(out)
			done[p] = k
			out = append(out, Watch{p.addr, int(p.n), x.loaded, p.addr-sp+redZone < stackReach, x.pc, false})
		}
		out[k].Takes = out[k].Takes || x.takes
	}
	return out
}

// pure reports whether a round uses nothing that the round before left in registers or on the
// stack, but for counters.
func pure(execs []exec, counters x86.RegSet, counts map[place]bool) bool {
	var written, carried, lows x86.RegSet // lows: of which the lowest byte was written, at least
	var stored, early []place
	for i := range execs {
		x := &execs[i]
		reads, writes, ofBytes := busywait.Lowest(x.in)
		if ofBytes {
			carried |= reads&^(written|lows) | busywait.Addressed(x.in)&^written
		} else {
			carried, writes = carried|x.in.Reads&^written, x.in.Writes
		}
		if x.loads.n > 0 && !counts[x.loads] && !within(x.loads, stored) {
			early = append(early, x.loads)
		}
		if x.in.CondWrite {
			carried |= x.in.Writes &^ written
		}
		if lows |= writes; !ofBytes || x.in.Reads&x.in.Writes == 0 { // else it keeps the rest of a register
			written |= writes
		}
		if x.changes() {
			stored = append(stored, x.stores)
		}
	}
	for _, p := range early {
		for _, s := range stored {
			if p.addr < s.addr+uint64(s.n) && s.addr < p.addr+uint64(p.n) {
				return false
			}
		}
	}
	return carried&lows&^counters&^(1<<x86.RSP) == 0
}

func within(p place, list []place) bool {
	for _, s := range list {
		if p.addr >= s.addr && p.addr+uint64(p.n) <= s.addr+uint64(s.n) {
			return true
		}
	}
	return false
}

// Executed is the number of instructions followed since Start.
func (f *Follower) Executed() int { return len(f.execs) }

// Address is the place of the memory operand of an instruction at pc, by the registers at its head;
// 0 if it has none that can be told.
func Address(in *x86.Inst, pc uint64, h *Head) uint64 {
	w := walker{regs: h.Regs, known: 0xffff, fs: h.FSBase}
	addr, _ := w.address(&in.Mem, pc+uint64(in.Len))
	return addr
}
