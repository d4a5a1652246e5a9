package section

import (
	"slices"

	"lime/internal/unit"
)

// builtEpisode is one passage of a barrier that the program built itself.
type builtEpisode struct {
	parts    []Part
	woken    []int // indexes of the parts that the releaser woke
	releaser int
	dealt    bool      // who released them stood elsewhere: it may have given work out only
	ended    bool      // some had ended: the others waited for that
	late     int       // threads that are through, and whose last parts are to come
	place    unit.Addr // where one waits who takes no part
	outside  unit.Addr // the same, outside of the language's library
	call     int       // index of the frame that is the barrier's call, in the stack of the first woken part
	fn       unit.Addr // function that this call enters
	decided  bool
}

// dropKeepers removes threads that only dealt the work out or waited for its end:
// they stand at another place than most, and did next to nothing.
func (e *builtEpisode) dropKeepers(on onCores) {
	if len(e.parts) < 3 && !e.ended {
		return
	}
	place := majorityPlace(e.parts, 0)
	var most unit.Cycles
	for i := range e.parts {
		most = max(most, on.ran(&e.parts[i]))
	}
	for i := range e.parts {
		p := &e.parts[i]
		elsewhere := (i != e.releaser || e.dealt) && p.site.Place() != place || e.ended && slices.Contains(e.woken, i)
		p.dropped = p.dropped || elsewhere && on.ran(p)*parentShare < most
	}
}

// onCores tells for how long the thread of a piece had a core. Nil: all the while, but for waits.
type onCores func(span any) unit.Cycles

// ran is for how long a part's thread had a core: on a busy machine one may wait for that for long
// between two calls, and has worked for no longer.
func (on onCores) ran(p *Part) (sum unit.Cycles) {
	if on == nil {
		return p.Time()
	}
	for _, s := range p.Spans {
		sum += on(s)
	}
	return sum
}

// dropLate removes threads that came through several passages of the barrier without being seen to
// wait: what they did since is the work of as many sections, and told by itself.
func (r *Recogniser) dropLate(e *builtEpisode, p *release) {
	last, again := r.openings[p.object]
	for i := range e.parts {
		if again && e.parts[i].Start < last {
			e.parts[i].dropped, e.parts[i].missed = true, true
		}
		t := r.threads[e.parts[i].Thread]
		t.opened, t.barrier = p.at, p.object
	}
	r.openings[p.object] = p.at
}

// unseen removes from the parts of a join those of threads that came through the last passage of
// their built barrier without being seen to wait: the passage that most of the others took part in
// last, or one of the barrier that they know.
func (r *Recogniser) unseen(parts []Part) []Part {
	last, latest, after := map[uint64]unit.Cycles{}, unit.Cycles(0), 0
	for i := range parts {
		t := r.threads[parts[i].Thread]
		last[t.barrier] = max(last[t.barrier], t.opened)
		latest = max(latest, t.opened)
	}
	for i := range parts {
		if parts[i].Start >= latest {
			after++
		}
	}
	var keep []Part
	for _, p := range parts {
		t := r.threads[p.Thread]
		since := last[t.barrier]
		if after*2 > len(parts) {
			since = latest
		}
		if t.opened == 0 || p.Start >= since {
			keep = append(keep, p)
		} else {
			r.finish(p.byItself())
		}
	}
	return keep
}

// locate finds the call that is the barrier's: the innermost open call common
// to all, if it was made for this wait. If the threads stand in a function that they were in
// all the time, the barrier is written out in it, and the waiting call itself names it.
func (e *builtEpisode) locate() (frame int, fn unit.Addr, decided bool) {
	if len(e.woken) == 0 {
		return 0, 0, true
	}
	stack := e.parts[e.woken[0]].site.Stack
	for i := 1; i < len(stack); i++ {
		if e.common(stack[i].Call) {
			fresh, known := e.fresh(stack[i].Call)
			if known && !fresh {
				return 0, stack[i-1].Func, true
			}
			return i, stack[i-1].Func, known
		}
	}
	return e.calledApart()
}

// calledApart finds the barrier's call where no one call is common to all: compilers copy calls,
// and threads may come to a barrier from several lines. If all stand in one function, which each
// has called for this wait, it is the call of those who were woken.
func (e *builtEpisode) calledApart() (frame int, fn unit.Addr, decided bool) {
	for _, i := range append([]int{e.releaser}, e.woken...) {
		p := &e.parts[i]
		s := p.site.Stack
		if len(s) < 2 || fn != 0 && s[0].Func != fn {
			return 0, 0, true
		}
		fn = s[0].Func
		if p.first {
			continue
		}
		if decided = true; len(s)-2 < p.site.Kept {
			return 0, fn, true
		}
	}
	return 1, fn, decided
}

func (e *builtEpisode) common(call unit.Addr) bool {
	for _, i := range append([]int{e.releaser}, e.woken...) {
		if !e.parts[i].site.has(call) {
			return false
		}
	}
	return true
}

// fresh reports whether the call was made inside the parts. In a thread's first part everything is
// fresh, and nothing known.
func (e *builtEpisode) fresh(call unit.Addr) (fresh, known bool) {
	fresh = true
	for _, i := range append([]int{e.releaser}, e.woken...) {
		p := &e.parts[i]
		if p.first {
			continue
		}
		known = true
		for k, f := range p.site.Stack {
			if f.Call == call && len(p.site.Stack)-1-k < p.site.Kept {
				fresh = false
			}
		}
	}
	return fresh, known
}

// settle hands out the built barriers whose place is known by now; at the end, all.
func (r *Recogniser) settle(end bool) {
	for _, e := range r.undone {
		if e.decided && e.fn != 0 {
			r.levels[e.fn] = e.call > 0
		}
	}
	var later []*builtEpisode
	for _, e := range r.undone {
		inside, known := r.levels[e.fn]
		if (!e.decided && !known || e.late > 0) && !end {
			later = append(later, e)
			continue
		}
		if known && !inside {
			e.call = 0
		}
		r.finishBuilt(e)
	}
	r.undone = later
}

func (r *Recogniser) finishBuilt(e *builtEpisode) {
	e.dropKeepers(r.Ran)
	in := Instance{Kind: Built, Place: e.parts[e.releaser].site.Place()}
	if e.place != 0 {
		in.Place = e.place
	}
	if len(e.woken) > 0 {
		if s := e.parts[e.woken[0]].site.Stack; e.call < len(s) {
			in.Place = s[e.call].Call
		}
	}
	if e.ended {
		in.Kind = Join
		in.Place = e.joinPlace(in.Place)
	}
	for i, p := range e.parts {
		switch {
		case !p.dropped:
			in.Parts = append(in.Parts, p)
		case p.missed:
			r.finish(p.byItself())
		case slices.Contains(e.woken, i):
			in.Awaiting = append(in.Awaiting, p.Thread)
		}
	}
	r.finish(in)
}

// byItself is a part that cannot be held against others': what its thread did is not lost.
func (p Part) byItself() (in Instance) {
	if p.Time() > 0 {
		in = Instance{Kind: Serial, Place: p.site.outside(), Parts: []Part{p}}
	}
	return in
}

// Apart is what is told instead of an instance whose parts cannot be held against one another.
func (in Instance) Apart() (list []Instance) {
	for _, p := range in.Parts {
		if one := p.byItself(); len(one.Parts) > 0 {
			list = append(list, one)
		}
	}
	return list
}

// joinPlace is where somebody asked for the end of the threads that are counted down.
func (e *builtEpisode) joinPlace(place unit.Addr) unit.Addr {
	if e.outside != 0 {
		return e.outside
	}
	for _, i := range e.woken {
		if s := e.parts[i].site; s.Library > 0 {
			return s.outside()
		}
	}
	return place
}
