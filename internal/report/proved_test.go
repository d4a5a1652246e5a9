package report

import (
	"math/rand/v2"
	"strings"
	"testing"

	"lime/internal/analysis"
	"lime/internal/profile"
)

// noisyRun is a recorded program of a barrier that threads pass again and again. All do the same but
// for what the machine makes of it; thread 0 has own more to do, as a share. So much of the time,
// besides, samples say that threads were idle.
func noisyRun(t *testing.T, r *rand.Rand, own, idle float64) *profile.Profile {
	t.Helper()
	const mean, period = 1e6, 200_000
	threads := 4 + r.IntN(5)
	p := profile.New(profile.Meta{Collector: "record", Model: "native", ClockUnit: "ns", ClockHz: 1e9, NodeTime: "stored",
		CountLabel: profile.Sampled, Cores: threads, Complete: true, EndState: "exited"})
	p.Meta().Notes = []profile.Note{{Code: "samples", N: 10_000}}
	p.AddImage(profile.Image{Path: "/home/u/app", Lo: 0x1000, Hi: 0x9000})
	p.AddFile(profile.File{Path: "app.c"})
	frames := []profile.Frame{{Line: 9, Function: "work"}}
	node := p.AddNode(profile.Node{Addr: 0x1000, Size: 16, Instrs: 4, LastAddr: 0x1008, Kind: profile.EndCall, Frames: frames, First: frames,
		Function: p.AddFunction(profile.Function{Name: "work", Entry: 0x1000, File: profile.None})})
	p.AddEdge(profile.Edge{From: profile.None, To: node, Kind: profile.EdgeVisit})
	path := p.AddPath(profile.PathNode{Parent: profile.None, Node: node})
	p.AddSection(profile.Section{Kind: profile.SectionBarrier, EndNode: node, EndAddr: 0x1008, Frames: frames})
	for range threads {
		p.AddThread(profile.Thread{Parent: profile.None, Entry: profile.None})
	}
	now, sum := uint64(0), 0.0
	for range 200 {
		in := &profile.Instance{}
		end := now
		for i := range threads {
			x := 1 + 0.2*r.ExpFloat64()
			if i == 0 {
				x += own
			}
			part := profile.Part{Thread: profile.ThreadID(i), Start: now, Arrive: now + uint64(mean*x), Entry: profile.None, Exit: profile.None}
			end, sum = max(end, part.Arrive), sum+mean*x
			in.Parts = append(in.Parts, part)
			in.Edges = append(in.Edges, profile.Count{Part: int32(i), N: uint64(float64(part.Time())/period + r.Float64())})
		}
		for i := range in.Parts {
			in.Parts[i].Release = end
		}
		now = end
		if err := p.WriteInstance(in); err != nil {
			t.Fatal(err)
		}
	}
	p.AddPathSample(profile.PathSample{Path: path, Metric: "time", Value: sum})
	p.AddPathSample(profile.PathSample{Path: path, Metric: "idleness", Value: idle * sum})
	p.Meta().RunTime = now
	return p
}

// TestWhatIsNotProvedIsNotPromised: where the first sentence says that no loss is proved to be the
// program's, no other one says what could be won, or what to change. Where one is, they do.
func TestWhatIsNotProvedIsNotPromised(t *testing.T) {
	for seed := range uint64(12) {
		for _, own := range []float64{0, 1} {
			r := rand.New(rand.NewPCG(seed, 8))
			idle := r.Float64()
			p := noisyRun(t, r, own, idle)
			res, err := analysis.Run(p, analysis.Options{})
			if err != nil {
				t.Fatal(err)
			}
			rep := Build(res, p.Tables())
			text := textReport(t, rep, TextOptions{All: true})
			proved := !strings.Contains(rep.Loss.headline(), "No loss is proved")
			if proved != (own > 0) {
				t.Fatalf("seed %d: thread 0 has %v more to do: %s", seed, own, rep.Loss.headline())
			}
			for _, promise := range []string{"times as fast", "Refine:", "Change the strategy:"} {
				says := strings.Contains(text, promise)
				if !proved && says || proved && !says && promise == "times as fast" {
					t.Errorf("seed %d, proved %t: %q: %t\n%s", seed, proved, promise, says, text)
				}
			}
		}
	}
}

func TestHeldIsNoShareBeyondTheRun(t *testing.T) {
	for share, want := range map[float64]string{0: "0.0 % of the run time in all", 0.5: "50.0 % of the run time in all",
		1: "100.0 % of the run time in all", 1.213: "1.2 times at once, on average over the run"} {
		if got := heldWords(share); got != want {
			t.Errorf("%v: %q, want %q", share, got, want)
		}
	}
}
