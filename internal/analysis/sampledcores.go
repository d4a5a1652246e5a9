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

// cores estimates the cores' effects from the threads' mean deviations, by least squares. There are
// none if no threads share a core: then nothing tells the two apart. No core is believed to make a
// difference that would prove the program's doing by itself: where all threads were everywhere, small
// shares must not explain much.
func (w *rows) cores(mean float64) coreEffects {
	e := coreEffects{}
	ids := slices.Sorted(maps.Keys(w.threads))
	for _, id := range ids {
		if len(w.threads[id].cores) == 0 {
			return nil
		}
		for c := range w.threads[id].cores {
			e[c] = 0
		}
	}
	if len(e) < 2 || len(e) >= len(ids) {
		return nil
	}
	list := slices.Sorted(maps.Keys(e))
	for range coreRounds {
		for _, c := range list {
			num, den := 0.0, 0.0
			for _, id := range ids {
				t := w.threads[id]
				share := ratio(t.cores[c], coreSum(t.cores))
				num += t.parts * share * (t.dev/t.parts - e.of(t) + share*e[c])
				den += t.parts * share * share
			}
			e[c] = math.Max(-leastHalf*mean, math.Min(leastHalf*mean, ratio(num, den)))
		}
	}
	return e
}
