package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"lime/internal/profile"
)

// rows is what all instances of a section say together. Samples are too few in one instance to say
// much, so every thread of every instance is a row: its deviation from the mean time of its
// instance, and its time by block. The time of a row is known; its samples divide it among the
// blocks, with one sample's weight given to how the thread divides its time over all instances, for
// rows that have few samples or none.
type rows struct {
	s2       float64 // sum of squared deviations
	time     float64
	n        float64
	blocks   map[profile.NodeID]mass
	threads  map[profile.ThreadID]*threadRows
	trips    *trips
	waits    map[int32]mass                         // by event: waits for locks
	happened map[int32]map[profile.ThreadID]float64 // by event: how often, as far as sampled
	least    map[int32]float64                      // by kind of event: the smallest count, which is a sample
	doubt    float64                                // variance of the parts' times, as far as they are estimates
	parts    int
	uneven   []unevenness
	passages []passage // unless there are many
	shares   sharings
	teams    *teams
	tasks    *wholeTasks
}

// threadRows is what the rows of one thread have in common.
type threadRows struct {
	time   float64
	dev    float64 // sum of deviations
	prior  float64 // sum of deviation x time / (samples + 1)
	n      float64
	parts  float64
	blocks map[profile.NodeID]float64
	waits  map[int32]float64
	cores  map[uint64]float64 // time on each core
}

// gather reads all instances of a section.
func (r *runner) gather(id profile.SectionID) (*rows, error) {
	of, err := r.teamsOf(id)
	if err != nil {
		return nil, err
	}
	w := &rows{teams: of, tasks: newWholeTasks(), blocks: map[profile.NodeID]mass{}, threads: map[profile.ThreadID]*threadRows{}, trips: newTrips(),
		waits: map[int32]mass{}, happened: map[int32]map[profile.ThreadID]float64{}, least: map[int32]float64{}}
	for in, err := range r.src.Instances(id) {
		if err != nil {
			return nil, fmt.Errorf("section %d: %w", id, err)
		}
		in = of.renamed(in)
		w.add(r.tab, in)
		w.tasks.add(r.tab, in)
		w.trips.add(r.tab, in)
	}
	for _, id := range slices.Sorted(maps.Keys(w.threads)) {
		t := w.threads[id]
		for v, n := range t.blocks {
			m := w.blocks[v]
			m.cov += t.prior * ratio(n, t.n)
			w.blocks[v] = m
		}
	}
	return w, nil
}

func (w *rows) thread(id profile.ThreadID) *threadRows {
	t := w.threads[id]
	if t == nil {
		t = &threadRows{blocks: map[profile.NodeID]float64{}}
		w.threads[id] = t
	}
	return t
}

func (w *rows) add(tab *profile.Tables, in *profile.Instance) {
	t := ownTimes(tab, in)
	mean, n := sumOf(t)/float64(max(1, len(t))), make([]float64, len(t))
	visits := func(f func(part int, v profile.NodeID, n float64)) {
		for _, c := range in.Edges {
			if c.Row >= 0 && int(c.Row) < len(tab.Edges) && int(c.Part) < len(t) && tab.Edges[c.Row].Kind == profile.EdgeVisit {
				f(int(c.Part), tab.Edges[c.Row].To, float64(c.N))
			}
		}
	}
	visits(func(part int, _ profile.NodeID, k float64) { n[part] += k })
	waits := programWaits(tab, in, t)
	w.addSpins(tab, in, t, n)
	w.addCores(tab, in)
	u := unevenness{weight: sumOf(t)}
	for i := range t {
		dev, tr := t[i]-mean, w.thread(in.Parts[i].Thread)
		w.time, w.n, w.s2 = w.time+t[i], w.n+n[i], w.s2+dev*dev
		cpu := t[i] - waits[i]
		tr.parts++
		tr.time, tr.dev, tr.n, tr.prior = tr.time+t[i], tr.dev+dev, tr.n+n[i], tr.prior+dev*cpu/(n[i]+1)
		w.parts++
		u.abs, u.most = u.abs+math.Abs(dev)/float64(len(t)), max(u.most, math.Abs(dev))
	}
	if len(t) > 0 {
		u.late = slices.Max(t) - mean
		u.spread = spreadOf(t)
	}
	w.addPassage(in, t, mean, u.most)
	u.rel = ratio(u.abs, mean)
	w.uneven = append(w.uneven, u)
	w.shares.add(t, &u)
	w.addWaits(tab, in, t, mean)
	w.addEvents(tab, in)
	visits(func(part int, v profile.NodeID, k float64) {
		x := (t[part] - mean) * (t[part] - waits[part]) / (n[part] + 1)
		m := w.blocks[v]
		m.add(mass{n: k, cov: x * k, vari: x * x * k}, 1)
		w.blocks[v] = m
		w.thread(in.Parts[part].Thread).blocks[v] += k
	})
}

// programWaits is how much of each part's time is waiting of the program's own, in which no sample
// falls.
func programWaits(tab *profile.Tables, in *profile.Instance, t []float64) []float64 {
	out := make([]float64, len(t))
	for i := range in.Parts {
		p := &in.Parts[i]
		out[i] = max(0, float64(p.LockWait)+float64(p.OffCPU)-(float64(p.Time())-t[i]))
		out[i] = min(out[i], t[i])
	}
	return out
}

// addSpins adds up how unsure the times are from which spinning was taken off: which of a part's n
// + s samples met it spinning is chance.
func (w *rows) addSpins(tab *profile.Tables, in *profile.Instance, t, n []float64) {
	for _, c := range in.Events {
		if c.Row < 0 || int(c.Row) >= len(tab.Events) || int(c.Part) >= len(t) ||
			tab.Kinds[tab.Events[c.Row].Kind].Name != profile.KindSpinSamples {
			continue
		}
		spins, work := float64(c.N), max(n[c.Part], 1)
		w.doubt += t[c.Part] * t[c.Part] * spins / (work * (work + spins))
	}
}

// doubtful reports whether the times differ by little more than is to be expected of estimates.
func (w *rows) doubtful() bool { return w.s2 < surelyZ*w.doubt }

// addWaits adds the waits for locks: their times are measured, not sampled.
func (w *rows) addWaits(tab *profile.Tables, in *profile.Instance, t []float64, mean float64) {
	for _, c := range in.Costs {
		if int(c.Part) < len(t) && !waitsOfMachine(tab, c.Row) {
			m := w.waits[c.Row]
			m.add(mass{n: float64(c.N), cov: (t[c.Part] - mean) * float64(c.N)}, 1)
			w.waits[c.Row] = m
			tr := w.thread(in.Parts[c.Part].Thread)
			if tr.waits == nil {
				tr.waits = map[int32]float64{}
			}
			tr.waits[c.Row] += float64(c.N)
		}
	}
}

// waitShares are the shares of the uneven time that waits for locks explain, by event.
func (w *rows) waitShares() map[int32]float64 {
	out := map[int32]float64{}
	if !w.steady() {
		for e, m := range w.waits {
			out[e] = m.cov / w.s2
		}
		return out
	}
	s2 := 0.0
	for _, id := range slices.Sorted(maps.Keys(w.threads)) {
		s2 += w.threads[id].dev * w.threads[id].dev
	}
	for _, id := range slices.Sorted(maps.Keys(w.threads)) {
		t := w.threads[id]
		for e, wait := range t.waits {
			out[e] += t.dev * wait / s2
		}
	}
	return out
}

// steady reports whether the same threads take longer in most instances, so that the deviations of
// a thread add up instead of cancelling. Then the threads' sums over the instances tell more than
// single instances, in which much is chance.
func (w *rows) steady() bool {
	part, k := w.steadyShare(), w.instances()
	return part > mostlySteady || part > leastSteady && part*k > surelySteady
}

// Limits of what counts as the same threads taking longer.
const (
	mostlySteady = 0.5
	leastSteady  = 0.02
	surelySteady = 10 // times what chance brings about
)

// steadyShare is the part of the unevenness that is the same in all instances: 1 if they are alike;
// of mere chance, one by their number.
func (w *rows) steadyShare() float64 {
	sumSq := 0.0
	for _, id := range slices.Sorted(maps.Keys(w.threads)) {
		sumSq += w.threads[id].dev * w.threads[id].dev
	}
	return ratio(sumSq, w.s2*w.instances())
}

// steadyLoss is the part of what the instances lose that they would lose if every thread took its
// mean time in each.
func (w *rows) steadyLoss() float64 {
	late, sum, most := 0.0, 0.0, 0.0
	for i := range w.uneven {
		late += w.uneven[i].late
	}
	for _, id := range slices.Sorted(maps.Keys(w.threads)) {
		sum, most = sum+w.threads[id].time, max(most, w.threads[id].time)
	}
	return min(1, ratio(most-sum/max(1, float64(len(w.threads))), late))
}

// spreadOf is by how much the quickest quarter of the parts are shorter than the longest. One that
// is shorter than all others, as of a thread that creates them, costs nobody much.
func spreadOf(t []float64) float64 {
	sorted := slices.Sorted(slices.Values(t))
	longest := sorted[len(sorted)-1]
	return ratio(longest-sorted[(len(sorted)-1)/4], longest)
}

// unevenness is how far an instance's parts are from their mean.
type unevenness struct {
	weight    float64 // time of all parts
	abs, most float64 // mean and largest deviation
	rel       float64 // the mean one, by the mean time
	late      float64 // of the last part
	spread    float64 // by how much the quickest quarter is shorter than the longest part, or more, by that one
}

// middle is the median of a measure over the instances, weighed by their time.
func (w *rows) middle(of func(*unevenness) float64) float64 {
	slices.SortFunc(w.uneven, func(a, b unevenness) int { return cmp.Or(cmp.Compare(of(&a), of(&b)), cmp.Compare(a.weight, b.weight)) })
	all, sum := 0.0, 0.0
	for i := range w.uneven {
		all += w.uneven[i].weight
	}
	for i := range w.uneven {
		if sum += w.uneven[i].weight; 2*sum >= all {
			return of(&w.uneven[i])
		}
	}
	return 0
}

// mostDeviation is the mean of the instances' largest deviations: interrupts that meet a few of
// thousands of short instances make those last for most of the time, and them alone uneven.
func (w *rows) mostDeviation() (mean float64) {
	for i := range w.uneven {
		mean += w.uneven[i].most / float64(len(w.uneven))
	}
	return mean
}

// noiseFloor is by how much less than this, in ns, parts differ by interrupts and caches alone.
const noiseFloor = 8000

// instances is the number of rows that a thread has.
func (w *rows) instances() float64 { return float64(w.parts) / max(1, float64(len(w.threads))) }
