package machine

import (
	"math/rand/v2"
	"testing"
)

// missesIn takes the same accesses through machines with the page frames of different seeds. It
// returns how many missed in the second and in the last level under the first of them, and what
// that run says of the others.
func missesIn(t *testing.T, seed int, lines []uint64, settings ...string) (l2, llc int, l2Else, llcElse [Placements]int) {
	t.Helper()
	d, err := Load(settings[0], settings[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	d.Memory.Seed = seed
	m, err := New(d, 1)
	if err != nil {
		t.Fatal(err)
	}
	h := &m.caches
	for _, line := range lines {
		var f found
		h.access(0, h.cores[0].l1d.find(line), line, false, 1, Site{}, &f)
		l2, llc = l2+int(bit(f.l2Miss)), llc+int(bit(f.llcMiss))
		for p := range Placements {
			l2Else[p] += int(f.l2Else >> p & 1)
			llcElse[p] += int(f.llcElse >> p & 1)
		}
	}
	return l2, llc, l2Else, llcElse
}

// What a run says of another placement is what a run in that placement has. The first level is left
// out of it by a working set that it cannot hold any of (every access misses there): else lines that
// a further level evicts leave the first one in the run's own placement only.
func TestElsewhereIsAnotherSeed(t *testing.T) {
	for _, settings := range [][]string{
		{"lime2011", "l1d.size=256", "l2.size=128KB"},
		{"desktop", "l1d.size=256", "l1d.ways=4", "l2.size=64KB", "l2.ways=4", "l3.size=256KB"},
		{"desktop", "l1d.size=256", "l1d.ways=4", "l2.size=64KB", "l2.ways=4", "l3.size=192KB", "l3.ways=8"},
	} {
		rng := rand.New(rand.NewPCG(5, 6))
		var lines []uint64
		for range 60 { // pages of a working set about as large as the last level, in an order of their own
			first := rng.Perm(48)
			for _, page := range first {
				for i := range uint64(8) {
					lines = append(lines, uint64(page)*1000<<6|i*8)
				}
			}
		}
		_, _, l2Else, llcElse := missesIn(t, 1, lines, settings...)
		differ := false
		own, _, _, _ := missesIn(t, 1, lines, settings...)
		for p := range Placements {
			l2, llc, _, _ := missesIn(t, 2+p, lines, settings...)
			if l2 != l2Else[p] || llc != llcElse[p] {
				t.Errorf("%v: placement %d: %d and %d misses, the run with its seed has %d and %d", settings, p, l2Else[p], llcElse[p], l2, llc)
			}
			differ = differ || l2 != own
		}
		if !differ {
			t.Errorf("%v: the same misses under all seeds: the test shows nothing", settings)
		}
	}
}

// Misses elsewhere have kinds of their own, behind those of the machine.
func TestElsewhereHasKinds(t *testing.T) {
	names := KindNames()
	if len(names) != int(allKinds) || names[NumKinds] != "l2-miss-elsewhere-1" || names[allKinds-1] != "llc-miss-elsewhere-3" {
		t.Fatalf("kinds %v", names)
	}
	for k := range allKinds {
		if k.InPlacement() != (k >= NumKinds) {
			t.Errorf("%s: in a placement %v", names[k], k.InPlacement())
		}
	}
}
