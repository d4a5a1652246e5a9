// Package synth makes profiles of programs that never were: any number of threads, events and
// instances, with known causes. Benchmarks and property tests of the analysis use it. It may import
// profile only.
package synth

import (
	"math"
	"math/rand/v2"

	"lime/internal/profile"
)

// Spec says what to make.
type Spec struct {
	Events, Threads, Instances int
	Patterns                   int     // independent reasons why counts differ between threads
	Exact                      float64 // share of the events that follow a pattern exactly
	Near                       float64 // share that follows one with noise; the rest follows nothing
	Seed                       uint64
}

// Default is a mix like that of real programs, where most events follow few decisions: 70 %
// exactly, 25 % with up to 30 % of noise, 5 % are like nothing else.
func Default(events, threads int) Spec {
	return Spec{Events: events, Threads: threads, Instances: 1, Patterns: 24, Exact: 0.7, Near: 0.25, Seed: 1}
}

// Profile makes a profile with one section. Times follow the first two patterns.
func Profile(s Spec) *profile.Profile {
	r := rand.New(rand.NewPCG(s.Seed, 77))
	p := profile.New(profile.Meta{Tool: "synth", Collector: "synth", Model: "count", ClockUnit: "instructions",
		RunTime: 3_000_000 * uint64(max(1, s.Instances)), Complete: true, EndState: "exited", CountLabel: profile.Sampled})
	tables(p, s)
	for range s.Instances {
		if err := p.WriteInstance(instance(r, s)); err != nil {
			panic(err) // memory only
		}
	}
	return p
}

// tables makes a chain of diamonds, two edges of a decision at a time, in functions of 64 blocks.
func tables(p *profile.Profile, s Spec) {
	file := p.AddFile(profile.File{Path: "synth.c"})
	for v := range s.Events/2 + 3 {
		fn := profile.FunctionID(v / 64)
		if v%64 == 0 {
			fn = p.AddFunction(profile.Function{Name: "f", File: file})
		}
		p.AddNode(profile.Node{Addr: uint64(16 * v), LastAddr: uint64(16*v + 8), Instrs: 4, Kind: profile.EndCond, Function: fn,
			Frames: []profile.Frame{{File: file, Line: int32(v + 1), Function: "f"}}})
	}
	for e := range s.Events {
		kind := profile.EdgeTaken
		if e%2 == 1 {
			kind = profile.EdgeFall
		}
		p.AddEdge(profile.Edge{From: profile.NodeID(e / 2), To: profile.NodeID(e/2 + 1 + e%2), Kind: kind})
	}
	p.AddSection(profile.Section{Kind: profile.SectionBarrier, EndNode: profile.None, Frames: []profile.Frame{{File: file, Line: 1}}})
	for range s.Threads {
		p.AddThread(profile.Thread{})
	}
}

func instance(r *rand.Rand, s Spec) *profile.Instance {
	patterns := make([][]float64, max(2, s.Patterns))
	for i := range patterns {
		patterns[i] = normal(r, s.Threads)
	}
	in := &profile.Instance{Edges: make([]profile.Count, 0, s.Events*s.Threads)}
	for i := range s.Threads {
		t := 1e6 * (2 + 0.2*patterns[0][i] + 0.1*patterns[1][i] + 0.001*r.NormFloat64())
		in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(i), Arrive: uint64(max(0, t)), Exit: profile.None})
	}
	for e := range s.Events {
		for i, n := range counts(r, s, patterns[r.IntN(len(patterns))]) {
			if n > 0 {
				in.Edges = append(in.Edges, profile.Count{Row: int32(e), Part: int32(i), N: n})
			}
		}
	}
	return in
}

func normal(r *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = math.Round(100*math.Max(-5, math.Min(5, r.NormFloat64()))) / 100
	}
	return v
}

// counts makes one event's counts.
func counts(r *rand.Rand, s Spec, pattern []float64) []uint64 {
	out := make([]uint64, s.Threads)
	factor, noise, kind := float64(1+r.IntN(50)), 0.0, r.Float64()
	switch {
	case kind < s.Exact:
	case kind < s.Exact+s.Near:
		noise = 0.3 * r.Float64()
	default:
		pattern, noise = make([]float64, s.Threads), 1
	}
	for i := range out {
		v := pattern[i] + 5
		if noise > 0 {
			v += math.Max(-5, math.Min(5, noise*r.NormFloat64()))
		}
		out[i] = uint64(math.Max(0, math.Round(100*v))) * uint64(factor)
	}
	return out
}
