package analysis

import (
	"math/rand/v2"
	"slices"
	"strings"
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
//
// left is how far, on average, the samples of each thread are from the end of the loop on line 10.
func sampledProgram(t *testing.T, even, extra []uint64, left ...uint64) *profile.Profile {
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
	var told [2]profile.EventID
	for i, kind := range []string{profile.KindLoopSamples, profile.KindLoopLeft} {
		told[i] = p.AddEvent(profile.Event{Kind: p.AddKind(profile.EventKind{Name: kind, Unit: "times", Label: profile.Sampled}), Node: test})
	}
	const period = 2_000_000
	in := &profile.Instance{}
	for i := range even {
		id := p.AddThread(profile.Thread{Parent: profile.None, Entry: profile.None})
		in.Parts = append(in.Parts, profile.Part{Thread: id, Arrive: (even[i] + extra[i]) * period, Release: 1e12,
			Entry: profile.None, Exit: profile.None})
		if i < len(left) {
			n := even[i] + extra[i]
			in.Events = append(in.Events, profile.Count{Row: int32(told[0]), Part: int32(i), N: n},
				profile.Count{Row: int32(told[1]), Part: int32(i), N: n * left[i]})
		}
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
		if vague := strings.Contains(first.Agreement, "goes round"); vague != (c.event == EventLoop) {
			t.Errorf("%s: %q is told of a loop whose length nobody knows", c.name, first.Agreement)
		}
		if first.Share == nil || *first.Share < 0.8 || *first.Share > 1 {
			t.Errorf("%s: share %v", c.name, first.Share)
		}
		for _, x := range first.Threads { // beside the threads' time, its part that was spent in the cause
			if !first.Summed || !first.CountTime || float64(x.Count) > 1.01*x.Time {
				t.Errorf("%s: %d of %.0f ns of thread %d are in the cause", c.name, x.Count, x.Time, x.Thread)
			}
		}
	}
}

// All code is uneven alike, and the loop around it goes round as often in all threads, or not.
func TestSameWork(t *testing.T) {
	for _, c := range []struct {
		name   string
		left   []uint64
		causes int
		said   bool
	}{
		{"as often", []uint64{500, 500, 500, 500}, 0, true},
		{"the longer, the more often", []uint64{100, 900, 450, 250}, 1, false},
		{"nobody knows", nil, 1, false},
	} {
		res, err := Run(sampledProgram(t, []uint64{20, 180, 90, 50}, []uint64{0, 0, 0, 0}, c.left...), Options{})
		if err != nil {
			t.Fatal(err)
		}
		sec := &res.Sections[0]
		said := slices.ContainsFunc(sec.Verdicts, func(v Verdict) bool {
			return v.Code == "same-work" && strings.Contains(v.Text, "most of it at app.c:14,")
		})
		if len(sec.Causes) != c.causes || said != c.said {
			t.Errorf("%s: %d causes, told that the work is the same: %v; want %d, %v", c.name, len(sec.Causes), said, c.causes, c.said)
		}
		if at := sec.Slower; (at != nil && at.Line == 14) != c.said {
			t.Errorf("%s: the work that takes longer is at %v", c.name, at)
		}
	}
}

// Whether a loop goes round more often in threads that take longer.
func TestLoopLengths(t *testing.T) {
	times := []uint64{100, 100, 200, 400}
	for _, c := range []struct {
		name  string
		left  []float64 // mean distance to the end, by thread
		n     float64   // samples of each thread
		exits int
		want  int
		sure  bool
	}{
		{"as its time", []float64{50, 50, 100, 200}, 50, 1, loopUneven, false},
		{"even", []float64{70, 70, 70, 70}, 50, 1, loopEven, true},
		{"likely even", []float64{70, 70, 70, 70}, 3, 1, loopEven, false},
		{"even, but it may end elsewhere", []float64{70, 70, 70, 70}, 50, 2, loopUnknown, false},
		{"it comes the nearer to its end the longer it takes, and may end elsewhere", []float64{95, 95, 80, 50}, 50, 2, loopUneven, false},
		{"the same, and it cannot", []float64{95, 95, 80, 50}, 50, 1, loopUnknown, false},
		{"too few samples", []float64{50, 50, 100, 200}, 0.1, 1, loopUnknown, false},
	} {
		w := &rows{threads: map[profile.ThreadID]*threadRows{}, trips: newTrips()}
		in := &profile.Instance{}
		for i, t := range times {
			in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(i), Arrive: t})
			w.thread(profile.ThreadID(i)).time = float64(t)
		}
		n, left := make([]float64, len(times)), make([]float64, len(times))
		for i := range times {
			n[i], left[i] = c.n, c.n*c.left[i]
		}
		w.trips.instance(0, in, n, left)
		for _, steady := range []bool{true, false} {
			if got := w.trips.judge(0, c.exits, steady, w); got.verdict != c.want || got.sure != c.sure {
				t.Errorf("%s (steady %v): verdict %d, sure %t; want %d, %t", c.name, steady, got.verdict, got.sure, c.want, c.sure)
			}
		}
	}
}

// A loop that is left early in a loop of which few samples tell: how far these happened to be from its
// end does not decide which of the two is named, but once in fifty draws.
func TestFewSamplesDecideNothing(t *testing.T) {
	const inner, outer, draws = 1, 2, 2000
	times, wrong := []uint64{100, 500, 100, 120}, 0
	for seed := range uint64(draws) {
		rng := rand.New(rand.NewPCG(seed, 7))
		w := &rows{threads: map[profile.ThreadID]*threadRows{}, trips: newTrips()}
		in := &profile.Instance{}
		innerN, innerLeft, outerN, outerLeft := make([]float64, 4), make([]float64, 4), make([]float64, 4), make([]float64, 4)
		for i, x := range times {
			in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(i), Arrive: x})
			w.thread(profile.ThreadID(i)).time = float64(x)
			innerN[i] = float64(x) / 2
			innerLeft[i] = innerN[i] * (395 + 5*rng.Float64())
		}
		for range rng.IntN(4) {
			i := rng.IntN(len(times))
			outerN[i], outerLeft[i] = outerN[i]+1, outerLeft[i]+20000*rng.Float64()
		}
		w.trips.instance(inner, in, innerN, innerLeft)
		w.trips.instance(outer, in, outerN, outerLeft)
		walk := &walker{loop: func(b boundary) length { return w.trips.judge(b.node, 3-int(b.node), true, w) }}
		around, loop := &part{b: boundary{kind: boundLoop, node: outer}}, &part{b: boundary{kind: boundLoop, node: inner}}
		if !walk.inner(around, loop, rankUnknown) {
			wrong++
		}
	}
	if wrong > draws/50 {
		t.Errorf("in %d of %d draws the outer loop is named", wrong, draws)
	}
}

// What samples cannot tell is told with the other lines that it may be, too.
func TestNoteOfWhatSamplesDoNotTell(t *testing.T) {
	for _, c := range []struct {
		rivals        []string
		vague         bool
		lines, counts bool
	}{{nil, false, false, false}, {nil, true, false, true}, {[]string{"a.c:5"}, false, true, false}, {[]string{"a.c:5"}, true, true, true}} {
		note := noteOf(c.rivals, c.vague)
		if strings.Contains(note, "a.c:5") != c.lines || strings.Contains(note, "goes round more often") != c.counts {
			t.Errorf("%v, vague %t: %q", c.rivals, c.vague, note)
		}
	}
}

// Even threads on a busy machine: a few per cent, now the one and now the other; now and then much.
// That is no proof of anything, and neither is one passage.
func TestProof(t *testing.T) {
	const ms = 1e6
	for _, c := range []struct {
		name  string
		times func(i, thread int) float64
		n     int
		want  proof
	}{
		{"a few per cent", func(i, thread int) float64 { return 10*ms + ms/2*float64((i*7+thread*3)%5)/5 }, 40, proof{}},
		{"the same with outliers", func(i, thread int) float64 {
			if i%40 == thread {
				return 20 * ms
			}
			return 10*ms + ms/2*float64((i*7+thread*3)%5)/5
		}, 40, proof{}},
		{"one thread every time, by as much as its core", func(_, thread int) float64 { return 10*ms + ms/2*float64(thread/7) }, 40, proof{}},
		{"one thread every time", func(_, thread int) float64 { return 10*ms + 3*ms/2*float64(thread/7) }, 40, proof{again: true}},
		{"one thread every time, by little of time", func(_, thread int) float64 { return 4000 + 600*float64(thread/7) }, 40, proof{again: true}},
		{"a third, in turn", func(i, thread int) float64 { return 10*ms + 5*ms*float64((i+thread)%8/6) }, 40, proof{}},
		{"half, in turn", func(i, thread int) float64 { return 10*ms + 11*ms*float64((i+thread)%8/6) }, 40,
			proof{half: true, often: true, shared: true}},
		{"half, by microseconds", func(i, thread int) float64 { return 2000 + 2200*float64((i+thread)%8/6) }, 40, proof{}},
		{"a third in one instance", func(_, thread int) float64 { return 10*ms + 5*ms*float64(thread%2) }, 1, proof{}},
		{"one of eight has nothing to do", func(_, thread int) float64 { return 10 * ms * float64(min(thread, 1)) }, 1, proof{}},
		{"half in one instance", func(_, thread int) float64 { return 10*ms + 11*ms*float64(thread%2) }, 1, proof{half: true}},
	} {
		w := &rows{threads: map[profile.ThreadID]*threadRows{}, blocks: map[profile.NodeID]mass{}, trips: newTrips(), waits: map[int32]mass{}}
		for i := range c.n {
			in := &profile.Instance{}
			for thread := range 8 {
				in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(thread), Arrive: uint64(c.times(i, thread))})
			}
			w.add(&profile.Tables{}, in)
		}
		if got := w.proof(); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// A line is proved by rows that agree, not by one that stands out.
func TestScores(t *testing.T) {
	for _, c := range []struct {
		name string
		rows int
		of   func(i int) float64
		want bool
	}{
		{"all agree", 20, func(int) float64 { return 1 }, true}, {"too few", 15, func(int) float64 { return 1 }, false},
		{"one stands out", 200, func(i int) float64 { return 1 + 1000*float64(i/199) }, false},
		{"by chance", 200, func(i int) float64 { return float64(i%2*2 - 1) }, false},
	} {
		var s score
		for i := range c.rows {
			s.add(c.of(i))
		}
		if got := s.z() >= sureLine; got != c.want {
			t.Errorf("%s: z %.1f, proved %t", c.name, s.z(), got)
		}
	}
}

// Times from which spinning was taken off, by few samples: whether they differ by more than chance.
func TestDoubtfulTimes(t *testing.T) {
	tab := &profile.Tables{Kinds: []profile.EventKind{{Name: profile.KindSpinSamples, Unit: "times", Label: profile.Sampled}},
		Events: []profile.Event{{Node: profile.None}}, Nodes: []profile.Node{{}},
		Edges: []profile.Edge{{From: profile.None, Kind: profile.EdgeVisit}}}
	for _, c := range []struct {
		name        string
		work, spins uint64 // samples of each thread
		want        bool
	}{
		{"few samples", 4, 20, true}, {"many samples", 400, 2000, false}, {"no spinning", 4, 0, false},
	} {
		w := &rows{threads: map[profile.ThreadID]*threadRows{}, blocks: map[profile.NodeID]mass{}, trips: newTrips(), waits: map[int32]mass{}}
		in := &profile.Instance{}
		for i := range 8 {
			in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(i), Arrive: 1_000_000 + uint64(i)*100_000})
			in.Edges = append(in.Edges, profile.Count{Part: int32(i), N: c.work})
			if c.spins > 0 {
				in.Events = append(in.Events, profile.Count{Part: int32(i), N: c.spins})
			}
		}
		w.add(tab, in)
		if got := w.doubtful(); got != c.want {
			t.Errorf("%s: doubtful %v, want %v", c.name, got, c.want)
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

// A run so short that no sample fell into it has no causes, whatever happened to rise and fall with
// its times.
func TestNoSampleAtAll(t *testing.T) {
	p := sampledProgram(t, []uint64{10, 90, 45, 25}, []uint64{0, 0, 0, 0})
	tab := p.Tables()
	tab.PathSamples = nil
	fault := p.AddEvent(profile.Event{Kind: p.AddKind(profile.EventKind{Name: "page-fault", Unit: "times", Label: profile.Sampled}), Node: 0})
	for in := range p.Instances(0) {
		in.Edges = nil
		for i := range in.Parts {
			in.Events = append(in.Events, profile.Count{Row: int32(fault), Part: int32(i), N: in.Parts[i].Arrive / 1000})
		}
	}
	res, err := Run(p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	sec := &res.Sections[0]
	if said := slices.ContainsFunc(sec.Verdicts, func(v Verdict) bool { return v.Code == "too-few-samples" }); len(sec.Causes) != 0 || !said {
		t.Errorf("causes %+v, verdicts %+v; want none, and too few samples", sec.Causes, sec.Verdicts)
	}
}

// A function whose loop is longer when one thread calls it from a branch that the others do not
// take: the branch decides, and not the loop. If all come there, not equally often, the loop does.
func TestLoopThatSomeNeverReach(t *testing.T) {
	const extraLoop = 8 // the node of the loop's test
	for _, c := range []struct {
		even, extra, left []uint64
		line              int
	}{
		{[]uint64{100, 100, 100, 100}, []uint64{0, 120, 0, 0}, []uint64{100, 300, 100, 100}, 12},
		{[]uint64{100, 100, 100, 100}, []uint64{30, 240, 32, 31}, []uint64{100, 300, 100, 100}, 31},
		{[]uint64{8, 8, 8, 8}, []uint64{0, 11, 0, 0}, []uint64{100, 300, 100, 100}, 31}, // too few samples to say that the others never come
	} {
		p := sampledProgram(t, c.even, c.extra, c.left...)
		for i := range p.Tables().Events {
			p.Tables().Events[i].Node = extraLoop
		}
		res, err := Run(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		causes := res.Sections[0].Causes
		if len(causes) == 0 || causes[0].Line != c.line {
			t.Errorf("%v: %+v, want line %d", c.extra, causes, c.line)
		}
	}
}
