package machine

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Lines of a page stay together, no two pages share a frame, and the way back leads to the page.
func TestFramesAreOneToOne(t *testing.T) {
	f := newFrames(6, 3)
	rng := rand.New(rand.NewPCG(1, 2))
	lines, back := map[uint64]uint64{}, map[uint64]uint64{}
	for range 200_000 {
		line := rng.Uint64N(1<<12) + rng.Uint64N(1<<14)<<20 // of some 4 million pages
		mem := f.line(line)
		if was, ok := lines[line]; ok && was != mem {
			t.Fatalf("line %#x lay at %#x, now at %#x", line, was, mem)
		}
		if other, ok := back[mem]; ok && other != line {
			t.Fatalf("lines %#x and %#x both lie at %#x", line, other, mem)
		}
		lines[line], back[mem] = mem, line
		if mem>>6 != f.line(line>>6<<6)>>6 || mem%64 != line%64 {
			t.Fatalf("line %#x at %#x, its page at %#x", line, mem, f.line(line>>6<<6))
		}
		if v := f.virtual(mem); v != line {
			t.Fatalf("line %#x at %#x, back at %#x", line, mem, v)
		}
		if mem >= 1<<41 { // what the directory's tags take
			t.Fatalf("line %#x at %#x", line, mem)
		}
	}
}

// Pages fall into the sets of a cache as if by dice, whatever the distance between them; another
// seed throws others, and the order in which they are touched has no say.
func TestColoursAreDice(t *testing.T) {
	const colours, pages = 256, 20_000
	for _, stride := range []uint64{1, 2, 512, 2049, 2560, 1 << 18} { // of thread stacks, arenas and the like
		for seed := range uint64(5) {
			f, backwards := newFrames(6, seed), newFrames(6, seed)
			var n [colours]float64
			var same, alike float64
			last := uint64(colours)
			for i := range uint64(pages) {
				c := f.line(i*stride<<6) >> 6 % colours
				n[c]++
				if c == last {
					same++
				}
				last = c
				if c == newFrames(6, seed+1).line(i*stride<<6)>>6%colours {
					alike++
				}
			}
			for i := range uint64(pages) {
				if page := pages - 1 - i; backwards.line(page*stride<<6)>>6%colours != f.line(page*stride<<6)>>6%colours {
					t.Fatalf("stride %d, seed %d: page %d has another colour if touched in another order", stride, seed, page)
				}
			}
			chi := 0.0
			for _, x := range n {
				chi += (x - pages/colours) * (x - pages/colours) / (pages / colours)
			}
			// Within five standard deviations of what dice do: chi square with 255 degrees of
			// freedom, and one page in 256 alike.
			if math.Abs(chi-255) > 5*math.Sqrt(2*255) {
				t.Errorf("stride %d, seed %d: chi square %.0f, want about 255", stride, seed, chi)
			}
			for what, x := range map[string]float64{"neighbours": same, "another seed": alike} {
				if want := pages / float64(colours); math.Abs(x-want) > 5*math.Sqrt(want) {
					t.Errorf("stride %d, seed %d, %s: %.0f pages of the same colour, want about %.0f", stride, seed, what, x, want)
				}
			}
		}
	}
}

// The first level is indexed by virtual address: a page that another page evicts there does so
// under all seeds.
func TestFirstLevelIsVirtual(t *testing.T) {
	for seed := range 20 {
		d, err := Load("desktop", "prefetch.streams=0", "dtlb.entries=0")
		if err != nil {
			t.Fatal(err)
		}
		d.Memory.Seed = seed
		m, err := New(d, 1)
		if err != nil {
			t.Fatal(err)
		}
		h, misses := &m.caches, 0
		for i := range 900 { // nine pages, one line each, in a set of eight ways
			var f found
			line := uint64(i%9) << 6
			h.access(0, h.cores[0].l1d.find(line), line, false, 1, Site{}, &f)
			misses += int(bit(f.l1Miss))
			if f.llcMiss && i >= 9 {
				t.Fatalf("seed %d: access %d missed in the last level", seed, i)
			}
		}
		if misses != 900 {
			t.Errorf("seed %d: %d misses, want 900", seed, misses)
		}
	}
}
