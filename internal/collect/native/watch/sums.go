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
	Kinds   [waste.Kinds]Share
	Lives   []Life                        // of threads, by number
	Threads map[int32]*[waste.Kinds]Share // by life, those with decisions; their bounds hold together
	Pairs   []Pair                        // the ones that waste most first
	Same    int                           // accesses to bytes that other threads used at the time, too: true sharing
	Cost    Cost
	places  map[placeKind]*tally
}

// Life is a thread's. What is known of it is told by its number here: the kernel gives the id to another
// thread when it has ended.
type Life struct {
	TID int
	At  uint64 // a moment of it, on the monotonic clock
}

// Least returns the lower bound of a kind's share at an instruction, on whichever call paths, 0 if
// nothing is known of it; pc is that of a place.
func (s *Sums) Least(pc func(Place) uint64) func(waste.Kind, uint64) float64 {
	type instruction struct {
		pc   uint64
		kind waste.Kind
	}
	sums := map[instruction]*tally{}
	for key, t := range s.places {
		at := instruction{pc(key.at), key.kind}
		if sums[at] == nil {
			sums[at] = &tally{}
		}
		sum := sums[at]
		sum.wasted, sum.of, sum.squares = sum.wasted+t.wasted, sum.of+t.of, sum.squares+t.squares
	}
	return func(k waste.Kind, pc uint64) float64 {
		sum := sums[instruction{pc, k}]
		if sum == nil {
			return 0
		}
		low, _ := wilson(sum.wasted/max(sum.of, 1), sum.of, sum.squares, normal95)
		return low
	}
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

// Pair is two places whose accesses waste memory work together, in one thread.
type Pair struct {
	Kind          waste.Kind
	First, Second Place
	Thread        int32 // its life
	Bytes         float64
	Count         int // decisions
	Addr          uint64
	Fixed         bool // each thread does it at one address, as those show that were seen to do it again
	Moved         bool // some thread was seen to do it at several
}

// Cost says what the search took of the program's time.
type Cost struct {
	Ticks, Left int     // ticks of the clock; those at which nothing was sampled, by chance, to keep to the budget
	Strayed     int     // samples that were lost, because the thread took another way to the access than was foreseen
	Stopped     float64 // seconds of CPU time for which the tracer kept threads of the program stopped
	Ran         float64 // seconds of CPU time of the program's threads
}

// sums adds up samples and decisions, of all threads together and of each life by itself.
type sums struct {
	whole   account
	threads map[int32]*account
	pairs   map[pairKey]*Pair
	places  map[placeKind]*tally // of the whole
	same    int
}

// account is what is known of some threads' accesses.
type account struct {
	pending map[placeKind]float64 // bytes of samples that nobody will decide, since the last decision there
	kinds   [waste.Kinds]tally
}

type placeKind struct {
	at   Place
	kind waste.Kind
}

// twoPlaces are those of a pair, in whichever thread.
type twoPlaces struct {
	placeKind
	second Place
}

type pairKey struct {
	twoPlaces
	thread int32
}

// tally is what is known of a kind.
type tally struct {
	wasted, of, squares float64 // squares: of the weights of decisions
	samples, decisions  int
}

func newAccount() *account { return &account{pending: map[placeKind]float64{}} }

func newSums() *sums {
	return &sums{whole: *newAccount(), threads: map[int32]*account{}, pairs: map[pairKey]*Pair{},
		places: map[placeKind]*tally{}}
}

// of are the accounts of a thread: its own, and that of all.
func (s *sums) of(thread int32) [2]*account {
	own := s.threads[thread]
	if own == nil {
		own = newAccount()
		s.threads[thread] = own
	}
	return [2]*account{&s.whole, own}
}

// sampled notes a sample of a kind.
func (s *sums) sampled(k waste.Kind) { s.whole.kinds[k].samples++ }

// missed notes an access of so many bytes whose outcome nobody will see: the next decision at its
// place speaks for it. One that is watched speaks for itself, or soon repeated accesses would speak
// for those that are repeated late.
func (s *sums) missed(kinds waste.Set, thread int32, at Place, bytes float64) {
	for _, a := range s.of(thread) {
		for k := range waste.Kinds {
			if kinds.Has(k) {
				a.pending[placeKind{at, k}] += bytes
			}
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
	ticks         float64 // for which the sample stands
	fraction      float64
}

// decided charges the access, and those at its place that were missed since the last decision
// there. It returns the bytes for which it stands.
func (s *sums) decided(d *decision) (weight float64) {
	accounts := s.of(d.thread)
	accounts[1].decided(d)
	weight = accounts[0].decided(d)
	at := placeKind{d.at, d.kind}
	if s.places[at] == nil {
		s.places[at] = &tally{}
	}
	s.places[at].add(weight, d.fraction)
	if d.fraction == 0 {
		return weight
	}
	pair := pairKey{twoPlaces{placeKind{d.first, d.kind}, d.second}, d.thread}
	p := s.pairs[pair]
	if p == nil {
		p = &Pair{Kind: d.kind, First: d.first, Second: d.second, Thread: d.thread, Addr: d.addr}
		s.pairs[pair] = p
	}
	p.Moved = p.Moved || p.Addr != d.addr
	p.Bytes += weight * d.fraction
	p.Count++
	return weight
}

func (a *account) decided(d *decision) (weight float64) {
	key := placeKind{d.at, d.kind}
	w := float64(d.bytes)*d.ticks + a.pending[key]
	delete(a.pending, key)
	a.kinds[d.kind].add(w, d.fraction)
	return w
}

func (t *tally) add(weight, fraction float64) {
	t.of += weight
	t.squares += weight * weight
	t.wasted += weight * fraction
	t.decisions++
}

// result is what was found, of the kinds that were looked for.
func (s *sums) result(kinds waste.Set) Sums {
	out := Sums{Same: s.same, places: s.places, Threads: map[int32]*[waste.Kinds]Share{}}
	for k := range waste.Kinds {
		if !kinds.Has(k) {
			continue
		}
		out.Kinds[k] = s.whole.share(k, normal95)
		quantile := jointly(s.deciders(k))
		for id, a := range s.threads {
			if a.kinds[k].decisions == 0 {
				continue
			}
			if out.Threads[id] == nil {
				out.Threads[id] = &[waste.Kinds]Share{}
			}
			out.Threads[id][k] = a.share(k, quantile)
		}
	}
	again, moved := s.addresses()
	for key, pair := range s.pairs {
		p := *pair
		p.Moved = moved[key.twoPlaces]
		p.Fixed = again[key.twoPlaces] && !p.Moved
		out.Pairs = append(out.Pairs, p)
	}
	slices.SortFunc(out.Pairs, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.First, b.First),
			cmp.Compare(a.Second, b.Second), cmp.Compare(a.Thread, b.Thread))
	})
	return out
}

// addresses tells to which places a thread was seen to come again, and to which at another address. One
// that was seen there but once says nothing of that; where it has done the same as the others it is taken
// for like them.
func (s *sums) addresses() (again, moved map[twoPlaces]bool) {
	again, moved = map[twoPlaces]bool{}, map[twoPlaces]bool{}
	for key, p := range s.pairs {
		again[key.twoPlaces] = again[key.twoPlaces] || p.Count > 1
		moved[key.twoPlaces] = moved[key.twoPlaces] || p.Moved
	}
	return again, moved
}

// deciders is how many threads have decisions of a kind.
func (s *sums) deciders(k waste.Kind) (n int) {
	for _, a := range s.threads {
		if a.kinds[k].decisions > 0 {
			n++
		}
	}
	return n
}

// share is that of a kind, with bounds at a quantile of the normal distribution.
func (a *account) share(k waste.Kind, quantile float64) Share {
	t := &a.kinds[k]
	share := Share{Looked: true, Wasted: t.wasted, Of: t.of, Samples: t.samples, Decisions: t.decisions}
	for key, w := range a.pending {
		if key.kind == k {
			share.Open += w
		}
	}
	share.Low, share.High = wilson(share.Value(), t.of, t.squares, quantile)
	return share
}

// normal95 is the two-sided 95 % quantile of the normal distribution.
const normal95 = 1.959963985

// jointly is the quantile at which the bounds of n shares hold all together in 95 of 100 runs
// (Bonferroni): whatever two of them are compared, a gap between their bounds is none of chance.
func jointly(n int) float64 {
	return math.Sqrt2 * math.Erfinv(1-(1-math.Erf(normal95/math.Sqrt2))/float64(max(n, 1)))
}

// wilson is the interval of a share by decisions of unlike weight: Wilson's, with as many equal
// decisions as would spread alike (Kish's effective sample size). Without a decision nothing is
// known.
func wilson(p, sum, squares, quantile float64) (low, high float64) {
	if squares == 0 {
		return 0, 1
	}
	n, z2 := sum*sum/squares, quantile*quantile
	mid := (p + z2/(2*n)) / (1 + z2/n)
	half := quantile / (1 + z2/n) * math.Sqrt(p*(1-p)/n+z2/(4*n*n))
	return max(0, min(p, mid-half)), min(1, max(p, mid+half))
}
