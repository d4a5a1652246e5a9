package analysis

import (
	"fmt"
	"testing"

	"lime/internal/analysis/synth"
)

// BenchmarkEvents is the method on one instance, as the number of events grows.
func BenchmarkEvents(b *testing.B) {
	for _, events := range []int{1000, 10_000, 100_000, 300_000, 1_000_000} {
		b.Run(fmt.Sprintf("%dx64", events), func(b *testing.B) {
			p := synth.Profile(synth.Default(events, 64))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Run(p, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkInstances is the method on many instances of a thousand events.
func BenchmarkInstances(b *testing.B) {
	s := synth.Default(1000, 64)
	s.Instances = 300
	p := synth.Profile(s)
	for b.Loop() {
		if _, err := Run(p, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
