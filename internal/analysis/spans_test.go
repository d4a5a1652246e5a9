package analysis

import (
	"cmp"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"lime/internal/profile"
)

// byBegin yields spans as inOrder does.
func byBegin(spans []span) iter.Seq[span] {
	return slices.Values(slices.SortedFunc(slices.Values(spans), func(a, b span) int { return compareSpans(&a, &b) }))
}

// someParts are those of a run: each thread's follow one another, those of some sections nest in
// others' or lie far out.
func someParts(r *rand.Rand, n int) map[profile.SectionID][]profile.Part {
	parts, clock := map[profile.SectionID][]profile.Part{}, make([]uint64, 1+r.IntN(40))
	for range n {
		th, s := r.IntN(len(clock)), profile.SectionID(r.IntN(4))
		p := profile.Part{Thread: profile.ThreadID(th), Start: clock[th], Arrive: clock[th] + r.Uint64N(50)}
		if s == 3 && r.IntN(50) == 0 {
			p.Start, p.Arrive = r.Uint64N(100), r.Uint64()>>r.IntN(64)|100
		} else {
			clock[th] = p.Arrive + r.Uint64N(5)
		}
		p.LockWait, p.OffCPU = r.Uint64N(30), r.Uint64N(30) // together more than there is, at times
		p.Release = r.Uint64N(2) * (p.Arrive + r.Uint64N(20))
		parts[s] = append(parts[s], p)
	}
	return parts
}

// Packed and merged, the spans are those that were put in, in their order, however often one looks.
func TestSpansInOrder(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 9))
		var want []span
		var runs []spanRun
		for id, parts := range someParts(r, 3*runLength*int(seed%2)+r.IntN(500)) {
			var p spanPacker
			for i := range parts {
				want = append(want, partSpan(id, &parts[i]))
				p.add(want[len(want)-1])
			}
			runs = append(runs, p.finish()...)
		}
		slices.SortFunc(want, func(a, b span) int {
			return cmp.Or(compareSpans(&a, &b), cmp.Compare(a.section, b.section), cmp.Compare(a.end, b.end), cmp.Compare(a.useful, b.useful))
		})
		all := inOrder(runs)
		for range 2 {
			got := slices.Collect(all)
			if !slices.IsSortedFunc(got, func(a, b span) int { return compareSpans(&a, &b) }) {
				t.Fatalf("seed %d: not in order", seed)
			}
			slices.SortFunc(got, func(a, b span) int {
				return cmp.Or(compareSpans(&a, &b), cmp.Compare(a.section, b.section), cmp.Compare(a.end, b.end), cmp.Compare(a.useful, b.useful))
			})
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: %d spans, not the %d that were put in", seed, len(got), len(want))
			}
		}
	}
}

// A run's spans take a quarter of what they would take one by one.
func TestSpansArePacked(t *testing.T) {
	const threads, passes = 100, 5000
	var p spanPacker
	for i := range threads * passes {
		th, start := profile.ThreadID(i%threads), uint64(i/threads)*3000
		part := profile.Part{Thread: th, Start: start, Arrive: start + 2000 + uint64(i*7919%1000), Release: start + 3000, LockWait: uint64(i % 200)}
		p.add(partSpan(5, &part))
	}
	size := 0
	for _, r := range p.finish() {
		size += cap(r.packed)
	}
	if size > 10*threads*passes {
		t.Errorf("%d bytes for %d spans", size, threads*passes)
	}
}

// Levels, crowds and unions are those of every unit of time by itself.
func TestMomentByMoment(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 4))
		spans := randomSpans(r)
		var levels [13]float64
		var crowd, all cover
		n, first, last := 0, uint64(1000), uint64(0)
		for _, s := range spans {
			all.add(stretch{s.lo, s.hi})
			if s.hi > s.lo {
				first, last = min(first, s.lo), max(last, s.hi)
			}
		}
		for at := first; at < last; at++ {
			busy, working, rates, rate := 0, map[profile.ThreadID]bool{}, map[profile.ThreadID]int64{}, int64(0)
			for _, s := range spans {
				if s.lo <= at && at < s.hi {
					busy++
					rate -= min(whole, rates[s.thread])
					rates[s.thread] += s.rate()
					rate += min(whole, rates[s.thread])
					if s.useful >= float64(s.hi-s.lo)/2 {
						working[s.thread] = true
					}
				}
			}
			levels[busy]++
			if len(working) > 1 || 2*rate >= 3*whole {
				crowd.add(stretch{at, at + 1})
			}
			if busy > 0 {
				n++
			}
		}
		got := together(byBegin(spans))
		for k := range got {
			if got[k] != levels[k] {
				t.Fatalf("seed %d: %d together for %v, want %v", seed, k, got[k], levels[k])
			}
		}
		if got := crowded(byBegin(spans)); !slices.Equal(got, crowd) {
			t.Fatalf("seed %d: crowded %v, want %v", seed, got, crowd)
		}
		if all.length() != float64(n) {
			t.Fatalf("seed %d: the union is %v long, want %d", seed, all.length(), n)
		}
	}
}

// A union takes as much room as is apart in it, in whatever order it comes.
func TestCoverIsSmall(t *testing.T) {
	var c cover
	for i := range uint64(100_000) {
		at := i * 7919 % 100_000
		c.add(stretch{at, at + 2})
	}
	if c.length() != 100_001 || cap(c) > 70_000 {
		t.Errorf("%v long, room for %d", c.length(), cap(c))
	}
}
