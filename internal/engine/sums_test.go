package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"lime/internal/x86"
)

// randomRegion returns a graph of random blocks. Every node has one to three arcs, to any node or out,
// and every loop has its check.
func randomRegion(rng *rand.Rand) *region {
	r := &region{id: 1, base: 1, nodes: []*node{{}}, arcs: []*arc{{to: headNode}}}
	for range 1 + rng.IntN(12) {
		b := &block{n: uint32(1 + rng.IntN(9))}
		if len(r.nodes) > headNode && rng.IntN(3) == 0 {
			b.live = x86.CF | x86.ZF
		}
		r.nodes = append(r.nodes, &node{b: b})
	}
	for i := range r.nodes[1:] {
		r.arcs = append(r.arcs, &arc{from: i + 1, own: rng.IntN(4) == 0, often: rng.Uint64N(100)})
		for range rng.IntN(3) {
			to := rng.IntN(len(r.nodes))
			r.arcs = append(r.arcs, &arc{from: i + 1, to: to, often: rng.Uint64N(100), b: r.nodes[to].b})
		}
	}
	if rng.IntN(2) == 0 {
		r.unroll()
	}
	r.setChecks()
	for i, a := range r.arcs {
		a.ids = []EdgeID{EdgeID(i)}
	}
	r.place()
	r.sums.set(r)
	return r
}

// TestSums goes random ways through random regions. What the few counters say must be how often each
// arc was taken; the budget must be what it is block by block, and every check must see that it does
// not last for the way to the next one, and only then.
func TestSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	counters, arcs := 0, 0
	for i := range 2000 {
		r := randomRegion(rng)
		w := tour{r: r, out: r.outs(), want: make([]uint64, len(r.arcs)), hidden: make([]uint64, len(r.arcs)+2)}
		for range 1 + rng.IntN(4) {
			if err := w.pass(rng); err != nil {
				t.Fatalf("region %d: %v", i, err)
			}
		}
		at := w.stop(rng)
		got := make([]uint64, len(r.arcs))
		r.sums.fold(got, w.hidden, at)
		for k := range got {
			if got[k] != w.want[k] || r.sums.total[k] != w.want[k] {
				t.Fatalf("region %d, arc %d of %d: %d passages, want %d", i, k, len(got), got[k], w.want[k])
			}
		}
		counters, arcs = counters+len(r.sums.chords), arcs+len(r.arcs)
	}
	if counters*3 > arcs*2 {
		t.Errorf("%d of %d arcs count", counters, arcs)
	}
}

// tour is somebody on his way through a region: what generated code does, and what is true.
type tour struct {
	r            *region
	out          [][]*arc
	hidden, want []uint64
	memory, left int32 // the budget in memory, and what is left
	at           int
}

// pass goes in at the head, and on until it is outside.
func (w *tour) pass(rng *rand.Rand) error {
	w.left = rng.Int32N(200)
	w.memory = w.left
	if err := w.take(w.r.arcs[0]); err != nil {
		return err
	}
	for w.at != outside {
		if err := w.step(rng); err != nil {
			return err
		}
	}
	if w.memory != w.left {
		return fmt.Errorf("the budget in memory is %d outside, %d is left", w.memory, w.left)
	}
	return nil
}

// step goes along some arc.
func (w *tour) step(rng *rand.Rand) error {
	out := w.out[w.at]
	if n := w.r.nodes[w.at]; n.check { // the last is that of the check
		out = out[:len(out)-1]
	}
	return w.take(out[rng.IntN(len(out))])
}

// take goes along an arc, and out again at a check that says so.
func (w *tour) take(a *arc) error {
	r := w.r
	for i := range r.arcs {
		if r.arcs[i] == a {
			w.want[i]++
		}
	}
	if a.counter != derived {
		w.hidden[r.counter(a)]++
	}
	w.memory += a.delta
	w.left -= r.used(a)
	n := r.nodes[a.to]
	if w.at = a.to; w.at != outside && w.memory+n.phi != w.left {
		return fmt.Errorf("node %d: memory holds %d, differs by %d, %d is left", a.to, w.memory, n.phi, w.left)
	}
	if !n.check {
		return nil
	}
	if lasts := w.left >= n.ahead; lasts != (w.memory >= 0) {
		return fmt.Errorf("node %d: %d is left, the way ahead takes %d, memory holds %d", a.to, w.left, n.ahead, w.memory)
	}
	if w.memory < 0 {
		return w.take(w.out[a.to][len(w.out[a.to])-1])
	}
	return nil
}

// stop goes in once more, and stops anywhere, as at a fault.
func (w *tour) stop(rng *rand.Rand) int {
	w.memory, w.left = 1000, 1000
	_ = w.take(w.r.arcs[0])
	for w.at != outside && rng.IntN(4) > 0 {
		_ = w.step(rng)
	}
	return w.at
}
