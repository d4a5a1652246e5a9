package ranks

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"lime/internal/profile"
)

// tracedText is rankText with samples at times of the rank's own clock.
func tracedText(rank int, base uint64, at []uint64, meetings ...string) string {
	b := rankText(rank, 2, base, meetings...)
	b += fmt.Sprintf("path 0 node=1 addr=%#x\npath 1 parent=0 node=0 addr=%#x\ntrace thread=0", base+0x114, base+0x104)
	for _, a := range at {
		b += fmt.Sprintf(" at=%d:10:1", a)
	}
	return b + "\n"
}

// What ran when stands on the clock of all: rank 0 comes to its first meeting after 300, spends
// 1,000 in it by its own clock, and leaves it when rank 1 comes, at 900.
func TestTracesAreOnOneClock(t *testing.T) {
	dir := t.TempDir()
	a := put(t, FileOf(dir, 0), tracedText(0, 0x5000, []uint64{100, 299, 1310, 1890}, "300:world:0", "600:world:1", "30:exit"))
	b := put(t, FileOf(dir, 1), tracedText(1, 0x9000, []uint64{100, 899, 2910}, "900:world:0", "300:world:1", "30:exit"))
	want := map[string][]uint64{"rank 0": {100, 299, 910, 1490}, "rank 1": {100, 899, 910}}
	first := put(t, filepath.Join(dir, "one.lime"), text(t, merge(t, a)))
	for name, paths := range map[string][]string{"two files": {a, b}, "of merged ones": {first, b}} {
		p := merge(t, paths...)
		got := map[string][]uint64{}
		for _, tr := range p.Traces {
			name := p.Threads[tr.Thread].Name
			for _, s := range tr.Samples {
				got[name] = append(got[name], s.At)
				if path := p.Paths[s.Path]; path.Parent != 0 || path.Node != 0 || s.Length != 10 {
					t.Errorf("%s: %s has %v on %v", name, p.Threads[tr.Thread].Name, s, path)
				}
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// Beyond the budget every second sample goes, of all threads alike, and those that stay speak for
// it: sums stay.
func TestTracesKeepToTheirBudget(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	var paths []string
	length := 0
	for rank := range 2 {
		var at []uint64
		for k := range 64 + r.Uint64N(64) {
			at = append(at, 2*k)
		}
		length += 10 * len(at)
		paths = append(paths, put(t, FileOf(dir, rank), tracedText(rank, 0x5000, at, "300:world:0", "30:exit")))
	}
	p := profile.New(profile.Meta{})
	if err := mergeWithin(20*24, paths, false, p); err != nil {
		t.Fatal(err)
	}
	kept, sum := 0, 0
	for _, tr := range p.Traces {
		kept += len(tr.Samples)
		for _, s := range tr.Samples {
			sum += int(s.Length)
		}
		if tr.Every != p.Traces[0].Every || tr.Every < 8 {
			t.Errorf("one of %d is kept", tr.Every)
		}
	}
	if kept > 20 || kept < 8 || sum != length || len(p.Traces) != 2 {
		t.Errorf("%d samples in %d traces speak for %d, want %d", kept, len(p.Traces), sum, length)
	}
	if !strings.Contains(fmt.Sprint(p.Meta().Notes), NoteThinned) {
		t.Errorf("no note says so: %v", p.Meta().Notes)
	}
}
