package view

import (
	"fmt"
	"path/filepath"
	"testing"

	"lime/internal/analysis"
	"lime/internal/profile"
)

// fixture makes a profile of everything that the views show: a barrier that threads reach unevenly
// because one line runs more often in some, a join, a stretch of one thread, locks, an event, call
// paths. With names, all names are those.
func fixture(t testing.TB, threads, instances int, names ...string) *profile.Profile {
	t.Helper()
	name := func(otherwise string) string {
		if len(names) > 0 {
			return names[0]
		}
		return otherwise
	}
	p := profile.New(profile.Meta{Tool: "lime test", Collector: "simulate", Model: "count",
		Command: []string{name("./app"), "-n", "4"}, Cores: threads, ClockUnit: "instructions",
		NodeTime: "visits", EndState: "exited", Complete: true, Resolved: true,
		RunTime: uint64(1000 + instances*2000 + 500), Notes: []profile.Note{{Code: "x", Text: name("a note")}}})
	img := p.AddImage(profile.Image{Path: "/app"})
	file := p.AddFile(profile.File{Path: name("src/app.c"),
		Lines: map[int32]string{9: "static void work(int n) {", 10: name("\tfor (int i = 0; i < n; i++)"),
			11: "\t\tstep(i);", 12: "}", 30: "\tbarrier();"}})
	fn := map[string]profile.FunctionID{}
	for _, f := range []string{"main", "worker", "work", "step"} {
		fn[f] = p.AddFunction(profile.Function{Image: img, Name: name(f), File: file, Line: 9})
	}
	node := func(f string, line int32, kind profile.NodeKind) profile.NodeID {
		at := []profile.Frame{{File: file, Line: line, Function: name(f)}}
		return p.AddNode(profile.Node{Image: img, Addr: uint64(0x1000 + 16*line), LastAddr: uint64(0x1008 + 16*line),
			Size: 4, Instrs: 1, Kind: kind, Function: fn[f], Frames: at, First: at})
	}
	entry, test, body, out := node("worker", 25, profile.EndFall), node("work", 10, profile.EndCond),
		node("work", 11, profile.EndJump), node("work", 12, profile.EndRet)
	into := p.AddEdge(profile.Edge{From: entry, To: test, Kind: profile.EdgeFall})
	again := p.AddEdge(profile.Edge{From: test, To: body, Kind: profile.EdgeTaken})
	back := p.AddEdge(profile.Edge{From: body, To: test, Kind: profile.EdgeJump})
	leave := p.AddEdge(profile.Edge{From: test, To: out, Kind: profile.EdgeFall})
	end := p.AddEdge(profile.Edge{From: out, To: profile.None, Kind: profile.EdgeEnd})
	rare := p.AddEdge(profile.Edge{From: node("work", 13, profile.EndJump), To: out, Kind: profile.EdgeJump})
	miss := p.AddKind(profile.EventKind{Name: "l1d-miss", Title: name("L1 data miss"), Unit: "times"})
	ev := p.AddEvent(profile.Event{Kind: miss, Node: body, Addr: 0x10b0})
	section := func(kind profile.SectionKind, line int32) profile.SectionID {
		return p.AddSection(profile.Section{Kind: kind, EndAddr: uint64(line), EndNode: profile.None,
			Frames: []profile.Frame{{File: file, Line: line, Function: name("worker")}}})
	}
	barrier, join, serial := section(profile.SectionBarrier, 30), section(profile.SectionJoin, 40), section(profile.SectionSerial, 50)
	for i := range threads {
		p.AddThread(profile.Thread{Name: name(fmt.Sprintf("worker %d", i)), Parent: profile.ThreadID(min(i, 1) - 1),
			TID: int32(100 + i), Entry: profile.None})
	}
	for i := range instances {
		in := &profile.Instance{Section: barrier}
		start := uint64(1000 + i*2000)
		for th := range threads {
			n := uint64(100 + th*800/max(threads-1, 1) - i%5*10)
			in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(th), Start: start,
				Arrive: start + 2*n + 3, Release: start + 2000, LockWait: uint64(10 * (th % 3)), Entry: entry,
				Exit: out, EntryStack: []profile.NodeID{entry}, ExitStack: []profile.NodeID{entry}})
			for _, c := range []struct {
				e profile.EdgeID
				n uint64
			}{{into, 1}, {again, n}, {back, n}, {leave, 1}, {end, 1}, {rare, uint64(th)}} {
				in.Edges = append(in.Edges, profile.Count{Row: int32(c.e), Part: int32(th), N: c.n})
			}
			in.Events = append(in.Events, profile.Count{Row: int32(ev), Part: int32(th), N: n / 2})
		}
		put(t, p, in)
	}
	whole := &profile.Instance{Section: join}
	for th := range threads {
		whole.Parts = append(whole.Parts,
			profile.Part{Thread: profile.ThreadID(th), Start: uint64(1000 + instances*2000),
				Arrive: uint64(1000 + instances*2000 + 10*th), Release: uint64(1000 + instances*2000 + 10*threads), Entry: entry, Exit: out})
	}
	put(t, p, whole)
	put(t, p, &profile.Instance{Section: serial,
		Parts: []profile.Part{{Thread: 0, Start: 0, Arrive: 1000, Release: 1000, Entry: entry, Exit: out}}})
	root := p.AddPath(profile.PathNode{Parent: profile.None, Node: entry})
	inner := p.AddPath(profile.PathNode{Parent: root, Node: test})
	for th := range threads {
		for _, s := range []profile.PathSample{{Path: root, Metric: "time", Value: 10},
			{Path: inner, Metric: "time", Value: float64(30 + th)}, {Path: inner, Metric: "idleness", Value: 5}} {
			s.Thread, s.Section = profile.ThreadID(th), barrier
			p.AddPathSample(s)
		}
		tr := profile.Trace{Thread: profile.ThreadID(th), Every: 1}
		for i := range instances { // in the first half of each part it is in work, in the second in worker
			n := uint64(100 + th*800/max(threads-1, 1) - i%5*10)
			for k, path := range []profile.PathID{inner, root} {
				tr.Samples = append(tr.Samples, profile.TraceSample{At: uint64(1000+i*2000) + n/2 + uint64(k)*n, Length: n, Path: path})
			}
		}
		p.AddTrace(tr)
	}
	return p
}

func put(t testing.TB, p *profile.Profile, in *profile.Instance) {
	t.Helper()
	in.Sort()
	if err := in.Check(p.Tables()); err != nil {
		t.Fatal(err)
	}
	if err := p.WriteInstance(in); err != nil {
		t.Fatal(err)
	}
}

// runOf prepares a profile in memory.
func runOf(p *profile.Profile) *Run {
	return NewRun(p, "no/such/app.lime", analysis.DefaultOptions(), new(Heap))
}

// fileRun writes a profile to a file and opens that.
func fileRun(t testing.TB, p *profile.Profile) (*Run, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "app.lime")
	if err := profile.Save(path, false, p); err != nil {
		t.Fatal(err)
	}
	r, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return NewRun(r, path, analysis.DefaultOptions(), new(Heap)), path
}
