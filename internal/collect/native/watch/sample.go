package watch

// From a tick of the clock to a watched access, and from a trap to a decision.

import (
	"slices"

	"golang.org/x/sys/unix"

	"lime/internal/perf"
	"lime/internal/waste"
	"lime/internal/waste/elem"
	"lime/internal/x86"
)

const (
	// mostSkipped is how many accesses of the wanted kind are passed at most: those of a short
	// loop's round or two, so that its slow instruction, where the clock mostly ticks, is not
	// preferred.
	mostSkipped = 8
	// mostLooked is how many instructions the way there may have: each is computed while the thread
	// stands.
	mostLooked = 64
	// mostBefore is how many instructions may lie before the first access: the round of a short
	// loop. Accesses that are further apart are sampled the more seldom, as they come.
	mostBefore = 16
	// mostIgnored is how many accesses may leave a point undecided (silent stores of others, loads
	// before the next store) before it is given up: each stops a thread for some ten microseconds.
	mostIgnored = 64
	// mostCalls is how many system calls a thread may make while something is watched for it: each
	// stops it twice, for as long together as a trap.
	mostCalls = 16
)

// want is what a sample is to be of.
type want struct {
	kinds         waste.Set
	stores, loads bool
}

// wantsOf are the samples that some kinds need: each is taken in its turn.
func wantsOf(kinds waste.Set) (list []want) {
	for _, w := range []want{
		{waste.Of(waste.DeadStore, waste.SilentStore), true, false},
		{waste.Of(waste.SilentLoad), false, true},
		{waste.Of(waste.FalseSharing), true, true},
	} {
		if w.kinds &= kinds; w.kinds != 0 {
			list = append(list, w)
		}
	}
	return list
}

// wanted is the next sample, of a line only if there is room for one.
func (t *Tracer) wanted(room bool) (want, bool) {
	for range t.wants {
		w := t.wants[t.turn%len(t.wants)]
		t.turn++
		if room || !w.kinds.Has(waste.FalseSharing) {
			return w, true
		}
	}
	return want{}, false
}

// tick takes a tick of a thread's clock: it leads the thread to an access of the wanted kind a
// little further on.
func (t *Tracer) tick(th *thread) {
	if th.target != nil {
		th.astray()
		t.cost.Strayed++
	}
	room := t.line == nil // a thread whose line has just come to its end leaves the next one to others
	t.lineTick(th.tid)
	chance := t.budget.chance(t.o.Period.Seconds(), t.cost.Ran, t.cost.Stopped)
	if t.rng.Float64() >= chance {
		t.cost.Left++
		return
	}
	t.budget.samples++
	t.unmade(th)
	if t.line != nil && t.line.stage != alone { // the register that leads is taken
		t.cost.Strayed++
		return
	}
	w, ok := t.wanted(room)
	if !ok {
		return
	}
	var regs unix.PtraceRegs
	if unix.PtraceGetRegs(th.tid, &regs) != nil {
		return
	}
	way := t.ahead(&regs, w)
	if len(way) == 0 {
		return
	}
	x := &target{step: way[t.rng.IntN(len(way))], ticks: 1 / chance, want: w}
	if x.pc == regs.Rip {
		t.arm(th, &regs, x)
		return
	}
	if trap, err := perf.OpenBreak(th.tid, x.pc, breakData); err == nil {
		x.trap, th.target = trap, x
	}
}

// astray gives up the access that a thread was led to: it has taken another way.
func (th *thread) astray() {
	if th.target != nil {
		th.target.trap.Close()
		th.target = nil
	}
}

// arrived takes a thread that has come to the access to which it was led.
func (t *Tracer) arrived(th *thread, late bool) {
	x := th.target
	if x == nil {
		return
	}
	th.astray()
	var regs unix.PtraceRegs
	if late || unix.PtraceGetRegs(th.tid, &regs) != nil || regs.Rip != x.pc {
		t.cost.Strayed++
		return
	}
	t.arm(th, &regs, x)
}

// choose finds the access of an instruction that a sample is taken of. Calls and returns access no
// data.
func choose(in *x86.Inst, regs *unix.PtraceRegs, w want, skip int) (access, bool) {
	if in.Branch == x86.BranchRet || in.Branch == x86.BranchCall || in.Branch == x86.BranchCallInd {
		return access{}, false
	}
	list := accesses(in, regs.Rip, regs)
	if in.Rep != 0 && skip > 0 {
		list = repeated(in, regs, skip)
	}
	for _, a := range list {
		if w.stores && a.writes || w.loads && a.reads {
			return a, true
		}
	}
	return access{}, false
}

// arm has all threads watch an access that one of them is about to make. Its own first trap says
// that it is made.
func (t *Tracer) arm(th *thread, regs *unix.PtraceRegs, x *target) {
	in, ok := t.instruction(regs.Rip)
	if !ok {
		return
	}
	a, ok := choose(&in, regs, x.want, x.skip)
	if !ok {
		return
	}
	sharing := x.kinds.Has(waste.FalseSharing)
	if sharing && t.line != nil { // another thread was there first
		t.cost.Strayed++
		return
	}
	for k := range waste.Kinds {
		if x.kinds.Has(k) {
			t.sums.sampled(k)
		}
	}
	at := t.host.Place(regs.Rip, regs)
	if sharing {
		t.beside(th.tid, a, at, x.ticks)
		return
	}
	slot := t.slots.place(t.rng.IntN)
	if slot < 0 {
		t.sums.missed(x.kinds, t.latest[th.tid], at, float64(a.bytes)*x.ticks)
		return
	}
	t.evict(slot)
	p := &point{watched: newWatched(a, uint64(slot), t.rng.IntN), store: x.stores, owner: th.tid, at: at, open: x.kinds,
		access: a, ticks: x.ticks, tolerance: t.o.Tolerance}
	p.before, _ = t.read(p.addr, p.bytes)
	t.slots.points[slot] = p
	all := p.watch(th.tid)
	for tid := range t.threads {
		if tid != th.tid && !p.watch(tid) {
			all = false
		}
	}
	if !all { // a finding might be refuted by who does not watch
		t.evict(slot)
	}
}

// unmade gives up points of a thread whose access was not made: a fault or a signal came first.
func (t *Tracer) unmade(th *thread) {
	for slot, p := range t.slots.points {
		if p != nil && p.owner == th.tid && !p.armed {
			t.drop(slot)
			t.cost.Strayed++
		}
	}
}

// watch has a thread watch a point: what others load of a value that was only loaded does not
// matter.
func (p *point) watch(tid int) bool { return p.add(tid, p.store || tid == p.owner) }

// evict gives up a point, if there is one: what happens at its place later speaks for it.
func (t *Tracer) evict(slot int) {
	if p := t.slots.points[slot]; p != nil {
		t.sums.missed(p.open, t.latest[p.owner], p.at, float64(p.access.bytes)*p.ticks)
		t.drop(slot)
	}
}

// drop frees a debug register.
func (t *Tracer) drop(slot int) {
	t.slots.points[slot].clear()
	t.slots.points[slot] = nil
}

// hit takes the trap of a watchpoint.
func (t *Tracer) hit(th *thread, slot int, late bool) {
	p := t.slots.points[slot]
	if p == nil {
		return
	}
	var regs unix.PtraceRegs
	switch {
	case late || unix.PtraceGetRegs(th.tid, &regs) != nil:
		t.evict(slot)
	case t.under(&p.watched, &regs): // it will trap again
	case p.armed:
		t.decide(slot, t.who(&p.watched, th.tid, &regs))
	case th.tid != p.owner: // before or behind the access? Nothing is claimed.
		t.conclude(p, p.not(p.open), nil)
		t.drop(slot)
	default:
		if p.value, p.armed = t.read(p.addr, p.bytes); !p.armed {
			t.evict(slot)
		} else if !p.store && p.value != p.before { // it is an instruction that loads and stores
			t.conclude(p, p.not(p.open), nil)
			t.drop(slot)
		}
	}
}

// who finds the instruction behind which a thread was stopped, and what it did to a point.
func (t *Tracer) who(p *watched, tid int, regs *unix.PtraceRegs) *touch {
	if in, ok := t.instruction(regs.Rip); ok && in.Rep != 0 && regs.Rcx != 0 {
		if x := within(t, p, tid, &in, regs); x != nil {
			return x
		}
	}
	if word, ok := t.read(regs.Rsp, 8); ok && (access{addr: regs.Rsp, bytes: 8}).overlap(p.addr, p.bytes) > 0 {
		if at, known := t.host.Before(word); known {
			if in, ok := t.instruction(at); ok && (in.Branch == x86.BranchCall || in.Branch == x86.BranchCallInd) {
				return &touch{thread: tid, call: true}
			}
		}
	}
	at, ok := t.host.Before(regs.Rip)
	if !ok {
		return &touch{thread: tid, unknown: true}
	}
	in, ok := t.instruction(at)
	if ok && in.Rep != 0 { // its last repetition
		if a, n, _, ok := crossed(&in, p, false, regs); ok {
			return t.touch(tid, &in, at, regs, a, n)
		}
	} else if ok {
		if x := t.matching(p, tid, &in, at, regs); x != nil {
			return x
		}
	}
	return &touch{thread: tid, unknown: true}
}

// matching is what an instruction did to a point. Registers that it has loaded may not be those any
// more by which it found its operand; if it has one operand only, it was that.
func (t *Tracer) matching(p *watched, tid int, in *x86.Inst, at uint64, regs *unix.PtraceRegs) *touch {
	before := *regs
	switch in.Name { // the stack pointer was another one before
	case "push":
		before.Rsp += 8
	case "pop":
		before.Rsp -= 8
	}
	list := accesses(in, at, &before)
	for _, a := range list {
		if n := a.overlap(p.addr, p.bytes); n > 0 {
			return t.touch(tid, in, at, regs, a, n)
		}
	}
	if len(list) == 1 && in.Branch == x86.BranchNone && in.Writes != 0 {
		a, n := list[0], list[0].bytes
		a.addr, a.bytes = p.around(n - 1)
		return t.touch(tid, in, at, regs, a, min(p.bytes, n))
	}
	return nil
}

// touch describes what an instruction did.
func (t *Tracer) touch(tid int, in *x86.Inst, at uint64, regs *unix.PtraceRegs, a access, bytes int) *touch {
	x := &touch{thread: tid, reads: a.reads, writes: a.writes, within: a, bytes: bytes,
		at: func() Place { return t.host.Place(at, regs) }}
	x.call = a.writes && (in.Branch == x86.BranchCall || in.Branch == x86.BranchCallInd)
	if a.writes && t.o.Tolerance > 0 {
		x.elem = t.elem(in, at)
	}
	return x
}

// elem says what an instruction stores: it and those that lead to it tell.
func (t *Tracer) elem(in *x86.Inst, at uint64) waste.Elem {
	const before = 16 // as many as most blocks have
	list := []x86.Inst{*in}
	for len(list) < before {
		prev, ok := t.host.Before(at)
		if !ok {
			break
		}
		x, ok := t.instruction(prev)
		if !ok || x.EndsBlock() {
			break
		}
		list, at = append(list, x), prev
	}
	slices.Reverse(list)
	if e := elem.Stored(list, int(in.Accesses(nil)[0].Bytes)); e != waste.Float80 { // one watchpoint sees but a part of those
		return e
	}
	return waste.Bytes
}

// decide judges a touch, and frees the register if the point is of no use any more.
func (t *Tracer) decide(slot int, x *touch) {
	p := t.slots.points[slot]
	value, ok := t.read(p.addr, p.bytes)
	x.value, x.unknown = value, x.unknown || !ok
	list, over := p.judge(x)
	t.conclude(p, list, x.at)
	if p.ignored++; over || p.ignored > mostIgnored {
		t.evict(slot)
	}
}

// conclude adds verdicts up.
func (t *Tracer) conclude(p *point, list []verdict, second func() Place) {
	for _, v := range list {
		at := p.at
		if v.fraction > 0 {
			at = second()
		}
		t.tell(&decision{kind: v.kind, thread: t.latest[p.owner], at: p.at, first: p.at, second: at,
			addr: p.access.addr, bytes: p.access.bytes, ticks: p.ticks, fraction: v.fraction})
		p.open &^= waste.Of(v.kind)
	}
}

// tell adds a decision up, and has the host know of waste while its thread still stands there.
func (t *Tracer) tell(d *decision) {
	weight := t.sums.decided(d)
	if d.fraction == 0 {
		return
	}
	at := d.second
	if d.kind == waste.FalseSharing { // either side may be the thread's own
		at = d.at
	}
	t.host.Wasted(t.lives[d.thread].TID, d.kind, at, uint64(weight/float64(d.bytes)+0.5))
}
