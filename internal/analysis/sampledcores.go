// What the cores that threads ran on explain of their times. A thread that stays on a slow core takes
// longer again and again, and so do all others there.

package analysis

import (
	"maps"
	"math"
	"slices"

	"lime/internal/profile"
)

// addCores adds up on which cores each thread ran.
func (w *rows) addCores(tab *profile.Tables, in *profile.Instance) {
	for _, c := range in.Events {
		if c.Row < 0 || int(c.Row) >= len(tab.Events) || int(c.Part) >= len(in.Parts) ||
			tab.Kinds[tab.Events[c.Row].Kind].Name != profile.KindCoreTime {
			continue
		}
		t := w.thread(in.Parts[c.Part].Thread)
		if t.cores == nil {
			t.cores = map[uint64]float64{}
		}
		t.cores[tab.Events[c.Row].Addr] += float64(c.N)
	}
}

// coreSum is a thread's time on all cores, added up in one order.
func coreSum(cores map[uint64]float64) (sum float64) {
	for _, c := range slices.Sorted(maps.Keys(cores)) {
		sum += cores[c]
	}
	return sum
}

// coreEffects are by how much the parts of threads take longer that run on a core.
type coreEffects map[uint64]float64

// of is what they make of a thread's time.
func (e coreEffects) of(t *threadRows) (sum float64) {
	all := coreSum(t.cores)
	for _, c := range slices.Sorted(maps.Keys(t.cores)) {
		sum += e[c] * ratio(t.cores[c], all)
	}
	return sum
}

// coreRounds is how many rounds of estimates, each by what the others leave, are made.
const coreRounds = 64

// coreFit is what one thread says of the cores' effects.
type coreFit struct {
	parts  float64
	left   float64   // of its mean deviation: what the effects so far do not explain
	shares []float64 // of its time, by core
}

// cores estimates the cores' effects from the threads' mean deviations, by least squares. There are
// none if no threads share a core: then nothing tells the two apart. No core is believed to make a
// difference that would prove the program's doing by itself: where all threads were everywhere, small
// shares must not explain much.
func (w *rows) cores(mean float64) coreEffects {
	e := coreEffects{}
	for _, t := range w.threads {
		if len(t.cores) == 0 {
			return nil
		}
		for c := range t.cores {
			e[c] = 0
		}
	}
	if len(e) < 2 || len(e) >= len(w.threads) {
		return nil
	}
	list := slices.Sorted(maps.Keys(e))
	fits := w.coreFits(list)
	for range coreRounds {
		for k, c := range list {
			num, den := 0.0, 0.0
			for i := range fits {
				f := &fits[i]
				num += f.parts * f.shares[k] * (f.left + f.shares[k]*e[c])
				den += f.parts * f.shares[k] * f.shares[k]
			}
			was := e[c]
			e[c] = math.Max(-leastHalf*mean, math.Min(leastHalf*mean, ratio(num, den)))
			for i := range fits {
				fits[i].left -= fits[i].shares[k] * (e[c] - was)
			}
		}
	}
	return e
}

// coreFits is a row for each thread, in their order; before any effect is known all of its deviation
// is left.
func (w *rows) coreFits(list []uint64) []coreFit {
	fits := make([]coreFit, 0, len(w.threads))
	for _, id := range slices.Sorted(maps.Keys(w.threads)) {
		t := w.threads[id]
		f := coreFit{parts: t.parts, left: t.dev / t.parts, shares: make([]float64, len(list))}
		all := coreSum(t.cores)
		for k, c := range list {
			f.shares[k] = ratio(t.cores[c], all)
		}
		fits = append(fits, f)
	}
	return fits
}
