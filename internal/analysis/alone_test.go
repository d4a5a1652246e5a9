package analysis

import (
	"math/rand/v2"
	"testing"

	"lime/internal/profile"
)

// anyRun has threads that work, wait and sleep in sections of one thread and of several.
func anyRun(t *testing.T, r *rand.Rand) *profile.Profile {
	t.Helper()
	threads, end := 1+r.IntN(24), uint64(10_000)
	p := profile.New(profile.Meta{RunTime: end, ClockUnit: "instructions", Complete: true, Cores: 1 + r.IntN(8)})
	kinds := []profile.SectionKind{profile.SectionSerial, profile.SectionSerial, profile.SectionJoin, profile.SectionBarrier}
	for _, k := range kinds {
		p.AddSection(profile.Section{Kind: k, EndNode: profile.None})
	}
	busy := r.Float64()
	for id := range threads {
		p.AddThread(profile.Thread{Parent: profile.None, Entry: profile.None})
		for at := r.Uint64N(end); at < end; {
			last := at + 1 + r.Uint64N(end-at)
			part := profile.Part{Thread: profile.ThreadID(id), Start: at, Arrive: last, Release: last, Entry: profile.None, Exit: profile.None}
			part.OffCPU = uint64(float64(last-at) * min(1, busy*2*r.Float64()))
			if err := p.WriteInstance(&profile.Instance{Section: profile.SectionID(r.IntN(2)), Parts: []profile.Part{part}}); err != nil {
				t.Fatal(err)
			}
			at = last + r.Uint64N(end/4)
		}
	}
	return p
}

// TestAloneIsAlone: what is said of one thread alone is no more than the work that was done allows:
// in the time in which at most one thread works, as much is done as one and a half do. And the
// stretches of one thread alone add up to no more than the run.
func TestAloneIsAlone(t *testing.T) {
	for seed := range uint64(100) {
		p := anyRun(t, rand.New(rand.NewPCG(seed, 31)))
		res, err := Run(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		w := &res.Whole
		useful := res.Loss.Term(TermUseful).Time / w.RunTime
		if most := 1.5*w.SerialShare + float64(w.Threads)*(1-w.SerialShare); useful > most+1e-9 {
			t.Errorf("seed %d: at most one thread works for %.3f of the run, and %.3f cores do useful work, of %d threads", seed, w.SerialShare, useful, w.Threads)
		}
		sum := 0.0
		for i := range res.Serial {
			sum += res.Serial[i].Time
		}
		if sum > w.SerialShare*w.RunTime+1e-6 {
			t.Errorf("seed %d: stretches of one thread alone are %.3f of the run, together at most %.3f", seed, sum/w.RunTime, w.SerialShare)
		}
	}
}
