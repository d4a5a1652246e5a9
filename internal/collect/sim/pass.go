package sim

import (
	"lime/internal/collect/spin"
	"lime/internal/section"
	"lime/internal/unit"
)

// Pass points: where all threads come past on their way to a spin loop, those who will wait and the
// one who lets them go.

// point is an instruction that every thread passes on its way to a spin loop,
// the one that ends the spinning too.
type point struct {
	waiting       int // threads that spin behind it
	early         int // of these: who came past before it was known; all who wait with them begin at the loop
	passes, parks int
	ordered       bool // what they look at is looked at in order
	lock          bool // who waits behind it waits for no section's end
}

// worth reports whether it still pays to stop at the point: now and then
// somebody does spin behind it.
func (p *point) worth() bool { return p.waiting > 0 || p.passes < 1000+100*p.parks }

// passage is a thread's last way through the place in front of a spin loop. Whether it waits behind
// it, or lets others go, comes out later, and then its piece ends here.
type passage struct {
	at     uint64
	pc     uint64
	stack  []frameRef
	before piece // what the piece under way held up to here, if it has not been cut here
	cut    bool
}

// pointAt is the pass point at an address; it has a probe from now on.
func (r *run) pointAt(pc uint64) *point {
	p := r.spins.points[pc]
	if p == nil {
		p = &point{}
		r.spins.points[pc] = p
		r.setProbe(pc)
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
	p.waiting--
	if !s.passed {
		p.early--
	}
}

// passing notes that a thread comes past the place in front of a loop in which others spin:
// it will spin too, or release them. It reports whether the thread must wait for its turn.
func (r *run) passing(t *thread, pc uint64) (wait bool) {
	p := r.spins.points[pc]
	if p == nil || !p.worth() || t.covered() {
		return false
	}
	if !r.cores.first(t.here().core) {
		return true
	}
	p.passes++
	t.tried = r.tried(t, pc)
	t.still.suspect = !p.ordered
	if p.waiting > 0 && !r.released(pc) {
		op, x := r.cutOp(t, section.OpRelease)
		r.feed(op)
		t.pass = &passage{at: t.now(), pc: pc, stack: x.stack, cut: true}
		return false
	}
	r.markPass(t, pc)
	return false
}

// markPass notes a passage, with what the piece under way holds up to it.
func (r *run) markPass(t *thread, pc uint64) {
	t.joinPass()
	var p piece
	r.drain(t, &p)
	t.keepFor(&p)
	t.pass = &passage{at: t.now(), pc: pc, stack: r.stack(t), before: piece{edges: t.carry, hw: t.carryHW, samples: t.samples}}
	t.carry, t.carryHW, t.samples = nil, hardware{}, nil
}

// joinPass forgets a passage that ended no piece.
func (t *thread) joinPass() {
	if p := t.pass; p != nil && !p.cut {
		b := &p.before
		b.hw.add(t.carryHW)
		t.carry, t.carryHW, t.samples = append(b.edges, t.carry...), b.hw, append(b.samples, t.samples...)
		t.pass = nil
	}
}

// cutAtPass ends t's piece at its passage; what came after it belongs to the next one.
func (r *run) cutAtPass(t *thread, kind section.OpKind) section.Op {
	x := t.pass
	p := &x.before
	if x.cut {
		p = &piece{}
	}
	p.start, p.at, p.pc, p.stack = t.piece, x.at, x.pc, x.stack
	p.locks, p.off, p.earlier, p.gate, p.task, p.given = t.locks, t.off, t.earlier, t.watchedGate(), t.doesTask(), t.given
	if units := r.takeSpinning(t, p); units > 0 {
		r.tellSpun(t, units)
	}
	r.closed(t, p)
	t.locks, t.off, t.earlier, t.given = nil, 0, nil, nil
	t.piece, t.pass = pieceStart{at: x.at, pc: x.pc, stack: x.stack}, &passage{at: x.at, pc: x.pc, stack: x.stack, cut: true}
	site := r.site(p.pc, p.stack)
	site.Kept = r.kept(p)
	return section.Op{Kind: kind, Thread: t.id, Other: section.NoThread, At: unit.Cycles(p.at), Site: site, Span: p}
}

// tried is the address at which the instruction at pc tries to take a lock, 0 if it does not.
func (r *run) tried(t *thread, pc uint64) uint64 {
	if pc == 0 {
		return 0
	}
	in, ok := r.decode(pc)
	if !ok || !spin.Tries(&in) {
		return 0
	}
	return spin.Address(&in, pc, &spin.Head{Regs: t.ctx.GPR, FSBase: t.ctx.FSBase})
}

// released reports whether those who spin behind a point have been released already.
func (r *run) released(pc uint64) bool {
	for _, s := range r.spins.parked {
		if s.point == pc && r.changed(s) {
			return true
		}
	}
	return false
}
