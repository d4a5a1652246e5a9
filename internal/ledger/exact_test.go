package ledger

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"lime/internal/profile"
	"lime/internal/testenv"
)

// TestExact holds the account to its promise over random programs: the rows of every thread add up
// to its time beyond the mean, nothing is unaccounted for, and no flow is broken, however deep in
// the call stack the threads start and end, and however the collector counts at the borders. Where
// threads are interrupted, nothing but the handler is come to without a way.
func TestExact(t *testing.T) {
	for _, c := range []counting{{}, {unmatched: true}, {exitEdge: true}, {exitEdge: true, unmatched: true},
		{unmatched: true, stops: true}, {exitEdge: true, unmatched: true, stops: true}} {
		for _, seed := range exactSeeds() {
			t.Run(fmt.Sprintf("%+v/%d", c, seed), func(t *testing.T) { exactOnce(t, seed, c) })
		}
	}
}

// exactSeeds are 200, or 3,000 with LIME_LONG, and those of programs in which a part ends where it
// has begun in a way that was not counted, so that the one made up for the other and its work was
// lost, or came back to a block that nothing else in the instance leads to.
func exactSeeds() []uint64 {
	n := uint64(200)
	if testenv.Long() {
		n = 3000
	}
	seeds := []uint64{211, 368, 451, 1144, 1210, 1910, 2282, 2361, 2596, 2628, 2752}
	for seed := range n {
		seeds = append(seeds, seed)
	}
	slices.Sort(seeds)
	return slices.Compact(seeds)
}

func exactOnce(t *testing.T, seed uint64, c counting) {
	r := rand.New(rand.NewPCG(seed, 1))
	p := randomProgram(r, 1+r.IntN(5), 10)
	prof := newProfile(0)
	p.tables(prof)
	threads := 2 + r.IntN(6)
	ms := make([]*machine, threads)
	for i := range ms {
		ms[i] = &machine{p: p, r: r, h: p.randomHabit(r), at: p.funcs[r.IntN(len(p.funcs))]}
		ms[i].run(r.IntN(30), c, map[profile.Edge]uint64{})
	}
	ids := map[profile.Edge]profile.EdgeID{}
	stopped := 0 // blocks come to and not run
	for range 3 {
		steps := make([]int, threads)
		for i, m := range ms {
			steps[i] = 1 + r.IntN(300)
			if m.dead {
				m.dead, m.at = false, 0
			}
		}
		inst := instance(prof, ms, steps, c, ids)
		if err := prof.WriteInstance(inst); err != nil {
			t.Fatal(err)
		}
		f, err := buildFlow(prof.Tables(), inst, &scratch{})
		if err != nil {
			t.Fatal(err)
		}
		checkFlow(t, f)
		for _, m := range ms {
			stopped += m.stopped()
		}
	}
	a, err := Section(prof, 0, Options{MinShare: -1, MaxRows: -1})
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, a)
	for _, row := range a.Rows {
		// a block that leads to itself, or before which the thread is interrupted
		border := row.Kind == Unaccounted && (c.exitEdge || c.stops) && math.Abs(row.Cycles) <= float64((3+stopped)*20)
		handled := row.Kind == BrokenFlow && c.stops && row.Place.Line == p.blocks[p.handler].line
		if c.unmatched && !border && !handled && (row.Kind == Unaccounted || row.Kind == BrokenFlow) {
			t.Errorf("row %s at line %d: %.3f", row.Kind, row.Place.Line, row.Cycles)
		}
	}
}

// checkSums checks that the rows add up to the total, and by thread to the deviations.
func checkSums(t *testing.T, a *Account) {
	t.Helper()
	if a.RelResidual > 1e-12 {
		t.Errorf("residual %g", a.RelResidual)
	}
	total := a.Rest.Cycles
	byThread := make([]float64, len(a.Threads))
	for _, row := range a.Rows {
		total += row.Cycles
		for i, x := range row.Threads {
			byThread[i] += x
		}
	}
	if math.Abs(total-a.Total) > 1e-9*a.TMax {
		t.Errorf("rows sum to %g, not %g", total, a.Total)
	}
	if a.Rest.Rows > 0 {
		return
	}
	for i, x := range byThread {
		if math.Abs(x-a.Deviation[i]) > 1e-9*a.TMax {
			t.Errorf("thread %d: rows sum to %g, not %g", i, x, a.Deviation[i])
		}
	}
}

// TestValues compares the values with a dense solution of the pooled equations.
func TestValues(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		s := randomSystem(r, 1+r.IntN(40))
		cost := make([]float64, s.n)
		for v := range cost {
			cost[v] = float64(r.IntN(1000))
		}
		s.comps, s.comp = components(s.n, s.off, s.to)
		got := s.solve(s.factor(), cost)
		want := dense(t, s, cost)
		for v := range want {
			if math.Abs(got.hi[v]-want[v]) > 1e-9*(1+math.Abs(want[v])) {
				t.Fatalf("seed %d: V(%d) = %g, want %g", seed, v, got.hi[v], want[v])
			}
		}
	}
}

// randomSystem makes a graph with a start at node 0 and every node reachable.
func randomSystem(r *rand.Rand, n int) *system {
	s := &system{n: n, off: []int32{0}, excess: make([]float64, n)}
	s.excess[0] = float64(1 + r.IntN(3))
	for v := range n {
		if v+1 < n {
			s.to, s.count = append(s.to, int32(v+1)), append(s.count, float64(1+r.IntN(100)))
		}
		for range r.IntN(4) {
			s.to, s.count = append(s.to, int32(r.IntN(n+1)-1)), append(s.count, float64(1+r.IntN(100)))
		}
		s.off = append(s.off, int32(len(s.to)))
	}
	return s
}

func dense(t *testing.T, s *system, cost []float64) []float64 {
	a := mat.NewDense(s.n, s.n, nil)
	for v := range s.n {
		a.Set(v, v, a.At(v, v)+s.excess[v])
		for e := s.off[v]; e < s.off[v+1]; e++ {
			if to := int(s.to[e]); to >= 0 {
				a.Set(v, to, a.At(v, to)-s.count[e])
				a.Set(to, to, a.At(to, to)+s.count[e])
			}
		}
	}
	var x mat.VecDense
	if err := x.SolveVec(a, mat.NewVecDense(s.n, cost)); err != nil {
		t.Logf("dense: %v", err)
	}
	return x.RawVector().Data
}

// checkFlow holds a flow to its definition: for every node and part, visits = what comes in + what
// starts there, and = what goes out + what ends there.
func checkFlow(t *testing.T, f *flow) {
	t.Helper()
	in, out := make([]int64, len(f.visits)), make([]int64, len(f.visits))
	cell := func(v, p int32) int { return int(v)*f.parts + int(p) }
	for i := range f.edges {
		e := &f.edges[i]
		var total uint64
		for p := range int32(f.parts) {
			n := f.edgeCount(int32(i), int(p))
			total += n
			if e.to >= 0 && e.from >= 0 {
				in[cell(e.to, p)] += int64(n)
			}
			if e.from >= 0 && !isReturn(e.kind) {
				out[cell(e.from, p)] += int64(n)
			}
		}
		if total != e.total {
			t.Errorf("edge %d: total %d, want %d", e.id, e.total, total)
		}
	}
	for _, s := range f.starts {
		in[cell(s.node, s.part)]++
	}
	for _, l := range f.broken {
		in[cell(l.node, l.part)] += int64(l.n)
	}
	for _, l := range f.ends {
		out[cell(l.node, l.part)] += int64(l.n)
	}
	for i, n := range f.visits {
		if int64(n) != in[i] || int64(n) != out[i] {
			t.Errorf("node %d part %d: %d visits, in %d, out %d", i/f.parts, i%f.parts, n, in[i], out[i])
		}
	}
}
