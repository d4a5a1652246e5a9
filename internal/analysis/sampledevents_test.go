package analysis

import (
	"strings"
	"testing"

	"lime/internal/profile"
)

// Eight threads do the same work, which takes some of them longer; events were sampled beside the
// time. Told as a text profile.
func TestSampledEvents(t *testing.T) {
	kinds := `kind 2 name="l1d-miss" title="L1 data miss" unit="times" label=sampled
kind 3 name="llc-miss" title="last-level miss" superior="l1d-miss" unit="times" label=sampled
kind 4 name="branch-miss" title="branch mispredict" unit="times" label=sampled
event 2 kind=2 node=6 addr=0x2140 at=0:20:0:"even"
event 3 kind=3 node=6 addr=0x2140 at=0:20:0:"even"
event 4 kind=4 node=8 addr=0x31f0 at=0:31:0:"extra"
section 0`
	const (
		level  = "events %d 500 510 505 495 500 508 501 499\n"
		misses = "events %d 400 4000 2000 1100 3000 600 1400 2600\n"
	)
	for _, c := range []struct {
		name   string
		counts [3]string
		even   bool // the loop goes round as often in all threads
		want   string
	}{
		{"misses of both levels rise with the time", [3]string{misses, misses, level}, true, "l1d-miss"},
		{"misses of the last level do", [3]string{level, misses, level}, true, "llc-miss"},
		{"mispredicts do", [3]string{level, level, misses}, true, "branch-miss"},
		{"nothing does", [3]string{level, level, level}, true, ""},
		{"the loop goes round more often: its misses follow", [3]string{misses, misses, level}, false, EventLoop},
	} {
		n := []uint64{20, 180, 90, 50, 140, 30, 65, 120}
		left := make([]uint64, len(n))
		for i := range left {
			if left[i] = 500; !c.even {
				left[i] = 5 * n[i]
			}
		}
		var text strings.Builder
		if err := profile.WriteText(&text, sampledProgram(t, n, make([]uint64, len(n)), left...)); err != nil {
			t.Fatal(err)
		}
		whole := strings.Replace(text.String(), "section 0", kinds, 1)
		for i, counts := range c.counts {
			whole += strings.Replace(counts, "%d", string(rune('2'+i)), 1)
		}
		p, err := profile.ParseText(whole)
		if err != nil {
			t.Fatal(err)
		}
		res, err := Run(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if causes := res.Sections[0].Causes; len(causes) > 0 {
			got = causes[0].Event
			if s := causes[0].Share; len(causes) > 1 || s == nil || *s < 0.8 || *s > 1 {
				t.Errorf("%s: %d causes, the first with the share %v", c.name, len(causes), s)
			}
		}
		if got != c.want {
			t.Errorf("%s: the first cause is %q, want %q", c.name, got, c.want)
		}
	}
}
