// Samples, in the order of time: whose work they are, or whose wait.

package native

// sampling takes samples of the clock, and of events.
type sampling struct {
	absences   *absences
	candidates *candidates
	clocks     *clocks
	goroutines *goroutines
	lives      *lives
	out        *output
	program    *program
	roster     *roster
	shared     *shared
	tasks      *tasks

	spun uint64 // ns in loops of the program's own that wait
}

// happened takes the sample of an event: what happens while a thread waits is nobody's.
func (sp *sampling) happened(t *thread, x *item) {
	p := t.piece
	if t.waits() {
		p = t.task
	}
	if p != nil {
		p.addEvent(x.event)
	}
}

func (sp *sampling) sampled(x *item) {
	t := sp.lives.thread(x.tid, x.at)
	if t.ended {
		return
	}
	if x.detail != nil && x.left != nil {
		sp.absences.leavesCore(t, x)
		return
	}
	t = t.acting()
	if x.event != nil {
		sp.happened(t, x)
		return
	}
	x.sample.nanos = sp.shared.events.nanosOf(x.sample.period)
	if x.short && t.cpu.at(x.at) >= 1_000_000_000/sp.shared.o.Frequency { // the first clock has begun to tell
		return
	}
	t.sampled = true
	if sp.program.golang && t.goroutine == nil {
		sp.sampledScheduler(t, x)
		return
	}
	sp.candidates.sampledAtCandidate(t, x)
	waits := t.waits()
	if x.sample.loop == nil || waits {
		t.piece.spun, t.off.last.yields = nil, false // should it leave its core next, and nobody see where, it works
	} else {
		sp.spinsOn(t, &x.sample)
	}
	nanos := float64(x.sample.nanos)
	t.spins, t.onTask = x.spins, false
	if t.goroutine == nil && t.cpu.on {
		ownSpin := x.sample.loop != nil // nobody waits for it
		sp.clocks.pace.set(&t.paced, !ownSpin, !ownSpin)
	}
	x.sample.working = sp.working()
	switch {
	case waits && x.inside && !x.spins && !t.gated():
		sp.tasks.runsTask(t, x)
	case x.spins && !waits:
		t.piece.spin += x.sample.period
		t.piece.spins, t.piece.spunAt = t.piece.spins+1, x.sample.b
		fallthrough
	case waits:
		t.piece.rested += x.sample.nanos
		sp.out.paths[pathKey{x.sample.path, t.row(), noSection, "wait"}] += nanos
		return
	default:
		x.sample.at = t.cpu.at(x.at) - min(t.cpu.at(x.at), t.piece.cpuFrom)
		t.piece.work += x.sample.period
		t.piece.narrow(x.sample.open)
		x.sample.open = nil
		t.piece.samples = append(t.piece.samples, x.sample)
	}
	sp.out.idle.moment.add(x.sample.path, t.row(), x.sample.working, nanos)
}

// sampledScheduler takes a sample of a thread of the runtime's that hosts no goroutine of the
// program's.
func (sp *sampling) sampledScheduler(t *thread, x *item) {
	metric := "time"
	if x.spins {
		metric = "wait"
	}
	sp.out.paths[pathKey{x.sample.path, int32(t.id), noSection, metric}] += float64(x.sample.nanos)
}

// working counts the threads that have something to do: neither wait, nor spin for something, nor
// sleep in the kernel.
func (sp *sampling) working() (n int) {
	for _, t := range sp.roster.threads {
		if !t.ended && !t.foreign && !t.idles() {
			n++
		}
	}
	for g := range sp.goroutines.awake {
		if !g.idles() {
			n++
		}
	}
	return max(n, 1)
}

// spinsOn takes a sample in such a loop, and charges it as a wait for others. A sample stands for
// its period, but for all that the thread ran since the last one if that was in such a loop, too:
// what the kernel does for it there, where it gives its core away again and again, has no samples.
func (sp *sampling) spinsOn(t *thread, s *workSample) {
	now := spinMark{t.cpu.at(sp.clocks.now), t.others.at(sp.clocks.pace.sure, t.cpu.on)}
	waited := uint64(0)
	if sp.clocks.pace.rate() == 1 {
		waited = s.nanos
	}
	if last := t.piece.spun; last != nil && s.nanos > 0 && t.goroutine == nil {
		ran := now.cpu - last.cpu
		s.period = uint64(float64(s.period) * float64(ran) / float64(s.nanos))
		s.nanos, waited = ran, now.pace-last.pace
	}
	t.piece.spun = &now
	t.off.last = leaving{at: t.off.last.at, kind: kindFault, call: s.loop.waitsFrom(), path: s.path, yields: true, takes: s.loop.takes}
	if s.loop.spins {
		sp.spun += s.nanos
	}
	t.line.beyond += int64(waited) - int64(s.nanos)
	w := offWait{t.off.last.waitsFor(), s.loop.waitsFrom(), 1, waited}
	t.piece.addOff(w)
	t.looping.waits(t.piece, w, sp.clocks.now, now.cpu)
}
