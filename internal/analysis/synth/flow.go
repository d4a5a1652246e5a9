package synth

import (
	"math/rand/v2"

	"lime/internal/profile"
)

// passes is how often every thread runs the loop of a program made by Flow; no decision counts
// more.
const passes = 100_000

// heavy is the length in instructions of the blocks whose decisions follow the first two patterns.
const heavy = 400

// Flow makes a profile like that of a program that ran: one loop over decisions that skip a block
// or not, every thread through it equally often, so that what enters a block leaves it, and times
// are the sum of what was executed. Three edges make a decision.
func Flow(s Spec) *profile.Profile {
	r := rand.New(rand.NewPCG(s.Seed, 78))
	p := profile.New(profile.Meta{Tool: "synth", Collector: "synth", Model: "count", ClockUnit: "instructions", NodeTime: "visits",
		Complete: true, EndState: "exited", TimeLabel: profile.Measured, CountLabel: profile.Measured})
	decisions := max(2, s.Events/3)
	follows := make([]int, decisions)
	for k := range follows {
		follows[k] = r.IntN(max(2, s.Patterns))
	}
	flowTables(p, s.Threads, follows)
	for range s.Instances {
		in := flowInstance(r, s, follows)
		for i := range in.Parts {
			p.Meta().RunTime = max(p.Meta().RunTime, in.Parts[i].Arrive*uint64(s.Instances))
		}
		if err := p.WriteInstance(in); err != nil {
			panic(err) // memory only
		}
	}
	return p
}

// length is the number of instructions of the block that decision k may skip.
func length(follows int) uint32 {
	if follows < 2 {
		return heavy
	}
	return 4
}

func flowTables(p *profile.Profile, threads int, follows []int) {
	file := p.AddFile(profile.File{Path: "synth.c"})
	node := func(v int, instrs uint32, kind profile.NodeKind) {
		if v%128 == 0 {
			p.AddFunction(profile.Function{Name: "f", File: file})
		}
		p.AddNode(profile.Node{Addr: uint64(0x1000 + 16*v), LastAddr: uint64(0x1000 + 16*v + 8), Instrs: instrs, Kind: kind,
			Function: profile.FunctionID(v / 128), Frames: []profile.Frame{{File: file, Line: int32(v + 1), Function: "f"}}})
	}
	for k, f := range follows {
		node(2*k, 4, profile.EndCond)
		node(2*k+1, length(f), profile.EndFall)
	}
	last := 2 * len(follows)
	node(last, 4, profile.EndCond)
	for k := range follows {
		from := profile.NodeID(2 * k)
		p.AddEdge(profile.Edge{From: from, To: from + 1, Kind: profile.EdgeFall})
		p.AddEdge(profile.Edge{From: from, To: from + 2, Kind: profile.EdgeTaken})
		p.AddEdge(profile.Edge{From: from + 1, To: from + 2, Kind: profile.EdgeFall})
	}
	p.AddEdge(profile.Edge{From: profile.NodeID(last), To: 0, Kind: profile.EdgeTaken})
	p.AddSection(profile.Section{Kind: profile.SectionBarrier, EndNode: profile.NodeID(last), Frames: []profile.Frame{{File: file, Line: 1}}})
	for range threads {
		p.AddThread(profile.Thread{})
	}
}

func flowInstance(r *rand.Rand, s Spec, follows []int) *profile.Instance {
	patterns := make([][]float64, max(2, s.Patterns))
	for i := range patterns {
		patterns[i] = normal(r, s.Threads)
	}
	in := &profile.Instance{Edges: make([]profile.Count, 0, s.Threads*(3*len(follows)+1))}
	times := make([]uint64, s.Threads)
	add := func(row, part int, n uint64) {
		if n > 0 {
			in.Edges = append(in.Edges, profile.Count{Row: int32(row), Part: int32(part), N: n})
		}
	}
	for k, f := range follows {
		n := counts(r, s, patterns[f])
		for i := range n {
			n[i] = min(n[i], passes)
			add(3*k, i, n[i])
			times[i] += 4*passes + uint64(length(f))*n[i]
		}
		for i := range n {
			add(3*k+1, i, passes-n[i])
		}
		for i := range n {
			add(3*k+2, i, n[i])
		}
	}
	for i := range s.Threads {
		add(3*len(follows), i, passes-1)
		times[i] += 4 * passes
		in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(i), Arrive: times[i], Release: times[i],
			Entry: 0, Exit: profile.NodeID(2 * len(follows))})
	}
	return in
}
