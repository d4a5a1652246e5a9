package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"lime/internal/profile"
)

// noise is by what share of the mean a part takes longer by the machine's doing.
type noise struct {
	name string
	of   func(r *rand.Rand) float64
}

// noises are bounded, with a tail, and rare but large: an interrupt, another program.
func noises() []noise {
	return []noise{
		{"none", func(*rand.Rand) float64 { return 0 }},
		{"uniform", func(r *rand.Rand) float64 { return 0.3 * r.Float64() }},
		{"exponential", func(r *rand.Rand) float64 { return 0.1 * r.ExpFloat64() }},
		{"rare", func(r *rand.Rand) float64 { return float64(max(0, r.IntN(20)-18)) }},
	}
}

// noisyProfile is a recorded program of a barrier that threads pass again and again with work in
// one block. Thread 0 has own more to do, as a share of the mean; the rest is noise. A sample
// stands for 200 us.
func noisyProfile(t *testing.T, r *rand.Rand, threads, instances int, own float64, of noise) (*profile.Profile, float64) {
	t.Helper()
	p := profile.New(profile.Meta{Collector: "record", Model: "native", ClockUnit: "ns", ClockHz: 1e9, NodeTime: "stored",
		CountLabel: profile.Sampled, Cores: threads, Complete: true, EndState: "exited"})
	p.AddImage(profile.Image{Path: "/home/u/app", Lo: 0x1000, Hi: 0x9000})
	p.AddFile(profile.File{Path: "app.c"})
	f := p.AddFunction(profile.Function{Name: "work", Entry: 0x1000, File: profile.None})
	frames := []profile.Frame{{File: 0, Line: 9, Function: "work"}}
	node := p.AddNode(profile.Node{Addr: 0x1000, Size: 16, Instrs: 4, LastAddr: 0x1008, Kind: profile.EndCall, Function: f, Frames: frames, First: frames})
	visit := p.AddEdge(profile.Edge{From: profile.None, To: node, Kind: profile.EdgeVisit})
	path := p.AddPath(profile.PathNode{Parent: profile.None, Node: node})
	p.AddSection(profile.Section{Kind: profile.SectionBarrier, EndNode: node, EndAddr: 0x1008, Frames: frames})
	for range threads {
		p.AddThread(profile.Thread{Parent: profile.None, Entry: profile.None})
	}
	const mean, period = 1e6, 200_000
	now, waited := uint64(0), 0.0
	for range instances {
		in := &profile.Instance{}
		last := now
		for i := range threads {
			x := 1 + of.of(r)
			if i == 0 {
				x += own
			}
			part := profile.Part{Thread: profile.ThreadID(i), Start: now, Arrive: now + uint64(mean*x), Entry: profile.None, Exit: profile.None}
			last = max(last, part.Arrive)
			in.Parts = append(in.Parts, part)
			if n := uint64(float64(part.Time())/period + r.Float64()); n > 0 {
				in.Edges = append(in.Edges, profile.Count{Row: int32(visit), Part: int32(i), N: n})
				p.AddPathSample(profile.PathSample{Path: path, Thread: part.Thread, Metric: "time", Value: float64(n * period)})
			}
		}
		for i := range in.Parts {
			in.Parts[i].Release = last
			waited += float64(last - in.Parts[i].Arrive)
		}
		now = last
		if err := p.WriteInstance(in); err != nil {
			t.Fatal(err)
		}
	}
	p.Meta().RunTime = now
	return p, waited
}

// What threads of even programs differ by is in the account, and no claim; a thread that has more to
// do is one, under the same noise. Either way all waiting for the last thread is in one of the two
// terms, and the account adds up.
func TestNoiseIsNoClaim(t *testing.T) {
	for _, of := range noises() {
		for _, own := range []float64{0, 0.5} {
			for seed := range uint64(20) {
				for _, threads := range []int{4, 8} {
					name := fmt.Sprintf("%s, %d threads, seed %d, one has %v more to do", of.name, threads, seed, own)
					p, waited := noisyProfile(t, rand.New(rand.NewPCG(seed, 5)), threads, 200, own, of)
					res, err := Run(p, Options{})
					if err != nil {
						t.Fatal(err)
					}
					checkIdentity(t, res.Loss)
					claimed, unproved := res.Loss.Term(TermImbalance), res.Loss.Term(TermUnproved)
					if math.Abs(claimed.Time+unproved.Time-waited) > 1e-6*waited {
						t.Errorf("%s: %v and %v, of %v waited", name, claimed.Time, unproved.Time, waited)
					}
					if most := res.Loss.Largest(); own == 0 && (claimed.Time > 0 || most != nil) {
						t.Errorf("%s: %v is told as imbalance, the largest loss is %+v", name, claimed.Time, most)
					} else if own > 0 && (unproved.Time > 0 || most != claimed) {
						t.Errorf("%s: %v is not proved, the largest loss is %+v", name, unproved.Time, most)
					}
				}
			}
		}
	}
}

// A section that loses most to what nothing proves says what else it loses: only that is claimed.
func TestWhatElseIsLostIsSaid(t *testing.T) {
	for _, c := range []struct {
		loss LossShares
		says string // "": nothing
	}{
		{LossShares{TermUnproved: 0.2, TermLock: 0.1}, "10.0 % of the core time is spent waiting for locks"},
		{LossShares{TermUnproved: 0.2, TermSerial: 0.1}, "10.0 % of the core time is lost here because too few threads"},
		{LossShares{TermUnproved: 0.2, TermLock: 0.001}, ""},
		{LossShares{TermUnproved: 0.2}, ""},
	} {
		for _, matters := range []bool{false, true} {
			res := &Result{Sections: []Section{{Loss: c.loss, AllLost: c.loss.lost(), Matters: matters}}}
			(&runner{}).weighAll(res)
			want := c.says
			if matters && c.loss[TermSerial] == 0 {
				want = "" // its waits are said as causes
			}
			got := ""
			for _, v := range res.Sections[0].Verdicts {
				got += v.Text
			}
			if (want == "") != (got == "") || !strings.Contains(got, want) {
				t.Errorf("%v, matters %t: %q, want %q", c.loss, matters, got, want)
			}
		}
	}
}
