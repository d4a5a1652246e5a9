// Pass points: where all threads come past on their way to a spin loop.

package sim

import (
	"lime/internal/collect/busywait"
	"lime/internal/collect/spin"
	"lime/internal/engine"
	"lime/internal/section"
	"lime/internal/unit"
)

// Pass points: where all threads come past on their way to a spin loop, those who will wait and the
// one who lets them go.

// passes notes who comes past such a place.
type passes struct {
	loops      *loops
	memory     *memory
	operations *operations
	passPoints *passPoints
	spinners   *spinners
	segments   *segments
	cores      *cores
	eng        *engine.Engine
}

// passPoints are the places that threads pass on their way to loops in which others wait.
type passPoints struct {
	probes *probes
	points map[uint64]*point
}

// point is an instruction that every thread passes on its way to a spin loop,
// the one that ends the spinning too.
type point struct {
	waiting       int // threads that spin behind it
	early         int // of these: who came past before it was known; all who wait with them begin at the loop
	passes, parks int
	ordered       bool     // what they look at is looked at in order
	lock          bool     // who waits behind it waits for no section's end
	object        uint64   // for which threads have waited there
	several       bool     // and not all for the same one
	exits         []uint64 // blocks in which those go on who have waited there
	together      bool     // who lets others go there first, and then comes past, goes on with them
}

// worth reports whether it still pays to stop at the point: now and then
// somebody does spin behind it.
func (p *point) worth() bool { return p.waiting > 0 || p.passes < 1000+100*p.parks }

// passage is a thread's last way through the place in front of a spin loop. Whether it waits behind
// it, or lets others go, comes out later, and then its segment ends here.
type passage struct {
	at     uint64
	pc     uint64
	stack  []frameRef
	before segment // what the segment under way held up to here, if it has not been cut here
	cut    bool
	off    uint64 // for how long the thread had been off its core by then, since the segment began
}

// pointAt is the pass point at an address; it has a probe from now on.
func (ps *passPoints) pointAt(pc uint64) *point {
	p := ps.points[pc]
	if p == nil {
		p = &point{}
		ps.points[pc] = p
		ps.probes.setProbe(pc)
	}
	return p
}

func (p *point) park(s *spinner) {
	p.waiting++
	p.parks++
	if !s.passed {
		p.early++
	}
}

func (p *point) leave(s *spinner) {
	p.leftBy(s)
	p.waiting--
	if !s.passed {
		p.early--
	}
}

// passing notes that a thread comes past the place in front of a loop in which others spin:
// it will spin too, or release them. It reports whether the thread must wait for its turn.
func (ps *passes) passing(t *thread, pc uint64) (wait bool) {
	p := ps.passPoints.points[pc]
	if p == nil || !p.worth() || t.covered() {
		return false
	}
	if !ps.cores.first(t.here().core) {
		return true
	}
	p.passes++
	ps.seenPassing(t, pc, p)
	t.tried = ps.tried(t, pc)
	t.still.suspect = !p.ordered
	if p.waiting > 0 && !ps.released(pc) {
		op, x := ps.segments.cutOp(t, section.OpRelease)
		ps.operations.feed(op)
		t.pass = &passage{at: t.now(), pc: pc, stack: x.stack, cut: true}
		return false
	}
	ps.segments.markPass(t, pc)
	return false
}

// markPass notes a passage, with what the segment under way holds up to it.
func (sg *segments) markPass(t *thread, pc uint64) {
	t.joinPass()
	var p segment
	sg.drain(t, &p)
	t.keepFor(&p)
	t.pass = &passage{at: t.now(), pc: pc, stack: sg.places.stack(t), off: t.off,
		before: segment{edges: t.carry, hw: t.carryHW, samples: t.samples}}
	t.carry, t.carryHW, t.samples = nil, hardware{}, nil
}

// joinPass forgets a passage that ended no segment.
func (t *thread) joinPass() {
	if p := t.pass; p != nil && !p.cut {
		b := &p.before
		b.hw.add(t.carryHW)
		t.carry, t.carryHW, t.samples = append(b.edges, t.carry...), b.hw, append(b.samples, t.samples...)
		t.pass = nil
	}
}

// cutAtPass ends t's segment at its passage; what came after it belongs to the next one.
func (sg *segments) cutAtPass(t *thread, kind section.OpKind) section.Op {
	x := t.pass
	p := &x.before
	if x.cut {
		p = &segment{}
	}
	p.start, p.at, p.pc, p.stack = t.segment, x.at, x.pc, x.stack
	behind := uint64(0) // off its core, in the wait
	if kind == section.OpWaitBegin {
		behind = t.off - x.off
	}
	p.locks, p.off, p.earlier, p.given = t.locks, t.off-behind, t.earlier, t.given
	p.candidate, p.task = t.watchedCandidate(), t.doesTask()
	if units := sg.rounds.takeSpinning(t, p); units > 0 {
		sg.operations.reportSpun(t, units)
	}
	sg.closed(t, p)
	t.locks, t.off, t.earlier, t.given = nil, behind, nil, nil
	t.segment = segmentStart{at: x.at, pc: x.pc, stack: x.stack}
	t.pass = &passage{at: x.at, pc: x.pc, stack: x.stack, cut: true}
	site := sg.places.site(p.pc, p.stack)
	site.Kept = sg.places.kept(p)
	return section.Op{Kind: kind, Thread: t.id, Other: section.NoThread, At: unit.Cycles(p.at), N: unit.Cycles(behind),
		Site: site, Span: p}
}

// tried is the address at which the instruction at pc tries to take a lock, 0 if it does not.
func (ps *passes) tried(t *thread, pc uint64) uint64 {
	if pc == 0 {
		return 0
	}
	in, ok := ps.memory.decode(pc)
	if !ok || !busywait.Tries(in) {
		return 0
	}
	return spin.Address(in, pc, &spin.Head{Regs: t.ctx.GPR, FSBase: t.ctx.FSBase})
}

// released reports whether those who spin behind a point have been released already.
func (ps *passes) released(pc uint64) bool {
	for _, s := range ps.spinners.parked {
		if s.point == pc && ps.loops.changed(s) {
			return true
		}
	}
	return false
}
