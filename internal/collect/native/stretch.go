package native

import (
	"time"

	"lime/internal/collect/region"
	"lime/internal/profile"
)

// A stretch of the run that is measured (region.Spec's Delay and Duration). What came before its
// beginning is dropped then: instances that are over, samples, waits, and of what threads are about
// what they did so far. Its end is that of the recording; the program goes on.

// stretch is when it begins and ends, in ns of the monotonic clock; 0: with the recording.
type stretch struct {
	absences *absences
	clocks   *clocks
	locks    *locks
	out      *output
	roster   *roster
	sampling *sampling
	shared   *shared

	begins, ends uint64
}

// asked makes it the one that was asked for, of a recording that has begun.
func (s *stretch) asked(spec *region.Spec) {
	if spec.Delay > 0 {
		s.begins = s.clocks.started + uint64(spec.Delay)
	}
	if spec.Duration > 0 {
		s.ends = max(s.clocks.started, s.begins) + uint64(spec.Duration)
	}
	s.out.closed = s.begins != 0
}

// as makes it that of another process.
func (s *stretch) as(o *stretch) {
	s.begins, s.ends = o.begins, o.ends
	s.out.closed = s.begins != 0
}

// within reports whether a moment is before the stretch's end, and begins the stretch if it is
// time.
func (s *stretch) within(at uint64) bool {
	if s.out.closed && at >= s.begins {
		s.opens()
	}
	return s.ends == 0 || at < s.ends
}

// opens begins the stretch.
func (s *stretch) opens() {
	s.out.opens(s.begins)
	for _, t := range s.roster.threads {
		if a := t.acting(); a != t && a.piece != nil {
			a.begin(s.begins)
		}
		if t.piece != nil && !t.ended {
			t.begin(s.begins)
		}
		t.making = making{}
	}
	s.locks.table = lockTable{}
	s.absences.seen, s.absences.unseen, s.absences.queued, s.sampling.spun = 0, 0, 0, 0
	s.out.closed = false
}

// opens drops what was summed up so far.
func (o *output) opens(at uint64) {
	o.from = at
	clear(o.paths)
	clear(o.sampled)
	clear(o.worked)
	clear(o.virtual)
	o.idle = newIdling(cores())
	o.instances, o.dealt, o.widest, o.work, o.latest = 0, 0, 0, 0, 0
}

// drop leaves of a part's pieces what was done since the stretch began. A wait that began before
// is no longer than the piece in which it ended.
func (o *output) drop(spans []any) {
	for _, s := range spans {
		p := s.(*piece)
		if p.to <= o.from {
			*p = piece{thread: p.thread, from: p.from, to: p.to, row: p.row, charged: true}
			continue
		}
		long := p.to - max(p.from, o.from)
		for i := range p.locks {
			p.locks[i].off, p.locks[i].time = min(p.locks[i].off, long), min(p.locks[i].time, long)
		}
		for i := range p.off {
			p.off[i].wait = min(p.off[i].wait, long)
		}
	}
}

// over reports whether the stretch has ended, and how long that will take otherwise.
func (s *stretch) over() (bool, time.Duration) {
	if s.ends == 0 {
		return false, longTick
	}
	if now := monotonic(); now < s.ends {
		return false, time.Duration(s.ends - now)
	}
	return true, 0
}

// describe says in the profile what was measured.
func (s *stretch) describe(m *profile.Meta) {
	spec := &s.shared.o.Region
	if !spec.On() {
		return
	}
	m.Region, m.Stretches = spec.Words(), 1
	m.WholeTime = monotonic() - s.clocks.started
	end := max(s.clocks.now, s.clocks.started)
	m.RegionTime = end - min(end, max(s.clocks.started, s.begins))
}

// never says why nothing was measured; "": something was.
func (s *stretch) never() string {
	if s.begins == 0 || s.clocks.now >= s.begins {
		return ""
	}
	return s.shared.o.Region.Never()
}
