package analysis

import (
	"cmp"
	"slices"

	"lime/internal/profile"
)

// wholeProgram computes the program's figures from all spans of work.
func wholeProgram(m *profile.Meta, tab *profile.Tables, sums []*summary) Whole {
	var stretches, alone []span
	spans, lonely := allSpans(sums)
	var crowd []span
	if lonely {
		crowd = crowded(spans)
	}
	w := Whole{Threads: len(tab.Threads), RunTime: float64(m.RunTime)}
	own, lock, off := 0.0, 0.0, 0.0
	for _, s := range sums {
		stretches = append(stretches, s.stretches...)
		w.Instances += s.instances
		w.Width = max(w.Width, s.together)
		if s.serial() {
			mine := outside(s.spans, crowd)
			s.alone = covered(mine)
			alone = append(alone, mine...)
		} else {
			w.LostTime += s.lost
		}
		own, lock, off = own+s.own, lock+s.lock, off+s.off
		s.spans, s.stretches = nil, nil
	}
	if w.RunTime == 0 {
		w.RunTime = extent(spans)
	}
	levels := together(spans)
	w.Width = max(w.Width, width(levels, w.RunTime))
	if m.Cores > 0 {
		w.Width = min(w.Width, m.Cores)
	}
	w.time = sweep(spans, w.Width, w.RunTime)
	w.lanes(assignLanes(spans))
	parallel := covered(append(stretches, alone...)) - covered(alone) // a section may hold stretches in which one thread works alone
	w.SerialShare = max(0, min(1, 1-ratio(parallel, w.RunTime)))
	w.SpeedupLimit = ratio(1, w.SerialShare)
	for _, s := range sums {
		if !s.serial() {
			w.LostShare += s.lostShare(&w)
		}
	}
	w.LostShare = min(w.LostShare, 1-w.ParallelEfficiency) // what sections that overlap lose together counts once
	w.LockShare, w.OffCPUShare = ratio(lock, own), ratio(off, own)
	return w
}

// allSpans returns the spans of all sections, and whether one of these is serial. A large run has
// ten million: those that nobody needs any more are let go at once.
func allSpans(sums []*summary) (spans []span, lonely bool) {
	n := 0
	for _, s := range sums {
		n += len(s.spans)
	}
	spans = make([]span, 0, n)
	for _, s := range sums {
		spans = append(spans, s.spans...)
		if s.serial() {
			lonely = true
		} else {
			s.spans = nil
		}
	}
	return spans, lonely
}

func extent(spans []span) float64 {
	var lo, hi uint64
	for i, s := range spans {
		if i == 0 || s.lo < lo {
			lo = s.lo
		}
		hi = max(hi, s.hi)
	}
	return float64(hi - lo)
}

// lanes sets the efficiencies from the useful time of each lane. A program that creates
// threads anew for every section has more threads than processors at work, so that
// time is counted by lanes: at any moment a thread has one of its own.
func (w *Whole) lanes(useful []float64) {
	most := 0.0
	for _, u := range useful {
		w.UsefulTime += u
		most = max(most, u)
	}
	w.ParallelEfficiency = min(1, ratio(w.UsefulTime, w.RunTime*float64(w.Width)))
	w.LoadBalance = min(1, ratio(w.UsefulTime/float64(w.Width), most))
	w.CommunicationEfficiency = min(1, ratio(most, w.RunTime))
}

// assignLanes gives every span of work the lane that its thread had last, or else the lowest that
// is free, and returns the useful time of each lane.
func assignLanes(spans []span) []float64 {
	slices.SortFunc(spans, func(a, b span) int { return compareSpans(&a, &b) })
	var until []uint64
	var useful []float64
	var owner []profile.ThreadID
	had := map[profile.ThreadID]int{}
	for _, s := range spans {
		k, ok := had[s.thread]
		if !ok || until[k] > s.lo && owner[k] != s.thread {
			k = freeLane(until, s.lo)
		}
		if k == len(until) {
			until, useful, owner = append(until, 0), append(useful, 0), append(owner, 0)
		}
		if owner[k] == s.thread && until[k] > s.lo { // sections that overlap have the same work twice
			s.useful *= ratio(float64(s.hi-min(s.hi, until[k])), float64(s.hi-s.lo))
		}
		had[s.thread], owner[k], until[k] = k, s.thread, max(until[k], s.hi)
		useful[k] += s.useful
	}
	return useful
}

func freeLane(until []uint64, at uint64) int {
	k := 0
	for k < len(until) && until[k] > at {
		k++
	}
	return k
}

// together returns how long exactly k threads were at work, by k.
func together(spans []span) []float64 {
	begins, ends := make([]uint64, 0, len(spans)), make([]uint64, 0, len(spans))
	for _, s := range spans {
		if s.hi > s.lo {
			begins, ends = append(begins, s.lo), append(ends, s.hi)
		}
	}
	slices.Sort(begins)
	slices.Sort(ends)
	levels := make([]float64, 1)
	busy, last := 0, uint64(0)
	for b := 0; len(ends) > 0; {
		at, d := ends[0], -1 // at the same moment ends come first
		if b < len(begins) && begins[b] < at {
			at, d = begins[b], 1
			b++
		} else {
			ends = ends[1:]
		}
		if busy > 0 || last > 0 {
			levels[busy] += float64(at - last)
		}
		last = at
		busy += d
		for busy >= len(levels) {
			levels = append(levels, 0)
		}
	}
	return levels
}

// width is the largest number of threads at work together for more than a moment.
func width(levels []float64, run float64) int {
	t := 0.0
	for k := len(levels) - 1; k > 1; k-- {
		if t += levels[k]; t >= briefly*run {
			return k
		}
	}
	return 1
}

// crowded returns, in order, the spans of time in which more than one thread was at work. A span
// that is mostly waiting (a thread that sleeps in the background) does not count.
func crowded(spans []span) []span {
	type step struct {
		at uint64
		th profile.ThreadID
		d  int32
	}
	steps := make([]step, 0, 2*len(spans))
	for _, s := range spans {
		if s.hi > s.lo && s.useful >= float64(s.hi-s.lo)/2 {
			steps = append(steps, step{s.lo, s.thread, 1}, step{s.hi, s.thread, -1})
		}
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.d, b.d)) })
	open := map[profile.ThreadID]int{} // parts of a thread overlap where regions nest
	busy := 0
	var out []span
	for i, s := range steps {
		if i > 0 && busy > 1 && s.at > steps[i-1].at {
			if n := len(out); n > 0 && out[n-1].hi == steps[i-1].at {
				out[n-1].hi = s.at
			} else {
				out = append(out, span{lo: steps[i-1].at, hi: s.at})
			}
		}
		was := open[s.th]
		open[s.th] = was + int(s.d)
		if was == 0 || was+int(s.d) == 0 {
			busy += int(s.d)
		}
	}
	return out
}

// outside returns what is left of the spans when holes, which are in order and apart, are taken
// out.
func outside(spans, holes []span) []span {
	var out []span
	for _, s := range spans {
		i, _ := slices.BinarySearchFunc(holes, s.lo, func(h span, at uint64) int { return cmp.Compare(h.hi, at) })
		for ; i < len(holes) && holes[i].lo < s.hi; i++ {
			if holes[i].lo > s.lo {
				out = append(out, span{thread: s.thread, lo: s.lo, hi: holes[i].lo})
			}
			s.lo = min(s.hi, holes[i].hi)
		}
		if s.lo < s.hi {
			out = append(out, s)
		}
	}
	return out
}

// covered is the length of the union of the spans.
func covered(spans []span) float64 {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.hi, b.hi)) })
	sum, until := 0.0, uint64(0)
	for _, s := range spans {
		if s.hi > until {
			sum += float64(s.hi - max(s.lo, until))
			until = s.hi
		}
	}
	return sum
}
