package analysis

import (
	"fmt"
	"testing"

	"lime/internal/analysis/synth"
	"lime/internal/profile"
)

// BenchmarkEvents is the method on one instance, as the number of events grows: counts that are a
// flow, and counts that are none.
func BenchmarkEvents(b *testing.B) {
	for _, made := range []struct {
		name string
		make func(synth.Spec) *profile.Profile
	}{{"flow", synth.Flow}, {"noise", synth.Profile}} {
		for _, events := range []int{1000, 10_000, 100_000, 300_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/%dx64", made.name, events), func(b *testing.B) {
				benchmark(b, made.make(synth.Default(events, 64)))
			})
		}
	}
}

// BenchmarkInstances is the method on many instances of a thousand events.
func BenchmarkInstances(b *testing.B) {
	s := synth.Default(1000, 64)
	s.Instances = 300
	benchmark(b, synth.Profile(s))
}

func benchmark(b *testing.B, p *profile.Profile) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Run(p, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
