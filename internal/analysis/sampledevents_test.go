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
kind 5 name="silent-load" title="silent load" unit="times" label=sampled
event 2 kind=2 node=6 addr=0x2140 at=0:20:0:"even"
event 3 kind=3 node=6 addr=0x2140 at=0:20:0:"even"
event 4 kind=4 node=8 addr=0x31f0 at=0:31:0:"extra"
event 5 kind=5 node=6 addr=0x2140 at=0:20:0:"even"
section 0`
	const (
		level  = "events %d 500 510 505 495 500 508 501 499\n"
		misses = "events %d 400 4000 2000 1100 3000 600 1400 2600\n"
		always = "events %d 21 178 92 49 141 30 66 119\n" // of all samples
		extra  = "events %d 1 159 71 29 121 9 46 99\n"    // of those that some have more
	)
	for _, c := range []struct {
		name   string
		counts [4]string
		even   bool // the loop goes round as often in all threads
		want   string
	}{
		{"misses of both levels rise with the time", [4]string{misses, misses, level, level}, true, "l1d-miss"},
		{"misses of the last level do", [4]string{level, misses, level, level}, true, "llc-miss"},
		{"mispredicts do", [4]string{level, level, misses, always}, true, "branch-miss"},
		{"nothing does", [4]string{level, level, level, level}, true, ""},
		{"all that any thread loads is silent", [4]string{level, level, level, always}, true, ""},
		{"the time that some take more goes to silent loads", [4]string{level, level, level, extra}, true, "silent-load"},
		{"the loop goes round more often: its misses follow", [4]string{misses, misses, level, extra}, false, EventLoop},
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
