package spin

import (
	"maps"
	"math/bits"
	"slices"
	"strings"

	"lime/internal/collect/busywait"
	"lime/internal/x86"
)

// Loops with a counter (doc.go, Counting).

// Counting judges the rounds so far: from each arrival at the first block to the next. It returns
// nil if they do not prove that the loop waits, for so many instructions at least.
func (f *Follower) Counting(now *Head, instrs uint64) *Loop {
	execs := len(f.execs)
	f.real, f.jumps, f.guessed, f.loose = len(f.steps), f.jumps[:0], map[node]bool{}, map[node]bool{}
	defer func() { f.steps, f.execs = f.steps[:f.real], f.execs[:execs] }()
	c := f.judge(now)
	if c == nil || c.leavesResult() {
		return nil
	}
	round, seen := uint64(execs-f.steps[f.base].first)/uint64(len(c.starts)-1), c.seen()
	l := f.forked(c, now, instrs/max(round, 1)).loop()
	if l != nil && slices.ContainsFunc(f.execs[execs:], func(x exec) bool { return x.sleeps }) {
		l.Sleeps, l.Rounds = true, seen
	}
	if l == nil || l.Rounds <= instrs/max(l.Instrs, 1) {
		return nil
	}
	l.Seen = min(l.Rounds, seen)
	return l
}

// judge judges rounds; nil if they do not show a loop that counts only.
func (f *Follower) judge(now *Head) *counting {
	c := &counting{f: f, tests: map[node]*branch{}, dirty: map[place]bool{}, affineAt: map[place]bool{},
		clockAt: map[place]bool{}}
	if !c.rounds(now) || !c.changes() || carriesVectors(c.byRounds()) {
		return nil
	}
	passes := 1
	if readsClock(c.execs()) {
		passes = 2 // the first one finds what of the clock a round leaves for the next
	}
	for range passes {
		before := c.ofClock()
		clear(c.tests)
		for k := range c.starts[:len(c.starts)-1] {
			if !c.round(k) {
				return nil
			}
		}
		if !c.settled(before) {
			return nil
		}
	}
	for at := range f.guessed {
		if t := c.tests[at]; t == nil || !t.tainted {
			return nil
		}
	}
	return c
}

// counting follows what depends on counters through the rounds.
type counting struct {
	f        *Follower
	starts   []int           // step at which each round starts, and the end of the last one
	now      *Head           // behind the last step
	written  []place         // by the loop
	varies   map[access]bool // loads of what the loop has changed: the same instruction found another value there
	stays    map[access]int  // how often a load has found the same as before, by then
	differ   x86.RegSet      // registers that differ from round to round
	followed x86.RegSet      // tainted where the thread stands
	tainted  x86.RegSet      // registers that hold something computed from a counter
	affine   x86.RegSet      // of these: a counter plus something that stays
	clocked  x86.RegSet      // of the tainted ones: computed from the clock, and from no counter
	loaded   x86.RegSet      // registers that hold something computed from memory that the loop does not change
	dirty    map[place]bool  // places of the stack that hold something tainted
	fresh    map[place]bool  // places to which the round under way has stored: whether something loaded
	affineAt map[place]bool
	vectors  vectors
	clockAt  map[place]bool // of the dirty places: what is there is of the clock only
	flags    inputs
	tests    map[node]*branch
}

// access is an instruction that loads from a place.
type access struct {
	pc uint64
	at place
}

// node is an instruction at a depth of the stack: in a function that calls itself one instruction
// stands at many.
type node struct{ pc, sp uint64 }

// inputs is what goes into an instruction.
type inputs struct {
	tainted, affine, loaded bool
	clocked                 bool  // tainted by the clock only
	x                       *exec // of flags: what set them
}

// branch is what is known of a conditional branch.
type branch struct {
	ways            uint8 // bit 0: not taken, bit 1: taken
	tainted, affine bool
	clocked         bool // only the clock decides it, or what stays
	loaded          bool
	jumps           bool // it is a jump; else its outcome is kept in a register, or decides what goes there
	uneven          bool // what was compared has not moved by the same each time
	n, most         uint64
	inRound         uint64 // times in the round under way, of which most are the most
	cond            uint8
	seen            [3]compared // the last comparisons
}

// leastRounds must be seen: two differences of a counter, to see that they are equal.
const leastRounds = 3

// rounds finds the rounds.
func (c *counting) rounds(now *Head) bool {
	steps := c.f.steps
	if len(steps) == 0 {
		return false
	}
	h := &steps[c.f.base].head
	for i := c.f.base; i < len(steps); i++ {
		if s := &steps[i].head; s.PC == h.PC && s.Regs[x86.RSP] == h.Regs[x86.RSP] {
			c.starts = append(c.starts, i)
		}
	}
	c.now = now
	if now.PC == h.PC && now.Regs[x86.RSP] == h.Regs[x86.RSP] {
		c.starts = append(c.starts, len(steps))
	}
	return len(c.starts) > leastRounds
}

func (c *counting) head(i int) *Head {
	if i < len(c.f.steps) {
		return &c.f.steps[i].head
	}
	return c.now
}

// execs are the instructions of all rounds.
func (c *counting) execs() []exec {
	first, last := c.starts[0], c.starts[len(c.starts)-1]
	return c.f.execs[c.f.steps[first].first:c.f.steps[last-1].last]
}

// changes finds what differs from round to round; false if memory did that the loop does not write.
func (c *counting) changes() bool {
	first := c.head(c.starts[0])
	for _, at := range c.starts[1:] {
		h := c.head(at)
		for r := range h.Regs {
			if h.Regs[r] != first.Regs[r] {
				c.differ = c.differ.With(x86.Reg(r))
			}
		}
	}
	execs := c.execs()
	seen := map[place]bool{}
	for i := range execs {
		if s := execs[i].stores; execs[i].changes() && !seen[s] {
			seen[s] = true
			c.written = append(c.written, s)
		}
	}
	c.varies, c.stays = map[access]bool{}, map[access]int{}
	was := map[access]*exec{}
	for i := range execs {
		x := &execs[i]
		if x.loads.n == 0 {
			continue
		}
		a := access{x.pc, x.loads}
		if y := was[a]; y != nil && (y.loaded != x.loaded || x.secret) {
			if !c.writes(x.loads) {
				return false
			}
			c.varies[a] = true
		}
		was[a] = x
		c.stays[a]++
	}
	return !c.differ.Has(x86.RSP)
}

// writes reports whether the loop stores to a place.
func (c *counting) writes(p place) bool {
	return slices.ContainsFunc(c.written, func(s place) bool {
		return p.addr < s.addr+uint64(s.n) && s.addr < p.addr+uint64(p.n)
	})
}

// round follows the k-th round; false if a counter is used for what it may not be used for.
func (c *counting) round(k int) bool {
	c.begins(c.starts[k])
	for i := c.starts[k]; i < c.starts[k+1]; i++ {
		s := &c.f.steps[i]
		execs := c.f.execs[s.first:s.last]
		for j := range execs {
			if !c.instruction(&execs[j], s) {
				return false
			}
		}
		if n := len(execs); n > 0 && !c.goesOn(&execs[n-1], s, c.head(i+1)) {
			return false
		}
	}
	return true
}

// begins begins a round at a step.
func (c *counting) begins(at int) {
	if at == c.f.real {
		c.followed = c.tainted
	}
	if slices.Contains(c.f.jumps, at) { // from where the thread stands, once more
		c.tainted |= c.followed
		for _, t := range c.tests {
			t.seen = [3]compared{}
		}
	}
	c.affine |= c.differ &^ c.tainted
	c.tainted |= c.differ
	c.fresh = map[place]bool{}
	for _, t := range c.tests {
		t.inRound = 0
	}
}

// instruction follows one instruction.
func (c *counting) instruction(x *exec, s *step) bool {
	in := x.in
	if in.HasMem && in.Mem.Bytes > 0 && (c.tainted.Has(in.Mem.Base) || c.tainted.Has(in.Mem.Index)) {
		return false
	}
	from := c.inputs(x)
	if in.FlagsRead != 0 && in.Branch == x86.BranchNone && c.flags.tainted {
		if !c.taken(x, s) {
			return false
		}
		if c.flags.clocked || c.f.loose[x.at(s)] {
			from.clocked = c.flags.clocked && (from.clocked || !from.tainted)
			from.tainted, from.affine = true, false
		}
	}
	if in.FlagsRead != 0 && in.Branch == x86.BranchNone {
		from.loaded = from.loaded || c.flags.loaded
	}
	if in.Branch == x86.BranchRet && from.tainted {
		return false
	}
	if from.tainted && x.stores.n > 0 {
		if x.tries || in.Lock || x.stores.addr-s.head.Regs[x86.RSP]+redZone >= stackReach {
			return false
		}
		c.dirty[x.stores], c.affineAt[x.stores], c.clockAt[x.stores] = true, from.affine, from.clocked
	} else if x.stores.n > 0 {
		delete(c.dirty, x.stores)
	}
	c.refresh(x, from.loaded)
	c.tainted &^= in.Writes
	c.affine &^= in.Writes
	c.clocked &^= in.Writes
	c.loaded &^= in.Writes
	c.vectors.leaves(in, from)
	if from.tainted {
		c.tainted |= in.Writes
	}
	if from.affine {
		c.affine |= in.Writes
	}
	if from.clocked {
		c.clocked |= in.Writes
	}
	if from.loaded {
		c.loaded |= in.Writes
	}
	if in.FlagsWrite != 0 {
		if in.FlagsWrite&x86.StatusFlags != x86.StatusFlags { // inc, dec: CF stays
			from.clocked = from.clocked && (c.flags.clocked || !c.flags.tainted)
			from.tainted = from.tainted || c.flags.tainted
		}
		from.x = x
		c.flags = from
	}
	return true
}

// refresh notes what an instruction stores to, and whether it is computed from loaded.
func (c *counting) refresh(x *exec, loaded bool) {
	if x.stores.n == 0 {
		return
	}
	maps.DeleteFunc(c.fresh, func(p place, _ bool) bool {
		return p.addr < x.stores.addr+uint64(x.stores.n) && x.stores.addr < p.addr+uint64(p.n)
	})
	if !x.tries {
		c.fresh[x.stores] = loaded
	}
}

// inputs is what an instruction computes from.
func (c *counting) inputs(x *exec) (from inputs) {
	in := x.in
	if x.clock {
		return inputs{tainted: true, clocked: true}
	}
	if whole, _ := busywait.Clears(in); whole || in.Branch == x86.BranchSyscall { // what sched_yield returns is always the same
		return from
	}
	reads := in.Reads
	if in.HasMem && in.Mem.Bytes > 0 {
		reads &^= c.addressOnly(in)
	}
	if x.stores.n > 0 || x.loads.n > 0 {
		reads &^= 1 << x86.RSP
	}
	n := bits.OnesCount16(uint16(reads & c.tainted))
	if in.VecReads&c.vectors.tainted != 0 && !busywait.ClearsVector(in) {
		n++
	}
	from.affine = reads&c.tainted&^c.affine == 0
	from.loaded = reads&c.loaded != 0 || in.VecReads&c.vectors.loaded != 0
	from.clocked = reads&c.tainted&^c.clocked == 0 && in.VecReads&c.vectors.tainted&^c.vectors.clocked == 0
	if x.loads.n > 0 {
		stored, known := c.fresh[x.loads]
		switch a := (access{x.pc, x.loads}); {
		case c.dirty[x.loads]:
			n++
			from.affine, from.clocked = from.affine && c.affineAt[x.loads], from.clocked && c.clockAt[x.loads]
		case known: // what has been stored there
			from.loaded = from.loaded || stored
		case c.varies[a]:
			n++
			from.clocked = false
		case !c.writes(x.loads):
			from.loaded = true
		case c.stays[a] < leastRounds: // whether the loop changes it is not seen yet
			n++
			from.affine, from.clocked = false, false
		}
	}
	from.tainted = n > 0
	from.affine = from.affine && n == 1 && keepsAffine(in.Name)
	from.clocked = from.clocked && n > 0
	return from
}

// addressOnly are the registers that an instruction reads for its address and for nothing else.
func (c *counting) addressOnly(in *x86.Inst) (s x86.RegSet) {
	s = s.With(in.Mem.Base).With(in.Mem.Index)
	if in.HasModRM {
		s &^= 1 << in.RegField()
	}
	return s
}

// keepsAffine lists the operations on a counter and what stays whose value moves by the same each
// round, if the counter does; those of the flags among them compare it.
func keepsAffine(name string) bool {
	switch name {
	case "mov", "movzx", "movsx", "movsxd", "lea", "add", "sub", "inc", "dec", "cmp", "test", "push", "pop":
		return true
	}
	return false
}

// branch notes which way a block's last instruction went.
func (c *counting) goesOn(x *exec, s *step, next *Head) bool {
	switch x.in.Branch {
	case x86.BranchLoop, x86.BranchTxn:
		return false
	case x86.BranchJumpInd, x86.BranchCallInd:
		return x.in.HasMem || c.tainted&x.in.Reads == 0
	case x86.BranchCond:
	default:
		return true
	}
	way, to := uint8(1), x.in.Target(x.pc)
	if to == x.pc+uint64(x.in.Len) {
		return true // it leads there anyway
	}
	if next.PC == to {
		way = 2
	}
	c.tested(x, s, way).jumps = true
	return true
}

// taken notes a condition that is kept in a register or decides what goes there (setcc, cmov): as
// long as it is sure to stay as it is, it makes nothing differ.
func (c *counting) taken(x *exec, s *step) bool {
	if !strings.HasPrefix(x.in.Name, "set") && !strings.HasPrefix(x.in.Name, "cmov") {
		return false // adc and its like
	}
	c.tested(x, s, 1)
	return true
}

// tested notes which way a condition went.
func (c *counting) tested(x *exec, s *step, way uint8) *branch {
	t := c.tests[x.at(s)]
	if t == nil {
		t = &branch{affine: true, clocked: true, cond: x.in.Cond}
		c.tests[x.at(s)] = t
	}
	f := &c.flags
	t.ways |= way
	t.tainted = t.tainted || f.tainted
	t.affine = t.affine && f.affine
	t.clocked = t.clocked && (f.clocked || !f.tainted)
	t.loaded = t.loaded || f.loaded && !f.tainted
	t.n++
	t.inRound++
	t.most = max(t.most, t.inRound)
	t.seen[0], t.seen[1] = t.seen[1], t.seen[2]
	t.seen[2] = compared{}
	if y := f.x; y != nil {
		t.seen[2] = y.compared
	}
	if a := t.seen[0]; a.width != 0 {
		_, even := t.moves()
		t.uneven = t.uneven || !even
	}
	return t
}

// at is where an instruction of a step stands.
func (x *exec) at(s *step) node { return node{x.pc, s.head.Regs[x86.RSP]} }

// loop makes the loop of what was found.
func (c *counting) loop() *Loop {
	l := &Loop{Rounds: c.lasts()}
	hangs, outside := false, false // on memory; and where the loop can be left
	for at, t := range c.tests {
		decides := t.loaded && !t.tainted && t.ways != 3 && t.n >= leastRounds
		hangs, outside = hangs || decides, outside || decides && at.sp == c.head(c.starts[0]).Regs[x86.RSP]
		l.Clock = l.Clock || t.clocked && t.tainted && t.ways != 3
	}
	if !hangs || l.Rounds == 0 || l.Clock && (l.Rounds != Endless || !outside) {
		return nil
	}
	l.Fixed = l.Clock
	l.Watches = watches(c.execs(), c.head(c.starts[0]).Regs[x86.RSP])
	if len(l.Watches) == 0 || len(l.Watches) > mostWatches {
		return nil
	}
	c.describe(l)
	return l
}

// lasts is how often the loop surely goes round before a counter may end it.
func (c *counting) lasts() uint64 {
	rounds := uint64(Endless)
	for at, t := range c.tests {
		if t.tainted && !t.clocked && t.ways != 3 && !c.f.loose[at] {
			rounds = min(rounds, c.sure(t))
		}
	}
	return rounds
}

// seen is how often it surely goes round before it does what it was not seen to do, or gives its
// core away.
func (c *counting) seen() uint64 {
	if slices.ContainsFunc(c.execs(), func(x exec) bool { return x.in.Branch == x86.BranchSyscall }) {
		return 0
	}
	return c.lasts()
}

// sure is for how many rounds a test surely goes as it went.
func (c *counting) sure(t *branch) uint64 {
	if c.f.real == len(c.f.steps) {
		return t.rounds() * uint64(len(c.starts)-1) / t.n
	}
	return t.rounds() / t.most // how often the thread comes to it is not known
}

// describe lists the loop's code.
func (c *counting) describe(l *Loop) {
	n, _ := slices.BinarySearch(c.starts, c.f.real)
	l.Instrs = uint64(c.f.steps[c.starts[n]-1].last-c.f.steps[c.starts[0]].first) / uint64(n)
	l.Below = below(c.f.steps[c.starts[0]:])
	seen := map[uint64]bool{}
	for _, s := range c.f.steps[c.starts[0]:c.starts[n]] {
		l.Stops = append(l.Stops, s.head.PC)
		for _, pc := range append([]uint64{s.head.PC}, s.then...) {
			if !seen[pc] {
				seen[pc] = true
				l.Blocks = append(l.Blocks, pc)
			}
		}
	}
	last := c.f.steps[c.starts[n-1]:c.starts[n]]
	for i := range last {
		l.Round = append(append(l.Round, last[i].head.PC), last[i].then...)
	}
	c.f.takesBehind(c.f.steps[c.starts[0]:c.starts[len(c.starts)-1]], l.Watches)
	l.Pure = l.Rounds == Endless && pure(c.f.execs[last[0].first:last[len(last)-1].last], c.tainted, c.dirty)
	for _, s := range c.f.steps[c.f.real:] {
		if !seen[s.head.PC] {
			seen[s.head.PC] = true
			l.Beyond = append(l.Beyond, Code{s.head.PC, s.head.End})
		}
	}
}

// rounds is how often the branch surely goes on as it went.
func (t *branch) rounds() uint64 {
	c, even := t.moves()
	if !t.affine || t.uneven || !even || t.n < leastRounds {
		return 0
	}
	return c.rounds()
}

// moves is the last comparison, if the last three moved by the same, on one side.
func (t *branch) moves() (c comparison, even bool) {
	a, b, d := t.seen[0], t.seen[1], t.seen[2]
	c = comparison{moves: d.a, stays: d.b, step: d.a - b.a, width: d.width, cond: t.cond, partly: d.partly, signed: d.signed}
	switch {
	case a.width != d.width || b.width != d.width:
		return c, false
	case a.b == b.b && b.b == d.b && b.a-a.a == d.a-b.a:
		return c, true
	case a.a == b.a && b.a == d.a && b.b-a.b == d.b-b.b:
		c.moves, c.stays, c.step = d.b, d.a, d.b-b.b
		return c, true
	}
	return c, false
}
