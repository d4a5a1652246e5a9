package analysis

// What proves that it is the program, and not the machine, that makes threads take longer.
// Interrupts, caches, the clock, other programs and other virtual machines do that as well: with
// equal work, CPU times of 50 ms were seen to differ by a fifth.

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"lime/internal/profile"
	"lime/internal/stat"
	"lime/internal/unit"
)

// proof is what speaks for the program.
type proof struct {
	half   bool // in a typical instance a quarter of the parts takes less than half of what the longest takes
	again  bool // the same threads take longer again and again
	often  bool // some thread takes much longer again and again, whichever it is
	shared bool // what one thread does more the others do less
}

// any reports whether the threads' times are proof themselves.
func (p proof) any() bool { return p.half || p.again || p.often || p.shared }

// waitsForThreads reports whether a wait is one for other threads: how long it is depends on who
// has a core meanwhile, since a lock's holder may have had to leave it.
func waitsForThreads(kind string) bool {
	f := profile.FamilyOf(kind)
	return f == profile.FamilyLock || f == profile.FamilyWait
}

// Limits of the proofs.
const (
	leastHalf  = 0.5  // of the longest part
	leastAgain = 0.1  // of the mean: threads of balanced programs on busy machines stay within 0.05 over some instances
	leastPaid  = 0.05 // of the threads' time, in waits for one another: as much as those of balanced programs differ by
	sureAgain  = 1e-4 // chance of threads that differ as much, the instances being alike: many sections are looked at
)

// proof looks at the threads' times.
func (w *rows) proof() proof {
	spread := w.middle(func(u *unevenness) float64 { return u.spread })
	long := w.mostDeviation() >= noiseFloor
	return proof{half: spread >= leastHalf && long, again: w.again(), often: w.often(), shared: w.shared()}
}

// again reports whether the threads differ by more than the instances do: the mean squares between
// the threads against those within them, without what the cores that they ran on explain.
func (w *rows) again() bool {
	threads, k := float64(len(w.threads)), w.instances()
	if threads < 2 || k < 2 || w.s2 == 0 {
		return false
	}
	lo, hi, between, all := math.Inf(1), math.Inf(-1), 0.0, 0.0
	mean := w.time / float64(w.parts)
	cores := w.cores(mean)
	for _, id := range slices.Sorted(maps.Keys(w.threads)) {
		t := w.threads[id]
		if t.parts < k/2 { // it was seldom there
			continue
		}
		d := t.dev / t.parts
		all += d * d * t.parts
		d -= cores.of(t)
		lo, hi, between = min(lo, d), max(hi, d), between+d*d*t.parts
	}
	if hi-lo < max(leastAgain*mean, oneEvent) { // who is let go first differs by as much, and may always be the same
		return false
	}
	if w.longer(cores, mean) {
		return true
	}
	df1, df2 := threads-max(1, float64(len(cores))), (k-1)*(threads-1)
	within := max(w.s2-all, 1e-9*w.s2)
	return stat.FTail(between/df1/(within/df2), df1, df2) < sureAgain
}

// sureLine is how many standard errors the rows must agree on a line by, each counted as one: that
// takes sixteen rows that say the same.
const sureLine = 4

// proved keeps the causes that something speaks for: the threads' times themselves, or the rows'
// samples.
func (p proof) proved(r *runner, id profile.SectionID, walk *walker) (kept []*found, err error) {
	if p.any() || len(walk.found) == 0 {
		return walk.found, nil
	}
	tests := make([]*lineTest, len(walk.found))
	for i, f := range walk.found {
		tests[i] = newLineTest(f.cause, walk.total.n)
	}
	for in, err := range r.src.Instances(id) {
		if err != nil {
			return nil, fmt.Errorf("section %d: %w", id, err)
		}
		for _, t := range tests {
			t.add(r.tab, in)
		}
	}
	for i, f := range walk.found {
		if tests[i].mix.z() >= sureLine || tests[i].length.z() >= sureLine {
			kept = append(kept, f)
		}
	}
	return kept, nil
}

// lineTest asks whether rows that take longer spend more of their samples inside of a part of the
// program, or are further from the end of its loop. A slow machine makes all code slow alike, and
// what one slow moment met is one row's.
type lineTest struct {
	inside      map[profile.NodeID]bool
	loop        profile.NodeID
	share       float64 // of all samples inside
	mix, length score
}

// score is a sum over rows that is nil by expectation if they have nothing in common, with its
// variance as the rows themselves have it.
type score struct{ sum, squares float64 }

func (s *score) add(x float64) { s.sum, s.squares = s.sum+x, s.squares+x*x }

func (s *score) z() float64 { return ratio(s.sum, math.Sqrt(s.squares)) }

func newLineTest(q *part, n float64) *lineTest {
	t := &lineTest{inside: map[profile.NodeID]bool{}, loop: profile.None, share: ratio(q.m.n, n)}
	if q.b.kind == boundLoop {
		t.loop = q.b.node
	}
	var collect func(q *part)
	collect = func(q *part) {
		if q.b.kind == boundLeaf {
			t.inside[q.b.node] = true
		}
		for _, k := range q.kids {
			collect(k)
		}
	}
	collect(q)
	return t
}

func (t *lineTest) add(tab *profile.Tables, in *profile.Instance) {
	times := ownTimes(tab, in)
	mean := sumOf(times) / float64(max(1, len(times)))
	all, mine := make([]float64, len(times)), make([]float64, len(times))
	for _, c := range in.Edges {
		if c.Row >= 0 && int(c.Row) < len(tab.Edges) && int(c.Part) < len(times) && tab.Edges[c.Row].Kind == profile.EdgeVisit {
			all[c.Part] += float64(c.N)
			if t.inside[tab.Edges[c.Row].To] {
				mine[c.Part] += float64(c.N)
			}
		}
	}
	for i := range times {
		t.mix.add((times[i] - mean) * (mine[i] - t.share*all[i]))
	}
	t.addLengths(tab, in, times, mean)
}

// addLengths compares what is left of the loop in each row with the mean of the instance's rows.
func (t *lineTest) addLengths(tab *profile.Tables, in *profile.Instance, times []float64, mean float64) {
	if t.loop < 0 {
		return
	}
	n, left := make([]float64, len(times)), make([]float64, len(times))
	for _, c := range in.Events {
		if c.Row < 0 || int(c.Row) >= len(tab.Events) || int(c.Part) >= len(times) || tab.Events[c.Row].Node != t.loop {
			continue
		}
		switch tab.Kinds[tab.Events[c.Row].Kind].Name {
		case profile.KindLoopSamples:
			n[c.Part] += float64(c.N)
		case profile.KindLoopLeft:
			left[c.Part] += float64(c.N)
		}
	}
	samples, whole := sumOf(n), sumOf(left)
	if samples == 0 || whole == 0 {
		return
	}
	for i := range times {
		if n[i] > 0 {
			t.length.add((times[i] - mean) * (left[i]*samples/whole - n[i]))
		}
	}
}

// machineKinds are kinds of waiting that the machine brings about as well as the program: pages
// that were not in memory, locks of the kernel and of the C library whose holders had no core. They
// stand in the account of what is lost, and are taken off the times in which causes are looked for.
func machineKinds() []string {
	return []string{profile.KindFault, profile.KindMap, profile.KindOffCPU, profile.KindFutex, profile.KindWorkWait}
}

func waitsOfMachine(tab *profile.Tables, event int32) bool {
	return slices.Contains(machineKinds(), tab.Kinds[tab.Events[event].Kind].Name)
}

// ofMachine reports whether an event is a recorded wait that says nothing of the program's own
// doing: for how long a thread waits for a page, or for a lock of the kernel's, depends on who has
// a core. Waits for others' work are the program's in any case.
func (r *runner) ofMachine(event int32) bool {
	return r.isSampled() && waitsOfMachine(r.tab, event) && r.tab.Kinds[r.tab.Events[event].Kind].Name != profile.KindWorkWait
}

// ownTimes are the parts' times less what the machine made them wait.
func ownTimes(tab *profile.Tables, in *profile.Instance) []float64 {
	t := times(in)
	for _, c := range in.Costs {
		if int(c.Part) < len(t) && c.Row >= 0 && int(c.Row) < len(tab.Events) && waitsOfMachine(tab, c.Row) {
			t[c.Part] -= min(t[c.Part], float64(c.N))
		}
	}
	return t
}

// unproved says why no cause is named: what was seen of the threads' times.
func (w *rows) unproved() string {
	spread := w.middle(func(u *unevenness) float64 { return u.spread })
	most := unit.Nanos(uint64(w.middle(func(u *unevenness) float64 { return u.most })))
	const machine = "Caches, interrupts, the clock and other programs make such differences, too"
	if len(w.uneven) == 1 {
		return fmt.Sprintf("There is one instance, in which the quickest quarter of the threads took %s less than the "+
			"longest, or more. %s, and one passage cannot tell them from the program's: "+
			"no cause is named. 'lime simulate' counts exactly.", unit.Percent(spread), machine)
	}
	lo, hi := math.Inf(1), 0.0
	for _, id := range slices.Sorted(maps.Keys(w.threads)) {
		t := w.threads[id]
		lo, hi = min(lo, ratio(t.time, t.parts)), max(hi, ratio(t.time, t.parts))
	}
	return fmt.Sprintf("In a typical one of the %d instances the quickest quarter of the threads took %s less than "+
		"the longest, and the furthest from the mean was %v away, now one thread and now another: "+
		"over all instances the threads' mean times are within %s. %s: no cause is named.", len(w.uneven),
		unit.Percent(spread), most, unit.Percent(ratio(hi-lo, hi)), machine)
}
