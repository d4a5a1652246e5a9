package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"lime/internal/profile"
	"lime/internal/stat"
	"lime/internal/unit"
)

// Where all threads do the same work and it takes some of them longer, the cause is none of control
// flow. If events were sampled beside the time, those that happen more often in the threads that
// take longer are the causes: found by regression, as for counts that are exact.

// happening is a kind of event at a line, by thread.
type happening struct {
	event   *profile.Event
	key     causeKey
	nodes   []profile.NodeID
	threads map[profile.ThreadID]float64
	wasted  bool // it is wasted memory work
}

// addEvents adds up what happened in an instance.
func (w *rows) addEvents(tab *profile.Tables, in *profile.Instance) {
	for _, c := range in.Events {
		if c.Row < 0 || int(c.Row) >= len(tab.Events) || int(c.Part) >= len(in.Parts) || !sampledKind(&tab.Kinds[tab.Events[c.Row].Kind]) {
			continue
		}
		if w.happened[c.Row] == nil {
			w.happened[c.Row] = map[profile.ThreadID]float64{}
		}
		w.happened[c.Row][in.Parts[c.Part].Thread] += float64(c.N)
		kind := tab.Events[c.Row].Kind
		if least, ok := w.least[kind]; c.N > 0 && (!ok || float64(c.N) < least) {
			w.least[kind] = float64(c.N)
		}
	}
}

// sampledKind reports whether a kind counts what happens to instructions: neither what tells of
// loops, nor waits, which are measured.
func sampledKind(k *profile.EventKind) bool {
	return k.Label == profile.Sampled && !k.Auxiliary()
}

// byThread is how often it happened in each thread. Wasted memory work is sampled by time: a thread
// that takes longer for the same work has more samples of it, whatever made it slow. What counts is
// what the threads' times leave over: whether the time that some take more goes to it.
func (h *happening) byThread(threads []ThreadTotal) []float64 {
	out, times := make([]float64, len(threads)), make([]float64, len(threads))
	for k, t := range threads {
		out[k], times[k] = h.threads[t.Thread], t.Time
	}
	if h.wasted {
		stat.Residual(out, [][]float64{times}, collinear)
	}
	return out
}

// happenings joins the events of one kind on one line.
func (r *runner) happenings(w *rows) []*happening {
	byKey := map[causeKey]*happening{}
	var out []*happening
	for _, row := range slices.Sorted(maps.Keys(w.happened)) {
		ev := &r.tab.Events[row]
		key := causeKey{lineKey: frameKey(ev.Frames, ev.Addr), hw: true, kind: ev.Kind}
		h := byKey[key]
		if h == nil {
			h = &happening{event: ev, key: key, threads: map[profile.ThreadID]float64{},
				wasted: r.tab.Kinds[ev.Kind].Family() == profile.FamilyWaste}
			byKey[key] = h
			out = append(out, h)
		}
		h.nodes = append(h.nodes, ev.Node)
		for t, n := range w.happened[row] {
			h.threads[t] += n
		}
	}
	slices.SortStableFunc(out, func(a, b *happening) int { return cmp.Compare(r.depth(a.event.Kind), r.depth(b.event.Kind)) })
	return out
}

// often reports whether there are as many samples of the event as a cause needs: the smallest count
// of its kind is one sample.
func (h *happening) often(w *rows) bool {
	all := 0.0
	for _, id := range slices.Sorted(maps.Keys(h.threads)) {
		all += h.threads[id]
	}
	return all >= leastSamples*w.least[h.event.Kind]
}

// depth is how many events of other kinds have to happen first.
func (r *runner) depth(k int32) (n int) {
	for n < len(r.tab.Kinds) {
		up := r.tab.Kinds[k].Superior
		next := slices.IndexFunc(r.tab.Kinds, func(e profile.EventKind) bool { return e.Name == up })
		if up == "" || next < 0 {
			break
		}
		k, n = int32(next), n+1
	}
	return n
}

const (
	mostEvents = 3    // that are looked for beside one another
	collinear  = 3e-5 // of a vector's length: what is left of one that all but lay along another is nothing
)

// eventCauses looks for the events that go with the time that threads take for the same work; share
// is that of the section's unevenness.
func (r *runner) eventCauses(sec *Section, w *rows, walk *walker, share float64) {
	y := make([]float64, len(sec.Threads))
	for i, t := range sec.Threads {
		for _, q := range walk.prices {
			y[i] += q.threads[t.Thread]
		}
	}
	list := slices.DeleteFunc(r.happenings(w), func(h *happening) bool { return !h.often(w) }) // a few samples meet some thread by chance
	xs := make([][]float64, len(list))
	for i, h := range list {
		xs[i] = h.byThread(sec.Threads)
		stat.Centre(xs[i])
	}
	stat.Centre(y)
	whole := stat.Dot(y, y)
	for step := range min(mostEvents, len(y)-2) {
		best, gain := strongest(xs, y)
		if best < 0 {
			return
		}
		left := stat.Dot(y, y) * (1 - gain)
		df := float64(len(y) - 2 - step)
		p := stat.FTail(gain*stat.Dot(y, y)*df/max(left, 1e-300), 1, df)
		if p*float64(len(list)) >= r.opt.Alpha {
			return
		}
		r.addEventCause(sec, list[best], share*gain*stat.Dot(y, y)/whole, p, min(1, p*float64(len(list))))
		x := [][]float64{slices.Clone(xs[best])}
		for i := range xs {
			stat.Residual(xs[i], x, collinear)
		}
		stat.Residual(y, x, collinear)
	}
}

// strongest is the vector that rises with y most, and the part of y's variance that it explains; -1
// if there is none.
func strongest(xs [][]float64, y []float64) (best int, gain float64) {
	best = -1
	const equal = 1e-9
	for i, x := range xs {
		xy, xx, yy := stat.Dot(x, y), stat.Dot(x, x), stat.Dot(y, y)
		if xy <= 0 || xx <= 0 || yy <= 0 {
			continue
		}
		if g := xy * xy / (xx * yy); g > gain+equal {
			best, gain = i, g
		}
	}
	return best, min(gain, 1)
}

func (r *runner) addEventCause(sec *Section, h *happening, share, p, family float64) {
	share = min(1, share)
	c := Cause{Family: FamilyHardware, Event: r.prog.kindName(h.event.Kind), Title: r.kindTitle(h.event.Kind),
		Place: r.prog.eventPlace(h.event),
		Score: share, Share: &share, Beta: share, P: p, PFamily: family, R2: Interval{share, share, share},
		Nodes: h.nodes, key: h.key, Summed: true}
	for _, t := range sec.Threads {
		c.Threads = append(c.Threads, ThreadCount{Thread: t.Thread, Name: t.Name,
			Count: uint64(math.Round(h.threads[t.Thread])), Time: t.Time, Wait: t.Wait})
	}
	c.R2.Lo, c.R2.Hi = stat.SquaredInterval(share, len(c.Threads), 0)
	c.Correlation = correlation(c.Threads)
	byCount := func(a, b ThreadCount) int { return cmp.Compare(a.Count, b.Count) }
	hi, lo := slices.MaxFunc(c.Threads, byCount), slices.MinFunc(c.Threads, byCount)
	words := "By samples, about %s of these happen to thread %d here and %s to thread %d, which do the same work."
	if h.wasted {
		words = "%s samples of thread %d are of these here and %s of thread %d, which do the same work."
	}
	c.Sentence = fmt.Sprintf(words, unit.SI(float64(hi.Count)), hi.Thread, unit.SI(float64(lo.Count)), lo.Thread)
	sec.Causes = append(sec.Causes, c)
}
