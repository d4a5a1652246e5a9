// Few instances, of which some lose much and others nothing: their squares are those of the few, and
// tell nothing of the threads. That one of the threads takes longer in each of the few does.

package analysis

import (
	"maps"
	"slices"

	"lime/internal/profile"
	"lime/internal/stat"
)

// passage is an instance: by what each thread took longer than the mean, and that.
type passage struct {
	threads []profile.ThreadID
	dev     []float64
	mean    float64
}

// mostPassages bounds the parts that are kept: of more, squares tell enough.
const mostPassages = 1 << 12

// addPassage keeps an instance whose threads differ by more than interrupts alone make.
func (w *rows) addPassage(in *profile.Instance, t []float64, mean, most float64) {
	if len(t) < 2 || most < noiseFloor || w.parts > mostPassages {
		return
	}
	p := passage{mean: mean}
	for i := range t {
		p.threads, p.dev = append(p.threads, in.Parts[i].Thread), append(p.dev, t[i]-mean)
	}
	w.passages = append(w.passages, p)
}

// longer reports whether one thread takes longer in too many instances, or by too much, to be the one
// that chance chose: were the threads of an instance alike, each of them might as well have been any
// other one. An instance counts by how much of its mean its threads differ by, so that a long one in
// which one thread was held up does not hide the others. That thread must take longer by as much as
// the machine does not make, whichever instance is left out.
func (w *rows) longer(cores coreEffects, mean float64) bool {
	if w.parts > mostPassages {
		return false
	}
	for _, id := range slices.Sorted(maps.Keys(w.threads)) {
		longer, least, all := 0.0, 0.0, 0.0
		shares, sum := make([][]float64, 0, len(w.passages)), 0.0
		for i := range w.passages {
			p := &w.passages[i]
			k := slices.Index(p.threads, id)
			if k < 0 {
				continue
			}
			list := make([]float64, len(p.dev))
			for j, th := range p.threads {
				list[j] = p.dev[j]/p.mean - cores.of(w.threads[th])/mean
			}
			shares, sum = append(shares, list), sum+list[k]
			longer, least, all = longer+list[k]*p.mean, max(least, list[k]*p.mean), all+p.mean
		}
		if longer-least >= leastAgain*all && float64(len(w.threads))*stat.DrawnTail(shares, sum) < sureAgain {
			return true
		}
	}
	return false
}
