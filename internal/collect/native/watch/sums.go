package watch

// What the decisions of single watches say of all accesses.

import (
	"cmp"
	"math"
	"slices"

	"lime/internal/waste"
)

// Place is an instruction as reached by one call path: a number that the Host gives.
type Place int32

// Sums is what was found.
type Sums struct {
	Kinds [waste.Kinds]Share
	Pairs []Pair // the ones that waste most first
	Same  int    // accesses to bytes that other threads used at the time, too: true sharing
	Cost  Cost
}

// Share is the share of a kind, in bytes for which samples stand.
type Share struct {
	Looked             bool // somebody looked for the kind
	Wasted, Of, Open   float64
	Low, High          float64 // the share lies between them in 95 of 100 runs
	Samples, Decisions int
}

// Value is the share, 0 if there is nothing that it is a share of.
func (s *Share) Value() float64 {
	if s.Of == 0 {
		return 0
	}
	return s.Wasted / s.Of
}

// Pair is two places whose accesses waste memory work together.
type Pair struct {
	Kind          waste.Kind
	First, Second Place
	Thread        int32 // the first thread that was seen to do it
	Bytes         float64
	Count         int // decisions
	Addr          uint64
	Moved         bool // it was not always that address
}

// Cost says what the search took of the program's time.
type Cost struct {
	Ticks, Left int     // ticks of the clock; those at which nothing was sampled, because the budget was spent
	Strayed     int     // samples that were lost, because the thread took another way to the access than was foreseen
	Stopped     float64 // seconds of CPU time for which the tracer kept threads of the program stopped
	Ran         float64 // seconds of CPU time of the program's threads
}

// sums adds up samples and decisions.
type sums struct {
	pending map[placeKind]float64 // bytes of samples that nobody will decide, since the last decision there
	kinds   [waste.Kinds]tally
	pairs   map[pairKey]*Pair
	same    int
}

type placeKind struct {
	at   Place
	kind waste.Kind
}

type pairKey struct {
	placeKind
	second Place
}

// tally is what is known of a kind.
type tally struct {
	wasted, of, squares float64 // squares: of the weights of decisions
	samples, decisions  int
}

func newSums() *sums { return &sums{pending: map[placeKind]float64{}, pairs: map[pairKey]*Pair{}} }

// sampled notes a sample of a kind.
func (s *sums) sampled(k waste.Kind) { s.kinds[k].samples++ }

// missed notes an access of so many bytes whose outcome nobody will see: the next decision at its
// place speaks for it. One that is watched speaks for itself, or soon repeated accesses would speak
// for those that are repeated late.
func (s *sums) missed(kinds waste.Set, at Place, bytes int) {
	for k := range waste.Kinds {
		if kinds.Has(k) {
			s.pending[placeKind{at, k}] += float64(bytes)
		}
	}
}

// decision says of an access of so many bytes which fraction of them was waste.
type decision struct {
	kind          waste.Kind
	thread        int32
	at            Place // of the access
	first, second Place // of the pair that wasted it
	addr          uint64
	bytes         int
	fraction      float64
}

// decided charges the access, and those at its place that were missed since the last decision
// there.
func (s *sums) decided(d *decision) {
	key := placeKind{d.at, d.kind}
	w := float64(d.bytes) + s.pending[key]
	delete(s.pending, key)
	t := &s.kinds[d.kind]
	t.of += w
	t.squares += w * w
	t.wasted += w * d.fraction
	t.decisions++
	if d.fraction == 0 {
		return
	}
	pair := pairKey{placeKind{d.first, d.kind}, d.second}
	p := s.pairs[pair]
	if p == nil {
		p = &Pair{Kind: d.kind, First: d.first, Second: d.second, Thread: d.thread, Addr: d.addr}
		s.pairs[pair] = p
	}
	p.Moved = p.Moved || p.Addr != d.addr
	p.Bytes += w * d.fraction
	p.Count++
}

// result is what was found, of the kinds that were looked for.
func (s *sums) result(kinds waste.Set) Sums {
	out := Sums{Same: s.same}
	for k := range waste.Kinds {
		if !kinds.Has(k) {
			continue
		}
		t := &s.kinds[k]
		share := Share{Looked: true, Wasted: t.wasted, Of: t.of, Samples: t.samples, Decisions: t.decisions}
		for key, w := range s.pending {
			if key.kind == k {
				share.Open += w
			}
		}
		share.Low, share.High = wilson(share.Value(), t.of, t.squares)
		out.Kinds[k] = share
	}
	for _, p := range s.pairs {
		out.Pairs = append(out.Pairs, *p)
	}
	slices.SortFunc(out.Pairs, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.First, b.First), cmp.Compare(a.Second, b.Second))
	})
	return out
}

// normal95 is the two-sided 95 % quantile of the normal distribution.
const normal95 = 1.959963985

// wilson is the interval of a share by decisions of unlike weight: Wilson's, with as many equal
// decisions as would spread alike (Kish's effective sample size). Without a decision nothing is
// known.
func wilson(p, sum, squares float64) (low, high float64) {
	if squares == 0 {
		return 0, 1
	}
	n, z2 := sum*sum/squares, normal95*normal95
	mid := (p + z2/(2*n)) / (1 + z2/n)
	half := normal95 / (1 + z2/n) * math.Sqrt(p*(1-p)/n+z2/(4*n*n))
	return max(0, min(p, mid-half)), min(1, max(p, mid+half))
}
