package analysis

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"

	"lime/internal/profile"
)

// wholeProgram computes the program's figures from all spans of work.
func wholeProgram(m *profile.Meta, tab *profile.Tables, sums []*summary) Whole {
	runs := allRuns(sums)
	spans := inOrder(runs)
	ways := openings(sums)
	var crowd []stretch
	if slices.ContainsFunc(sums, (*summary).serial) {
		crowd = crowded(spans)
	}
	w := Whole{Threads: len(tab.Threads), RunTime: float64(m.RunTime)}
	own, lock, off := 0.0, 0.0, 0.0
	alone := lonely(sums, crowd)
	var apart cover
	apart.addAll(slices.Values(crowd))
	helped := helpedRuns(sums)
	aside := append(onlyHelping(sums, helped), onlyMaking(m, tab, sums)...)
	for _, s := range sums {
		w.Instances += s.instances
		w.Width = max(w.Width, s.together.width()-s.those(aside))
		if !s.serial() {
			w.LostTime += s.lost
		}
		apart.addAll(slices.Values(s.stretches))
		own, lock, off = own+s.own, lock+s.lock, off+s.off
		s.runs, s.stretches = nil, nil
	}
	if w.RunTime == 0 {
		w.RunTime = extent(spans)
	}
	levels := together(spans)
	w.Width = max(w.Width, width(levels, w.RunTime))
	if m.Cores > 0 {
		w.Width = min(w.Width, m.Cores)
	}
	if m.Asked {
		w.Unused = max(0, m.Cores-w.Width)
	}
	w.time = sweep(inOrder(slices.Concat(runs, ways, helped)), w.Width, w.RunTime)
	w.lanes(assignLanes(inOrder(slices.Concat(runs, helped))))
	for x := range inOrder(ways) {
		apart.add(stretch{x.lo, x.hi})
	}
	apart.addAll(slices.Values(alone))
	parallel := apart.length() - alone.length() // a section may hold stretches in which one thread works alone
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

func allRuns(sums []*summary) (runs []spanRun) {
	for _, s := range sums {
		runs = append(runs, s.runs...)
	}
	return runs
}

func helpedRuns(sums []*summary) (runs []spanRun) {
	for _, s := range sums {
		runs = append(runs, s.helped...)
		s.helped = nil
	}
	return runs
}

// onlyHelping lists the threads that help the others for all the time of the parallel sections but a
// moment: that they take part in a section of a moment, as one does that lets the others begin, makes
// no core that could be used.
func onlyHelping(sums []*summary, helped []spanRun) (ids []profile.ThreadID) {
	all, times := 0.0, map[profile.ThreadID]float64{}
	for _, s := range sums {
		if !s.serial() {
			all += s.time
		}
	}
	for x := range inOrder(helped) {
		times[x.thread] += float64(x.hi - x.lo)
	}
	for id, t := range times {
		if t >= (1-briefly)*all {
			ids = append(ids, id)
		}
	}
	return ids
}

// onlyMaking lists the threads that have made others and share no more than a moment of the parallel
// sections, or, where samples tell, little: they come to the end of a pool's threads, say, when those
// have nothing left to do, and have only let them begin and waited for their work before.
func onlyMaking(m *profile.Meta, tab *profile.Tables, sums []*summary) (ids []profile.ThreadID) {
	makes, most := map[profile.ThreadID]bool{}, briefly
	if m.CountLabel == profile.Sampled {
		most = keeperShare
	}
	for id := range tab.Threads {
		if p := tab.Threads[id].Parent; p != profile.ThreadID(id) {
			makes[p] = true
		}
	}
	all, shared := 0.0, map[profile.ThreadID]float64{}
	for _, s := range sums {
		if s.serial() {
			continue
		}
		all += s.time
		for id, t := range s.threads {
			if makes[id] {
				shared[id] += t.Time + t.Wait
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(shared)) {
		if shared[id] < most*all {
			ids = append(ids, id)
		}
	}
	return ids
}

// those counts the threads of a list that took part in a section.
func (s *summary) those(ids []profile.ThreadID) (n int) {
	for id := range s.threads {
		if slices.Contains(ids, id) {
			n++
		}
	}
	return n
}

func extent(spans iter.Seq[span]) float64 {
	lo, hi := uint64(math.MaxUint64), uint64(0)
	for s := range spans {
		lo, hi = min(lo, s.lo), max(hi, s.hi)
	}
	return float64(hi - min(lo, hi))
}

// cores are the processors that count for a section: all that were asked for, or could be used.
func (w *Whole) cores(s *summary) float64 { return float64(max(w.Width+w.Unused, s.max)) }

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

// assignLanes gives every span of work, in their order, the lane that its thread had last, or else the lowest that
// is free, and returns the useful time of each lane.
func assignLanes(spans iter.Seq[span]) []float64 {
	var until []uint64
	var useful []float64
	var owner []profile.ThreadID
	had := map[profile.ThreadID]int{}
	for s := range spans {
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
func together(spans iter.Seq[span]) []float64 {
	levels := make([]float64, 1)
	busy, last := 0, uint64(0)
	for m := range moments(spans) {
		if busy > 0 || last > 0 {
			levels[busy] += float64(m.at - last)
		}
		last = m.at
		busy += m.change
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

// crowded returns, in order, the stretches of time in which more than one thread was at work: two
// or more do for half of the time at least, or all together do as much as one and a half. (A thread
// that sleeps in the background is no second one; many that share few cores are.)
func crowded(spans iter.Seq[span]) []stretch {
	open := map[profile.ThreadID]*presence{} // parts of a thread overlap where regions nest
	busy, rate, last := 0, int64(0), uint64(0)
	var out cover
	for m := range moments(spans) {
		if (busy > 1 || 2*rate >= 3*whole) && m.at > last {
			out.add(stretch{last, m.at})
		}
		last = m.at
		p := open[m.thread]
		if p == nil {
			p = &presence{}
			open[m.thread] = p
		}
		busy, rate = busy-p.busy(), rate-min(p.rate, whole)
		p.rate += m.rate
		if m.most {
			p.mostly += m.change
		}
		busy, rate = busy+p.busy(), rate+min(p.rate, whole)
	}
	return out
}

// presence is what a thread does at a moment.
type presence struct {
	mostly int   // parts in which it works for half of the time or more
	rate   int64 // the useful shares of all its parts
}

func (p *presence) busy() int { return min(1, p.mostly) }

// lonely gives the stretches of time in which one thread was at work alone each to one section: they
// add up to no more than the run. Of several threads that are in such sections at a time, those that
// mostly work come first, and then those that began first.
func lonely(sums []*summary, crowd []stretch) (alone cover) {
	var runs []spanRun
	at := map[profile.SectionID]*summary{}
	for _, s := range sums {
		if s.serial() {
			runs, at[s.id] = append(runs, s.runs...), s
		}
	}
	taken := cover(slices.Clone(crowd))
	for _, works := range []bool{true, false} {
		until := uint64(0)
		for x := range inOrder(runs) {
			if x.mostlyUseful() != works {
				continue
			}
			x.lo = max(x.lo, until)
			for mine := range outside(slices.Values([]span{x}), taken) {
				at[x.section].alone += float64(mine.hi - mine.lo)
				alone.add(mine)
			}
			until = max(until, x.hi)
		}
		taken.addAll(slices.Values(alone))
		taken.join()
	}
	return alone
}

// outside yields what is left of the spans when holes, which are in order and apart, are taken out.
func outside(spans iter.Seq[span], holes []stretch) iter.Seq[stretch] {
	return func(yield func(stretch) bool) {
		for s := range spans {
			i, _ := slices.BinarySearchFunc(holes, s.lo, func(h stretch, at uint64) int { return cmp.Compare(h.hi, at) })
			for ; i < len(holes) && holes[i].lo < s.hi; i++ {
				if holes[i].lo > s.lo && !yield(stretch{s.lo, holes[i].lo}) {
					return
				}
				s.lo = min(s.hi, holes[i].hi)
			}
			if s.lo < s.hi && !yield(stretch{s.lo, s.hi}) {
				return
			}
		}
	}
}
