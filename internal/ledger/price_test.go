package ledger

import (
	"math"
	"math/rand/v2"
	"testing"

	"lime/internal/profile"
)

// priced is a world with stored times: every thread runs the loop as often; the misses differ.
func priced(t *testing.T) *world {
	w := newWorld(4, map[string]int32{"guard": 10, "body": 10}, nil)
	_ = w.prof.UpdateMeta(profile.Meta{NodeTime: "stored"})
	l1 := w.prof.AddKind(profile.EventKind{Name: "l1d-miss"})
	bus := w.prof.AddKind(profile.EventKind{Name: "bus-wait"})
	lock := w.prof.AddKind(profile.EventKind{Name: profile.KindLockWait})
	for range 4 {
		tr := w.thread("start")
		tr.loop("guard", "body", 100, nil)
		tr.end()
	}
	node := w.nodes["body"]
	frames := []profile.Frame{{File: w.file, Line: 11, Function: "f"}}
	for _, k := range []int32{l1, bus, lock} {
		w.prof.AddEvent(profile.Event{Kind: k, Node: node, Frames: frames, Detail: "x"})
	}
	costs := [4][3]uint64{{100, 10, 0}, {100, 10, 0}, {100, 10, 0}, {700, 310, 100}} // per part and event
	for p, c := range costs {
		own := uint64(500)
		if p == 3 {
			own = 600
		}
		w.inst.Times = append(w.inst.Times, profile.Count{Row: int32(node), Part: int32(p), N: own + c[0] + c[1]}) // a wait is no block's time
		for e, n := range c {
			w.inst.Costs = append(w.inst.Costs, profile.Count{Row: int32(e), Part: int32(p), N: n})
		}
		w.inst.Parts[p].Arrive = own + c[0] + c[1] + c[2]
	}
	return w
}

func TestPrices(t *testing.T) {
	w := priced(t)
	w.barrier(t)
	a := w.account(t)
	if a.Total != 1100*3/4 {
		t.Fatalf("total %g", a.Total)
	}
	want := map[string]float64{"l1d-miss": 600. / 1100, "bus-wait": 300. / 1100, "lock-wait": 100. / 1100, "": 100. / 1100}
	for _, r := range a.Rows {
		if math.Abs(r.Share-want[r.Event]) > 1e-9 {
			t.Errorf("%s %q has %g", r.Kind, r.Event, r.Share)
		}
		if (r.Event == "lock-wait") != (r.Kind == LockWait) {
			t.Errorf("%q is a %s", r.Event, r.Kind)
		}
		if r.Event != "" && (r.Place.Line != 11 || r.Detail != "x") {
			t.Errorf("%q: %+v", r.Event, r)
		}
		delete(want, r.Event)
	}
	if len(want) > 0 {
		t.Errorf("missing %v", want)
	}
}

// TestWaits has waits that no event explains, and time that nothing does.
func TestWaits(t *testing.T) {
	w := priced(t)
	last := &w.inst.Parts[3]
	last.LockWait, last.OffCPU, last.Arrive = 100+40, 30, last.Arrive+40+30+5
	w.barrier(t)
	a := w.account(t)
	for kind, cycles := range map[Kind]float64{OffCPU: 30, Unaccounted: 5} {
		if got := a.find(kind, 0).Cycles; got != cycles*3/4 {
			t.Errorf("%s %g", kind, got)
		}
	}
	if got := a.find(LockWait, 0); got.Cycles != 40*3./4 || got.Event != "" {
		t.Errorf("lock wait %+v", got)
	}
}

// TestNoise gives blocks random prices: whatever they are, the account adds up.
func TestNoise(t *testing.T) {
	for seed := range uint64(20) {
		w := priced(t)
		r := rand.New(rand.NewPCG(seed, 4))
		for i := range w.inst.Times {
			w.inst.Times[i].N += uint64(r.IntN(1e6))
		}
		for i := range w.inst.Costs {
			w.inst.Costs[i].N += uint64(r.IntN(1e6))
		}
		for i := range w.inst.Parts {
			w.inst.Parts[i].LockWait, w.inst.Parts[i].OffCPU = uint64(r.IntN(1e6)), uint64(r.IntN(1e6))
			w.inst.Parts[i].Arrive += uint64(r.IntN(1e7))
		}
		w.barrier(t)
		w.account(t)
	}
}

// TestVisitsOnly takes a profile that knows visits, but no edges.
func TestVisitsOnly(t *testing.T) {
	w := newWorld(2, map[string]int32{"hot": 10, "even": 11}, map[string]uint32{"hot": 3, "even": 5})
	for p := range 2 {
		part := profile.Part{Thread: profile.ThreadID(p), Entry: profile.None, Exit: profile.None, Arrive: uint64(3*(100+p*200) + 5*50)}
		w.inst.Parts = append(w.inst.Parts, part)
	}
	for i, name := range []string{"hot", "even"} {
		w.prof.AddEdge(profile.Edge{From: profile.None, To: w.node(name), Kind: profile.EdgeVisit})
		for p := range 2 {
			n := []uint64{uint64(100 + p*200), 50}[i]
			w.inst.Edges = append(w.inst.Edges, profile.Count{Row: int32(i), Part: int32(p), N: n})
		}
	}
	w.barrier(t)
	a := w.account(t)
	near(t, a, Visits, 10, 1)
	if a.Exact || len(a.Rows) != 1 {
		t.Errorf("exact %v, rows %+v", a.Exact, a.Rows)
	}
}

// TestDamaged holds the account to answer damage with an error or an account, never with a panic.
func TestDamaged(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(*world)
	}{
		{"part", func(w *world) { w.inst.Edges[0].Part = 99 }},
		{"negative part", func(w *world) { w.inst.Costs[0].Part = -1 }},
		{"edge", func(w *world) { w.inst.Edges[0].Row = 9999 }},
		{"negative edge", func(w *world) { w.inst.Edges[0].Row = -1 }},
		{"event", func(w *world) { w.inst.Costs[0].Row = 9999 }},
		{"node", func(w *world) { w.inst.Times[0].Row = 9999 }},
		{"time", func(w *world) { w.inst.Parts[0].Start = 1 << 62 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := priced(t)
			c.damage(w)
			w.barrier(t)
			if _, err := Section(w.prof, 0, Options{}); err == nil {
				t.Error("no error")
			} else {
				t.Log(err)
			}
		})
	}
	if _, err := Section(&profile.Profile{}, 3, Options{}); err == nil {
		t.Error("no error for a section that is not there")
	}
}

// TestRandomCounts makes edges and counts that no program has made: the account adds up all the
// same.
func TestRandomCounts(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		prof := newProfile(3)
		nodes, edges := 1+r.IntN(12), r.IntN(40)
		id := func() profile.NodeID { return profile.NodeID(r.IntN(nodes+1) - 1) }
		for range nodes {
			prof.AddNode(profile.Node{Instrs: uint32(r.IntN(9)), Function: profile.None, Image: profile.None})
		}
		inst := &profile.Instance{}
		for p := range 3 {
			inst.Parts = append(inst.Parts, profile.Part{Thread: profile.ThreadID(p), Entry: id(), Exit: id(), Arrive: uint64(r.IntN(1e6)),
				EntryStack: []profile.NodeID{id(), id()}, ExitStack: []profile.NodeID{id()}})
		}
		for e := range edges {
			prof.AddEdge(profile.Edge{From: id(), To: id(), Kind: profile.EdgeKind(r.IntN(int(profile.EdgeOdd) + 1))})
			for p := range 3 {
				inst.Edges = append(inst.Edges, profile.Count{Row: int32(e), Part: int32(p), N: uint64(r.IntN(1 << r.IntN(30)))})
			}
		}
		if err := prof.WriteInstance(inst); err != nil {
			t.Fatal(err)
		}
		f, err := buildFlow(prof.Tables(), inst, &scratch{})
		if err != nil {
			t.Fatal(err)
		}
		checkFlow(t, f)
		a, err := Section(prof, 0, Options{MinShare: -1, MaxRows: -1})
		if err != nil {
			t.Fatal(err)
		}
		// Such flows may multiply without bounds, so the residual is held against the rows, not the
		// total.
		if size := a.TMax + a.Positive - a.Negative; math.Abs(a.Residual) > 1e-9*size || math.IsNaN(a.Residual) {
			t.Errorf("seed %d: residual %g of %g", seed, a.Residual, size)
		}
	}
}
