package analysis

import (
	"lime/internal/profile"
)

// builder makes profiles of one section for tests. Node v stands on line 10+v of main.c, in
// function "work".
type builder struct {
	p *profile.Profile
}

func newBuilder(threads, nodes int, cond ...int) *builder {
	b := &builder{p: profile.New(profile.Meta{ClockUnit: "instructions", RunTime: 100000, Complete: true, EndState: "exited"})}
	file := b.p.AddFile(profile.File{Path: "main.c"})
	b.p.AddImage(profile.Image{Path: "app"})
	fn := b.p.AddFunction(profile.Function{Name: "work", File: file, Line: 1})
	for v := range nodes {
		n := profile.Node{Addr: uint64(0x1000 + 16*v), LastAddr: uint64(0x1008 + 16*v), Size: 16, Instrs: 4, Function: fn,
			Frames: []profile.Frame{{File: file, Line: int32(10 + v), Function: "work"}}}
		for _, c := range cond {
			if c == v {
				n.Kind = profile.EndCond
			}
		}
		b.p.AddNode(n)
	}
	b.p.AddSection(profile.Section{Kind: profile.SectionBarrier, EndNode: profile.NodeID(nodes - 1),
		Frames: []profile.Frame{{File: file, Line: 99, Function: "work"}}})
	for range threads {
		b.p.AddThread(profile.Thread{Name: "worker"})
	}
	return b
}

func (b *builder) edge(from, to int, kind profile.EdgeKind) int {
	return int(b.p.AddEdge(profile.Edge{From: profile.NodeID(from), To: profile.NodeID(to), Kind: kind}))
}

// kind and event add a hardware event of the node's last instruction.
func (b *builder) kind(name, superior string) int32 {
	return b.p.AddKind(profile.EventKind{Name: name, Title: name, Superior: superior, Unit: "times"})
}

func (b *builder) event(kind int32, node int) int {
	n := &b.p.Nodes[node]
	return int(b.p.AddEvent(profile.Event{Kind: kind, Node: profile.NodeID(node), Addr: n.LastAddr, Frames: n.Frames}))
}

// instance adds an instance: a time per thread, and counts by edge and event.
func (b *builder) instance(times []uint64, edges, events map[int][]uint64) {
	in := &profile.Instance{Section: 0}
	var last uint64
	for _, t := range times {
		last = max(last, t)
	}
	for i, t := range times {
		in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(i), Arrive: t, Release: last, Exit: profile.None})
	}
	in.Edges, in.Events = cells(edges), cells(events)
	if err := b.p.WriteInstance(in); err != nil {
		panic(err)
	}
}

func cells(m map[int][]uint64) []profile.Count {
	var out []profile.Count
	for row, ns := range m {
		for i, n := range ns {
			if n > 0 {
				out = append(out, profile.Count{Row: int32(row), Part: int32(i), N: n})
			}
		}
	}
	return out
}
