package native

import (
	"strings"
	"testing"

	"lime/internal/perf"
	"lime/internal/profile"
)

// With each sample's period as its weight, every moment of a thread's life has as much weight, but
// for what lies before the shortest period's end.
func TestShortPeriodsReachAllOfALife(t *testing.T) {
	for _, life := range []float64{100_000, 160_000} {
		s := shortTurns{life: life}
		const bins, draws = 8, 20000
		var weight [4 * bins]float64 // of an eighth of a life each, up to four lives
		for i := range draws {
			p := float64(s.draw((float64(i) + 0.5) / draws))
			if p < life/shortParts-1 || p > life+1 {
				t.Fatalf("a period of %v for a life of %v", p, life)
			}
			for at := p; int(at/life*bins) < len(weight); at += p {
				weight[int(at/life*bins)] += p
			}
		}
		mean := 0.0
		for _, w := range weight[1:] {
			mean += w / float64(len(weight)-1)
		}
		for i, w := range weight[1:] {
			if w < 0.6*mean || w > 1.6*mean {
				t.Errorf("life %v: the %d. eighth has %.2f of the mean weight", life, i+2, w/mean)
			}
		}
	}
}

// A turn and the pause behind it make no more samples than the first clock does.
func TestShortTurnsKeepToTheBudget(t *testing.T) {
	for _, frequency := range []uint64{50, 499, 5000} {
		for _, period := range []uint64{leastShort, 50_000, mostShort} {
			s := shortTurns{clock: perf.Options{Frequency: frequency}, period: period}
			if rate := s.share() * 1e9 / float64(period); rate > float64(frequency)+1 || s.share() > 0.5 {
				t.Errorf("period %d at %d/s: %v samples a second, for %v of the time", period, frequency, rate, s.share())
			}
		}
	}
}

// Of threads that all end within a period some have samples, and the line on which they work is
// told.
func TestShortThreadsAreSampled(t *testing.T) {
	needs(t, needSamples, needTracing)
	p, res := record(t, Options{Command: []string{build(t, `
#include <pthread.h>
#include <time.h>
static volatile long sink[64];
static long now(clockid_t clock) {
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}
static void *work(void *me) { // for a tenth of a period, on any processor
	while (now(CLOCK_THREAD_CPUTIME_ID) < 200000)
		for (long i = 0; i < 10000; i++) sink[8 * (long)me] += i;
	return 0;
}
int main(void) {
	pthread_t t[4];
	for (long from = now(CLOCK_MONOTONIC); now(CLOCK_MONOTONIC) - from < 1500000000L;) {
		for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, work, (void *)i);
		for (long i = 0; i < 4; i++) pthread_join(t[i], 0);
	}
}
`)}})
	if res.Status != 0 {
		t.Fatalf("status %d", res.Status)
	}
	brief := uint64(0)
	for _, n := range p.Meta().Notes {
		if n.Code == "brief-threads" {
			brief = n.N
		}
		if n.Code == "no-samples" || n.Code == "samples" && strings.Contains(n.Text, "cycles") {
			t.Log("no clock with periods in ns")
			return
		}
	}
	threads := map[profile.ThreadID]bool{}
	for id := range p.Tables().Sections {
		for in := range p.Instances(profile.SectionID(id)) {
			for _, c := range in.Edges {
				threads[in.Parts[c.Part].Thread] = true
			}
		}
	}
	if brief < 100 || len(threads) < 3 {
		t.Errorf("%d threads ended within a period, %d threads have samples", brief, len(threads))
	}
}
