package analysis

import (
	"testing"

	"lime/internal/profile"
)

// sampledProgram is a profile of samples of this program, each block on a line of its own:
//
//	10 work:  for (...)            loop
//	11            even();          call
//	12            if (mine)        branch
//	13                extra();     call
//	15        barrier();           the section's end
//	20 even:  samples
//	30 extra: samples, in a loop on line 31
func sampledProgram(t *testing.T, even, extra []uint64) *profile.Profile {
	t.Helper()
	p := profile.New(profile.Meta{Collector: "record", Model: "native", ClockUnit: "ns", ClockHz: 1e9, NodeTime: "stored",
		CountLabel: profile.Sampled, Cores: len(even), Complete: true, EndState: "exited"})
	p.AddImage(profile.Image{Path: "/home/u/app", Lo: 0x1000, Hi: 0x9000})
	p.AddFile(profile.File{Path: "app.c"})
	for i, name := range []string{"work", "even", "extra"} {
		p.AddFunction(profile.Function{Name: name, Entry: 0x1000 + 0x1000*uint64(i), File: profile.None})
	}
	node := func(f profile.FunctionID, line int32, kind profile.NodeKind) profile.NodeID {
		at := 0x1000 + 0x1000*uint64(f) + uint64(line)*16
		frames := []profile.Frame{{File: 0, Line: line, Function: p.Tables().Functions[f].Name}}
		return p.AddNode(profile.Node{Addr: at, Size: 16, Instrs: 4, LastAddr: at + 8, Kind: kind, Function: f, Frames: frames, First: frames})
	}
	start := node(0, 9, profile.EndFall)
	callEven, branch, callExtra, test, end := node(0, 11, profile.EndCall), node(0, 12, profile.EndCond), node(0, 13, profile.EndCall),
		node(0, 14, profile.EndCond), node(0, 15, profile.EndCall)
	evenBody := node(1, 20, profile.EndRet)
	extraHead, extraLoop, extraRet := node(2, 30, profile.EndFall), node(2, 31, profile.EndCond), node(2, 32, profile.EndRet)
	for _, e := range []profile.Edge{
		{From: start, To: callEven, Kind: profile.EdgeFall}, {From: callEven, To: branch, Kind: profile.EdgeReturn},
		{From: branch, To: callExtra, Kind: profile.EdgeFall}, {From: branch, To: test, Kind: profile.EdgeTaken},
		{From: callExtra, To: test, Kind: profile.EdgeReturn}, {From: test, To: callEven, Kind: profile.EdgeTaken},
		{From: test, To: end, Kind: profile.EdgeFall}, {From: callEven, To: evenBody, Kind: profile.EdgeCall},
		{From: callExtra, To: extraHead, Kind: profile.EdgeCall}, {From: extraHead, To: extraLoop, Kind: profile.EdgeFall},
		{From: extraLoop, To: extraLoop, Kind: profile.EdgeTaken}, {From: extraLoop, To: extraRet, Kind: profile.EdgeFall},
	} {
		p.AddEdge(e)
	}
	visitEven := p.AddEdge(profile.Edge{From: profile.None, To: evenBody, Kind: profile.EdgeVisit})
	visitExtra := p.AddEdge(profile.Edge{From: profile.None, To: extraLoop, Kind: profile.EdgeVisit})
	p.AddSection(profile.Section{Kind: profile.SectionBarrier, EndNode: end, EndAddr: 0x1000 + 15*16 + 8})
	toEven := p.AddPath(profile.PathNode{Parent: p.AddPath(profile.PathNode{Parent: profile.None, Node: callEven}), Node: evenBody})
	toExtra := p.AddPath(profile.PathNode{Parent: p.AddPath(profile.PathNode{Parent: profile.None, Node: callExtra}), Node: extraLoop})
	const period = 2_000_000
	in := &profile.Instance{}
	for i := range even {
		id := p.AddThread(profile.Thread{Parent: profile.None, Entry: profile.None})
		in.Parts = append(in.Parts, profile.Part{Thread: id, Arrive: (even[i] + extra[i]) * period, Release: 1e12, Entry: profile.None, Exit: profile.None})
		for _, c := range []struct {
			edge profile.EdgeID
			path profile.PathID
			n    uint64
		}{{visitEven, toEven, even[i]}, {visitExtra, toExtra, extra[i]}} {
			if c.n > 0 {
				in.Edges = append(in.Edges, profile.Count{Row: int32(c.edge), Part: int32(i), N: c.n})
				p.AddPathSample(profile.PathSample{Path: c.path, Thread: id, Metric: "time", Value: float64(c.n * period)})
			}
		}
	}
	if err := p.WriteInstance(in); err != nil {
		t.Fatal(err)
	}
	if err := profile.Validate(p); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSampledCause(t *testing.T) {
	for _, c := range []struct {
		name        string
		even, extra []uint64
		line        int // of the first cause, 0 for none
		event       string
	}{
		{"one thread does more behind a branch", []uint64{100, 98, 101, 99}, []uint64{0, 120, 0, 0}, 12, EventBranch},
		{"every thread goes there, not equally often", []uint64{100, 98, 101, 99}, []uint64{20, 180, 90, 50}, 12, EventBranch},
		{"all code is uneven alike: the loop that holds it", []uint64{20, 180, 90, 50}, []uint64{22, 170, 95, 48}, 14, EventLoop},
	} {
		res, err := Run(sampledProgram(t, c.even, c.extra), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Sections) != 1 || len(res.Sections[0].Causes) == 0 {
			t.Errorf("%s: no cause", c.name)
			continue
		}
		first := res.Sections[0].Causes[0]
		if first.Line != c.line || first.Event != c.event {
			t.Errorf("%s: the first cause is the %s on line %d, want the %s on line %d", c.name, first.Event, first.Line, c.event, c.line)
		}
		if first.Share == nil || *first.Share < 0.8 || *first.Share > 1 {
			t.Errorf("%s: share %v", c.name, first.Share)
		}
	}
}

// Blocks of a diamond in a loop: what decides over each.
func TestChain(t *testing.T) {
	p := sampledProgram(t, []uint64{1, 1}, []uint64{0, 2})
	ps := newProcs(p.Tables())
	for _, c := range []struct {
		line  int32
		kinds []boundaryKind
	}{
		{9, nil}, {11, []boundaryKind{boundLoop}}, {12, []boundaryKind{boundLoop}},
		{13, []boundaryKind{boundLoop, boundBranch}}, {14, []boundaryKind{boundLoop}}, {15, nil},
		{20, nil}, {30, nil}, {31, []boundaryKind{boundLoop}},
	} {
		for v := range p.Tables().Nodes {
			if p.Tables().Nodes[v].Frames[0].Line != c.line {
				continue
			}
			var got []boundaryKind
			for _, b := range ps.chain(profile.NodeID(v)) {
				got = append(got, b.kind)
				if b.kind == boundBranch && !b.join {
					t.Errorf("line %d: the ways of its branch come together again", c.line)
				}
			}
			if len(got) != len(c.kinds) || len(got) > 0 && (got[0] != c.kinds[0] || got[len(got)-1] != c.kinds[len(got)-1]) {
				t.Errorf("line %d: inside of %v, want %v", c.line, got, c.kinds)
			}
		}
	}
}
