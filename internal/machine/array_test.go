package machine

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// slowLRU is a set-associative cache with LRU by time stamps.
type slowLRU struct {
	sets, ways int
	lines      map[int][]uint64 // per set, most recent first
}

func (s *slowLRU) access(line uint64) (hit bool) {
	set := int(line % uint64(s.sets))
	l := s.lines[set]
	if i := slices.Index(l, line); i >= 0 {
		hit, l = true, slices.Delete(l, i, i+1)
	}
	l = slices.Insert(l, 0, line)
	s.lines[set] = l[:min(len(l), s.ways)]
	return hit
}

func TestArrayIsLRU(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, shape := range [][2]int{{1, 1}, {4, 2}, {16, 8}, {3, 4}, {64, 16}, {5, 11}, {2, 40}} {
		a := newArray(shape[0], shape[1], LRU)
		slow := slowLRU{shape[0], shape[1], map[int][]uint64{}}
		for n := range 20000 {
			line := uint64(rng.IntN(3 * shape[0] * shape[1]))
			i := a.find(line)
			if i >= 0 {
				a.touch(i)
			} else {
				a.insert(a.victim(line), line, shared)
			}
			if want := slow.access(line); want != (i >= 0) {
				t.Fatalf("%v: access %d to line %d: hit %v, want %v", shape, n, line, i >= 0, want)
			}
		}
	}
}

// Of the ways in which nothing stands that is in use, the one used least recently is replaced
// first. The plain form: the lines of a set in the order of their last use.
func TestArrayReplacesFreeWaysFirst(t *testing.T) {
	type place struct {
		line uint64
		free bool
	}
	const ways, lines = 11, 30
	rng := rand.New(rand.NewPCG(4, 5))
	a := newArray(1, ways, LRU)
	var order []place // the one used last comes first
	for n := range 20000 {
		if n%5000 == 4999 {
			a.now = math.MaxUint32 - 10
		}
		line := rng.Uint64N(lines) << 20
		i, at := a.find(line), slices.IndexFunc(order, func(p place) bool { return p.line == line })
		if (i >= 0) != (at >= 0) {
			t.Fatalf("step %d: line %#x at %d, want its place to be %d", n, line, i, at)
		}
		switch {
		case at >= 0 && rng.IntN(3) == 0:
			a.setState(i, []state{lost, invalid}[n%2])
			order[at].free = true
			continue
		case at >= 0 && !order[at].free:
			a.touch(i)
		default:
			if i < 0 {
				i = a.victim(line)
			}
			a.insert(i, line, shared)
		}
		if at < 0 && len(order) == ways {
			at = len(order) - 1
			for k, p := range order {
				if p.free {
					at = k
				}
			}
		}
		if at >= 0 {
			order = slices.Delete(order, at, at+1)
		}
		order = slices.Insert(order, 0, place{line: line})
	}
}

// The tree points away from what was used: after touching ways 0..3 in order the victim
// is in the left half, way 0; by hand, for four ways.
func TestArrayPLRU(t *testing.T) {
	for _, c := range []struct {
		touch []int
		want  int
	}{
		{[]int{0, 1, 2, 3}, 0},
		{[]int{0, 1, 2, 3, 0}, 2},
		{[]int{3, 2, 1, 0}, 3},
		{[]int{0, 2, 1}, 3},
		{[]int{1, 3, 0, 2}, 1},
	} {
		a := newArray(1, 4, PLRU)
		for line := range 4 {
			a.insert(a.victim(uint64(line)), uint64(line), shared)
		}
		at := map[int]int{}
		for line := range 4 {
			at[line] = a.find(uint64(line))
		}
		for _, way := range c.touch {
			a.touch(way)
		}
		if got := a.victim(9); got != c.want {
			t.Errorf("touched %v: victim %d, want %d", c.touch, got, c.want)
		}
	}
}

func TestArrayRandomRepeats(t *testing.T) {
	run := func() (victims []int) {
		a := newArray(1, 8, Random)
		for line := range uint64(100) {
			v := a.victim(line)
			victims = append(victims, v)
			a.insert(v, line, shared)
		}
		return victims
	}
	first := run()
	if !slices.Equal(first, run()) {
		t.Error("two runs chose different victims")
	}
	if slices.Sort(first[8:]); first[8] == first[99] {
		t.Error("always the same victim")
	}
}

func TestTLB(t *testing.T) {
	b := newTLB(TLBDesc{Entries: 4, Ways: 4})
	for _, s := range []struct {
		page uint64
		miss bool
	}{{1, true}, {1, false}, {2, true}, {3, true}, {4, true}, {1, false}, {5, true}, {2, true}, {1, false}} {
		if got := b.access(s.page); got != s.miss {
			t.Errorf("page %d: miss %v, want %v", s.page, got, s.miss)
		}
	}
	var none tlb
	if none.access(7) {
		t.Error("no TLB, but a miss")
	}
}

// However the requests come, a resource never works more in a bucket than fits, and a request that
// finds it free does not wait.
func TestQueue(t *testing.T) {
	q := newQueue(10, 1)
	if w := q.reserve(1000, 10); w != 0 {
		t.Errorf("free resource: waited %d", w)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	busy := map[uint64]uint64{}
	q = newQueue(10, 1)
	for range 3000 {
		now := uint64(rng.IntN(40000))
		w := q.reserve(now, 10)
		busy[(now+w)/q.bucket] += 10
	}
	for b, n := range busy {
		if n > q.bucket+10 { // the last one may begin in the bucket and end in the next
			t.Errorf("bucket %d: %d cycles of work in %d", b, n, q.bucket)
		}
	}
	q = newQueue(10, 1) // saturated: throughput is what it can do
	var last uint64
	for range 1000 {
		last = max(last, q.reserve(0, 10))
	}
	if last < 9000 || last > 11000 {
		t.Errorf("1000 requests of 10 cycles at once: the last waits %d, want about 9990", last)
	}
}

func TestStreams(t *testing.T) {
	s := streams{next: make([]uint64, 2)}
	for _, c := range []struct {
		line uint64
		want bool
	}{{10, false}, {11, true}, {50, false}, {12, true}, {51, true}, {90, false}, {13, false}} {
		if got := s.miss(c.line); got != c.want {
			t.Errorf("line %d: continues %v, want %v", c.line, got, c.want)
		}
	}
}
