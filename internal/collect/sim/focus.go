// The part of the run that is measured, where that is not the whole (package region).
//
// A stretch begins and ends at a moment, and at that moment the counters of all threads are drained:
// what they held before a stretch is dropped, what they hold at its end is kept for the parts under
// way. The recogniser is told of everything that happens, at measured times (at): so it knows at
// the beginning of a stretch who stands where, and what happens outside of all takes no time.

package sim

import (
	"slices"
	"time"

	"lime/internal/collect/region"
	"lime/internal/profile"
	"lime/internal/section"
	"lime/internal/symbol"
)

// focus measures a part of the run. All its methods may be called on none: then it is the whole.
type focus struct {
	*region.Window
	r    *run
	pins map[section.ThreadID]uint64 // its clock at the end of the last stretch, of who ran then
	end  uint64                      // the end of the last stretch
	work uint64                      // of all threads, in the stretches that are over
	from uint64                      // their work at the beginning of this one
	// functions that matter, by address, and where calls of them return to
	marks   map[uint64]region.Mark
	returns map[uint64]bool
}

// phase is a call, or a phase, that a thread is in.
type phase struct {
	at   uint64 // the function, 0: a phase that the program marks
	sp   uint64 // the stack's height at its entry
	name bool   // it is one that is asked for
}

func newFocus(r *run) *focus {
	if !r.cfg.Region.On() {
		return nil
	}
	return &focus{Window: region.NewWindow(r.cfg.Region), r: r, pins: map[section.ThreadID]uint64{},
		marks: map[uint64]region.Mark{}, returns: map[uint64]bool{}}
}

// closed reports whether what threads do now is not measured.
func (f *focus) closed() bool { return f != nil && !f.Open() }

// at is a moment of a thread, in measured time.
func (f *focus) at(id section.ThreadID, clock uint64) uint64 {
	if f == nil {
		return clock
	}
	if pin, ok := f.pins[id]; ok {
		clock = min(clock, pin)
	}
	return f.At(clock)
}

// lasts is how much was measured of a time that ends for t now.
func (f *focus) lasts(t *thread, units uint64) uint64 {
	if f == nil {
		return units
	}
	now := t.now()
	return f.at(t.id, now) - f.at(t.id, now-min(units, now))
}

// between is how much was measured between two moments.
func (f *focus) between(from, to uint64) uint64 {
	if f == nil {
		return to - from // one may be before the other, modulo 2^64
	}
	return f.At(to) - f.At(from)
}

// misses reports whether nothing of an instance was measured.
func (f *focus) misses(in *section.Instance) bool {
	if f == nil {
		return false
	}
	return !slices.ContainsFunc(in.Parts, func(p section.Part) bool { return p.Release > p.Start })
}

// mapped looks for functions that matter in a file.
func (f *focus) mapped(name string, at uint64) {
	if f == nil {
		return
	}
	if m := f.Spec().Mark(name, symbol.Demangle(name)); m != region.None {
		f.marks[at] = m
		f.r.probes.setProbe(at)
	}
}

// looks reports whether a probe at an address is one of these.
func (f *focus) looks(pc uint64) bool {
	return f != nil && (f.marks[pc] != region.None || f.returns[pc])
}

// passes is told that t stands at a probe; false means that it must wait there for its turn.
func (f *focus) passes(carrier, t *thread, pc uint64) bool {
	if f == nil || f.Over() {
		return true
	}
	sp, ok := f.r.openCalls.height(t)
	if !ok {
		return true
	}
	mark, left := f.marks[pc], t.leaves(sp)
	if n := len(t.phases); mark == region.Whole && n > 0 && t.phases[n-1] == (phase{pc, sp, true}) { // it has waited here
		mark = region.None
	}
	if mark == region.None && left == 0 {
		return true
	}
	if !f.r.cores.first(carrier.core) {
		carrier.probed = pc
		return false
	}
	f.leave(t, left)
	f.enter(t, mark, pc, sp)
	f.settle(t)
	return true
}

// leaves is how many of its phases a thread has left that stands at a height of its stack: calls
// that have returned, and what was marked in them.
func (t *thread) leaves(sp uint64) int {
	for i := range t.phases {
		if p := &t.phases[i]; p.at != 0 && p.sp < sp {
			return len(t.phases) - i
		}
	}
	return 0
}

// leave ends the last phases of a thread.
func (f *focus) leave(t *thread, n int) {
	keep := len(t.phases) - n
	for _, p := range t.phases[keep:] {
		if p.name {
			f.Leave(1)
		}
	}
	t.phases = t.phases[:keep]
}

func (f *focus) enter(t *thread, mark region.Mark, pc, sp uint64) {
	switch mark {
	case region.Whole:
		ret, _ := f.r.memory.word(t.here().ctx.GPR[rsp])
		f.returns[ret] = true
		f.r.probes.setProbe(ret)
		t.phases = append(t.phases, phase{pc, sp, true})
		f.Enter()
	case region.Begin:
		name := f.text(argument(t, 0))
		wanted := f.Spec().Phase == region.AnyPhase || f.Spec().Phase == name
		t.phases = append(t.phases, phase{name: wanted})
		if wanted {
			f.Enter()
		}
	case region.End:
		if n := len(t.phases); n > 0 && t.phases[n-1].at == 0 {
			f.leave(t, 1)
		}
	}
}

// longestName is how many bytes of a phase's name are compared.
const longestName = 256

// text reads a string of the program's.
func (f *focus) text(at uint64) string {
	var out []byte
	for len(out) < longestName {
		w, ok := f.r.memory.word(at + uint64(len(out)))
		if !ok {
			return string(out)
		}
		for range 8 {
			if byte(w) == 0 {
				return string(out)
			}
			out, w = append(out, byte(w)), w>>8
		}
	}
	return string(out)
}

// gone is told that a thread has ended.
func (f *focus) gone(t *thread) {
	if f == nil || len(t.phases) == 0 {
		return
	}
	f.leave(t, len(t.phases))
	f.settle(t)
}

// now is the time that the program sees.
func (f *focus) now(clock uint64) time.Duration {
	if f.r.beside != nil {
		return time.Duration(f.r.memory.proc.HostNow())
	}
	return time.Duration(f.r.clocks.nanos(clock))
}

// settle begins or ends a stretch if it is time, by what a thread has done, or nil by the clock
// alone.
func (f *focus) settle(by *thread) {
	clock := f.r.clocks.latest
	if by != nil {
		clock = by.now()
	} else if k := f.r.cores.next(); k != nil && f.r.beside == nil {
		clock = k.clock
	}
	now := f.now(clock)
	wanted := f.Wanted(now)
	if wanted == f.Open() {
		return
	}
	if by != nil {
		by = by.here()
	}
	release := f.pause(by)
	defer release()
	switch { // another thread may have brought it about meanwhile
	case wanted == f.Open():
	case wanted:
		f.begin(clock, now)
	default:
		f.stop(clock, now)
	}
}

// due settles what time alone brings about.
func (f *focus) due() {
	if f != nil && !f.Over() {
		f.settle(nil)
	}
}

// soon is how long a host may rest until something is due.
func (f *focus) soon(d time.Duration) time.Duration {
	if f == nil {
		return d
	}
	if next, ok := f.Next(f.now(0)); ok {
		return min(d, next)
	}
	return d
}

// begin begins a stretch. A thread's clock may stand behind the moment at which it begins, and stood
// before the end of the last one: what is between is measured time in which nobody has looked what
// the thread did.
func (f *focus) begin(clock uint64, now time.Duration) {
	clock = max(clock, f.end, f.align())
	for _, t := range f.r.roster.threads {
		if t.ctx != nil && !t.gone {
			f.r.segments.drain(t, &segment{})
		}
	}
	f.Begin(clock, now)
	f.from = f.r.roster.work()
	for _, m := range f.r.roster.threads {
		t := m.acting()
		if m.core == nil || t.idle || t.covered() || t.schedules() {
			continue
		}
		unseen := m.now() - min(m.now(), clock)
		if pin, ok := f.pins[t.id]; ok {
			unseen += f.end - min(f.end, pin)
		}
		if unseen > 0 {
			t.off += unseen
			f.r.operations.tellOff(t, unseen)
		}
	}
	clear(f.pins)
}

// stop ends one: with the last thread that was counted in it.
func (f *focus) stop(clock uint64, now time.Duration) {
	f.end = clock
	for _, m := range f.r.roster.threads {
		t := m.acting()
		if m.ctx != nil && !m.gone {
			p := &segment{}
			f.r.segments.drain(m, p)
			t.keepFor(p)
		}
		if m.core != nil {
			f.pins[t.id] = m.now()
			f.end = max(f.end, m.now())
		}
	}
	f.End(f.end, now)
	f.work += f.r.roster.work() - min(f.from, f.r.roster.work())
	f.align()
}

// finish ends the last stretch with the run.
func (f *focus) finish() {
	if f != nil && f.Open() {
		at := f.r.clocks.latest
		f.stop(at, f.now(at))
	}
}

// describe says in the profile what was measured.
func (f *focus) describe(m *profile.Meta) {
	if f == nil {
		return
	}
	spent, n := f.Spent(f.now(f.r.clocks.latest))
	m.Region, m.Stretches = f.Spec().Words(), n
	m.RegionTime, m.WholeTime = uint64(spent), uint64(f.now(f.r.clocks.latest))
	m.RunTime, m.CoreTime = f.At(m.RunTime), f.work
}

// never reports whether nothing was measured, and why.
func (f *focus) never() string {
	if f == nil {
		return ""
	}
	if _, n := f.Spent(0); n > 0 {
		return ""
	}
	return f.Spec().Never()
}

// pause stops all threads that run in parallel but one, until the answer is called.
func (f *focus) pause(t *thread) (release func()) {
	b := f.r.beside
	if b == nil || b.over {
		return func() {}
	}
	b.gather(t)
	return func() {
		b.gathering, b.gatherer = false, nil
		b.stopped.Broadcast()
	}
}

// align sets the clocks of all threads that run in parallel to the latest one, while nothing is
// measured: of each other they say nothing then.
func (f *focus) align() (at uint64) {
	b := f.r.beside
	if b == nil {
		return 0
	}
	for _, t := range b.r.roster.threads {
		if !t.gone {
			at = max(at, t.now())
		}
	}
	for _, t := range b.r.roster.threads {
		if k := t.core; k != nil {
			k.clock, t.host.from = at, at
			b.r.cores.moved(k)
		}
		t.at = max(t.at, at)
	}
	b.r.clocks.latest = max(b.r.clocks.latest, at)
	return at
}
