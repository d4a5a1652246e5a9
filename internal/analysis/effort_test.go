package analysis

import (
	"math"
	"math/rand/v2"
	"testing"

	"lime/internal/profile"
)

// effortProgram has three call paths: main's own code; main -> libgomp -> libc, which is overhead
// for main; libc alone, called by main.
func effortProgram(work, overhead, idle, samples float64) *profile.Profile {
	p := profile.New(profile.Meta{Collector: "record", Model: "native", ClockUnit: "ns", ClockHz: 1e9,
		NodeTime: "stored", CountLabel: profile.Sampled,
		Cores: 4, Complete: true, EndState: "exited", Notes: []profile.Note{{Code: "samples", N: uint64(samples)}}})
	p.AddFile(profile.File{Path: "app.c"})
	var nodes []profile.NodeID
	for i, image := range []string{"/home/u/app", "/usr/lib/libgomp.so.1", "/lib/libc.so.6"} {
		p.AddImage(profile.Image{Path: image, Lo: uint64(i+1) << 20, Hi: uint64(i+2) << 20})
		node := profile.Node{Image: profile.ImageID(i), Addr: uint64(i+1) << 20, LastAddr: uint64(i+1) << 20, Size: 4,
			Instrs: 1, Function: profile.None}
		if i == 0 {
			node.Frames = []profile.Frame{{Line: 7, Function: "main"}}
		}
		nodes = append(nodes, p.AddNode(node))
	}
	p.AddThread(profile.Thread{Parent: profile.None, Entry: profile.None})
	main := p.AddPath(profile.PathNode{Parent: profile.None, Node: nodes[0]})
	gomp := p.AddPath(profile.PathNode{Parent: main, Node: nodes[1]})
	for _, s := range []struct {
		path   profile.PathID
		metric string
		value  float64
	}{
		{main, "time", work / 2}, {p.AddPath(profile.PathNode{Parent: main, Node: nodes[2]}), "time", work / 2},
		{p.AddPath(profile.PathNode{Parent: gomp, Node: nodes[2]}), "time", overhead}, {main, "idleness", idle},
	} {
		p.AddPathSample(profile.PathSample{Path: s.path, Thread: 0, Section: profile.None, Metric: s.metric, Value: s.value})
	}
	return p
}

func TestSharesOfTheSamples(t *testing.T) {
	for _, c := range []struct{ work, overhead, idle, samples float64 }{
		{95, 2, 3, 1e4}, {70, 28, 2, 1e4}, {70, 2, 28, 1e4}, {40, 30, 30, 1e4}, {88, 0, 12, 100}, {100, 0, 0, 1e4},
	} {
		p := effortProgram(c.work, c.overhead, c.idle, c.samples)
		r := &runner{src: p, meta: p.Meta(), tab: p.Tables(), prog: newProgram(p.Tables())}
		e := r.effort(4)
		all := c.work + c.overhead + c.idle
		if e == nil || math.Abs(e.OverheadShare.Value-c.overhead/all) > 1e-9 || math.Abs(e.IdlenessShare.Value-c.idle/all) > 1e-9 {
			t.Errorf("%+v: %+v", c, e)
			continue
		}
		if c.idle > 0 && (len(e.Idle) != 1 || e.Idle[0].Line != 7 || e.Idle[0].Share != 1) {
			t.Errorf("idleness is charged to %+v, want line 7", e.Idle)
		}
		if c.overhead > 0 && (len(e.Overheads) != 1 || e.Overheads[0].Line != 7 || e.Overheads[0].Runtime != "OpenMP (libgomp)") {
			t.Errorf("overhead is charged to %+v, want line 7", e.Overheads)
		}
	}
	for _, c := range []struct{ noted, want int }{{0, 4}, {2, 2}, {1, 0}} { // the collector's word counts: one thread leaves nobody idle
		p := effortProgram(70, 2, 28, 1e4)
		m := p.Meta()
		m.Notes = append(m.Notes, profile.Note{Code: profile.NoteEffortThreads, N: uint64(c.noted)})
		e := (&runner{src: p, meta: m, tab: p.Tables(), prog: newProgram(p.Tables())}).effort(4)
		if (e == nil) != (c.want == 0) || e != nil && e.Width != c.want {
			t.Errorf("%d threads noted: %+v, want %d", c.noted, e, c.want)
		}
	}
	if r := (&runner{meta: &profile.Meta{}, tab: &profile.Tables{}}); r.effort(4) != nil {
		t.Error("an exact profile has no samples to tell the effort from")
	}
}

func TestBoundsOfShares(t *testing.T) {
	for _, c := range []struct{ p, n, lo, hi float64 }{{0.5, 100, 0.404, 0.596}, {0, 100, 0, 0.037}, {1, 100, 0.963, 1}, {0.3, 0, 0, 1}} {
		i := estimate(c.p, c.n)
		if math.Abs(i.Lo-c.lo) > 1e-3 || math.Abs(i.Hi-c.hi) > 1e-3 {
			t.Errorf("%v of %v samples: %v to %v, want %v to %v", c.p, c.n, i.Lo, i.Hi, c.lo, c.hi)
		}
	}
}

// The extra work lies in the loop on line 14, around the barrier's call on line 15 or not; the even
// work lies in it too.
func TestBalancePoint(t *testing.T) {
	p := sampledProgram(t, []uint64{100, 98, 101, 99}, []uint64{0, 120, 0, 0})
	res, err := Run(p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := res.Sections[0].Balance
	if b == nil || b.Kind != ContextThread || len(b.Parts) != 1 || b.Parts[0].Kind != EventLoop || b.Parts[0].Line != 14 {
		t.Fatalf("balance point %+v; want the whole thread, with the uneven loop on line 14", b)
	}
	// With the section's end inside of the loop, the loop itself is the balance point, and the
	// branch in it is uneven.
	for v := range p.Tables().Nodes {
		if p.Tables().Nodes[v].Frames[0].Line == 11 {
			p.Tables().Sections[0].EndNode = profile.NodeID(v)
		}
	}
	if res, err = Run(p, Options{}); err != nil {
		t.Fatal(err)
	}
	b = res.Sections[0].Balance
	if b == nil || b.Kind != EventLoop || b.Line != 14 || len(b.Parts) != 1 || b.Parts[0].Line != 12 || b.Parts[0].Share < 0.9 {
		t.Fatalf("balance point %+v; want the loop on line 14, with the uneven branch on line 12", b)
	}
	if want := []float64{0, 240e6, 0, 0}; b.Parts[0].Times[1] != want[1] || b.Parts[0].Times[0] != want[0] {
		t.Errorf("times in the uneven part: %v, want %v", b.Parts[0].Times, want)
	}
}

// A library that has threads of its own, or bodies of a runtime's regions, works there; what the
// runtime does for it is overhead.
func TestLibraryThreads(t *testing.T) {
	tab := &profile.Tables{Functions: []profile.Function{{Name: "start_thread"}}}
	node := map[string]profile.NodeID{}
	for i, image := range []string{"/usr/lib/libc.so.6", "/usr/lib/liblzma.so.5", "/usr/lib/libgomp.so.1", "/home/u/app"} {
		tab.Images = append(tab.Images, profile.Image{Path: image})
		n := profile.Node{Image: profile.ImageID(i), Function: profile.None}
		if i == 0 {
			tab.Nodes, node["start"] = append(tab.Nodes, profile.Node{Image: 0, Function: 0}), 0
		}
		node[image], tab.Nodes = profile.NodeID(len(tab.Nodes)), append(tab.Nodes, n)
	}
	const libc, lzma, gomp, app, start = "/usr/lib/libc.so.6", "/usr/lib/liblzma.so.5", "/usr/lib/libgomp.so.1", "/home/u/app", "start"
	r := newRuntimes(tab)
	for _, c := range []struct {
		path []string // outermost first
		want string
		at   string
	}{
		{[]string{start, lzma}, "work", lzma},
		{[]string{start, lzma, libc}, "work", lzma},
		{[]string{start, gomp, lzma}, "work", lzma},
		{[]string{start, lzma, gomp}, "OpenMP (libgomp)", ""},
		{[]string{start, lzma, gomp, libc}, "OpenMP (libgomp)", ""},
		{[]string{start, gomp}, "OpenMP (libgomp)", ""},
		{[]string{start, libc}, "threads and locks", ""},
		{[]string{start, app}, "work", app},
		{[]string{start, app, lzma}, "work", app},
		{[]string{start, app, gomp, lzma}, "work", app},
		{[]string{start, app, libc}, "work", app},
		{[]string{start, app, gomp}, "OpenMP (libgomp)", app},
	} {
		tab.Paths = nil
		for _, name := range c.path {
			tab.Paths = append(tab.Paths, profile.PathNode{Parent: profile.PathID(len(tab.Paths) - 1), Node: node[name]})
		}
		got := r.site(profile.PathID(len(tab.Paths) - 1))
		what, at := "work", profile.NodeID(profile.None)
		if got.owner.Runtime() {
			what = got.owner.String()
		}
		if c.at != "" {
			at = node[c.at]
		}
		if calls := c.path[len(c.path)-1] != app && c.at == app; got.calls != calls {
			t.Errorf("%v: that the program's own code had called something: %t", c.path, got.calls)
		}
		if what != c.want || got.node != at {
			t.Errorf("%v: %s for node %d, want %s for %d", c.path, what, got.node, c.want, at)
		}
	}
}

// What a runtime does stands at the call that asked for it, each with the time of its own samples,
// in a loop or not, and where the runtime's function is compiled into the program's; the program's
// own work there is still the loop's.
func TestOverheadStandsAtItsCall(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 8))
		b := newBuilder(1, 6, 1, 2) // a loop of the lines 11 to 13, of which 12 is its test
		b.edge(0, 1, profile.EdgeFall)
		b.edge(1, 3, profile.EdgeFall)
		b.edge(1, 2, profile.EdgeTaken)
		b.edge(3, 2, profile.EdgeFall)
		b.edge(2, 1, profile.EdgeTaken)
		b.edge(2, 4, profile.EdgeFall)
		gomp := b.p.AddImage(profile.Image{Path: "/usr/lib/libgomp.so.1"})
		b.p.UpdateMeta(profile.Meta{ClockUnit: "ns", NodeTime: "stored", CountLabel: profile.Sampled, Complete: true})
		want := map[int]float64{}
		sample := func(p profile.PathID, metric string) float64 {
			x := 50 + float64(r.IntN(50))
			b.p.AddPathSample(profile.PathSample{Path: p, Section: profile.None, Metric: metric, Value: x})
			return x
		}
		for _, v := range r.Perm(5)[:3] {
			line := 10 + v
			call := b.p.AddPath(profile.PathNode{Parent: profile.None, Node: profile.NodeID(v)})
			inner := call
			if r.IntN(2) == 0 {
				n := &b.p.Nodes[v]
				n.Frames = append([]profile.Frame{{File: n.Frames[0].File, Line: 500, Function: "std::mutex::lock"}}, n.Frames...)
			} else {
				node := b.p.AddNode(profile.Node{Image: gomp, Addr: uint64(0x9000 + 16*v), Size: 4, Instrs: 1, Function: profile.None})
				inner = b.p.AddPath(profile.PathNode{Parent: call, Node: node})
				sample(call, "time") // the program's own
			}
			for range 1 + r.IntN(3) {
				want[line] += sample(inner, "time")
			}
		}
		p := b.p
		e := (&runner{src: p, meta: p.Meta(), tab: p.Tables(), prog: newProgram(p.Tables())}).effort(4)
		if len(e.Overheads) != len(want) {
			t.Fatalf("seed %d: %d places, want %v: %+v", seed, len(e.Overheads), want, e.Overheads)
		}
		for _, c := range e.Overheads {
			if c.Loop || math.Abs(c.Time-want[c.Line]) > 1e-9 || c.File != "main.c" || c.Function != "work" {
				t.Errorf("seed %d: %v at %+v, a loop: %t, want %v", seed, c.Time, c.Place, c.Loop, want)
			}
		}
	}
}

// What a place's share of idleness is at least follows from the samples that were taken meanwhile: of
// many runs in which that is known, the bound is above the truth in next to none, however many threads
// each sample speaks for; and with more samples it comes closer.
func TestLeastOfIdleness(t *testing.T) {
	const truth, width = 0.6, 8
	r := rand.New(rand.NewPCG(3, 4))
	last := 0.0
	for _, samples := range []int{10, 100, 1000, 10_000} {
		above, mean := 0, 0.0
		const runs = 400
		for range runs {
			ran, all := 0.0, 0.0
			for range samples {
				idle := r.Float64() * (width - 1)
				all += idle
				if r.Float64() < truth {
					ran += idle
				}
			}
			e := &Effort{Width: width, Work: float64(samples) * 0.9, Overhead: float64(samples) * 0.1, Idleness: all,
				Idle: []Charge{{Share: ran / all}}}
			e.bound([]*summary{{samples: float64(samples) / 4}, {samples: float64(samples) * 3 / 4}})
			least := e.Idle[0].Least
			mean += least / runs
			if least > truth {
				above++
			}
		}
		if above > runs/20 || mean <= last || mean >= truth {
			t.Errorf("%d samples: above in %d of %d runs, %v on average", samples, above, runs, mean)
		}
		last = mean
	}
	e := &Effort{Width: 4, Work: 1, Idleness: 1, Idle: []Charge{{Share: 1}}}
	if e.bound(nil); e.Idle[0].Least != 0 {
		t.Errorf("%v without samples", e.Idle[0].Least)
	}
	(*Effort)(nil).bound(nil)
}
