package collect

import (
	"math/rand/v2"
	"testing"

	"lime/internal/profile"
)

const sampleBytes = 24

// Whatever the budget, a trace speaks for all the time that was sampled, never takes more than the
// budget and one sample a thread, and is as dense at its beginning as at its end.
func TestTracesAreThinnedEvenly(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		most, threads, n := 1+r.IntN(300), 1+r.IntN(5), r.IntN(4000)
		x := NewTraces(int64(most * sampleBytes))
		all := map[profile.ThreadID]uint64{}
		at := uint64(0)
		for range n {
			at += 1 + r.Uint64N(20)
			th := profile.ThreadID(r.IntN(threads))
			length := 1 + r.Uint64N(30)
			x.Add(th, profile.TraceSample{At: at, Length: length}, 1)
			all[th] += length
			if x.kept > most {
				t.Fatalf("%d samples are kept of %d", x.kept, most)
			}
		}
		every := x.every
		p, notes := profile.New(profile.Meta{}), Notes{}
		x.Write(p, notes)
		if (len(notes) > 0) != (every > 1) {
			t.Errorf("one of %d is kept, and the notes are %v", every, notes)
		}
		for _, tr := range p.Traces {
			sum, early := uint64(0), 0
			for i, s := range tr.Samples {
				if sum += s.Length; i > 0 && s.At < tr.Samples[i-1].At {
					t.Fatalf("sample %d goes back", i)
				}
				if s.At < at/2 {
					early++
				}
			}
			if sum != all[tr.Thread] {
				t.Errorf("thread %d: the samples speak for %d of %d", tr.Thread, sum, all[tr.Thread])
			}
			if k := len(tr.Samples); k > 40 && (early < k/4 || early > 3*k/4) {
				t.Errorf("%d of %d samples are in the first half", early, k)
			}
		}
	}
}

// Samples that were taken as seldom as the trace is thin by now are all kept.
func TestThinSamplesAreKept(t *testing.T) {
	x := NewTraces(1000 * sampleBytes)
	for at := uint64(10); at <= 1000; at += 10 {
		x.Add(0, profile.TraceSample{At: at, Length: 10}, 1)
	}
	x.Thin()
	for at := uint64(1020); at <= 2000; at += 20 {
		x.Add(0, profile.TraceSample{At: at, Length: 20}, 2)
	}
	p := profile.New(profile.Meta{})
	x.Write(p, Notes{})
	for i, s := range p.Traces[0].Samples {
		if s.At != uint64(20*(i+1)) || s.Length != 20 {
			t.Fatalf("sample %d is %+v", i, s)
		}
	}
}

func TestNoTraces(t *testing.T) {
	x := NewTraces(-1)
	x.Add(0, profile.TraceSample{At: 1, Length: 1}, 1)
	p := profile.New(profile.Meta{})
	x.Write(p, Notes{})
	if len(p.Traces) != 0 {
		t.Errorf("%v", p.Traces)
	}
}
