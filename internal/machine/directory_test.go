package machine

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The order of use outlives the stamps' coming to their end, and short tags tell the lines apart
// that long ones do.
func TestDirectoryIsLRU(t *testing.T) {
	for _, shape := range [][2]int{{4, 4}, {tagSets, 8}} {
		d := newDirectory(shape[0], shape[1], LRU, 2)
		slow := slowLRU{shape[0], shape[1], map[int][]uint64{}}
		rng := rand.New(rand.NewPCG(3, 4))
		for n := range 40000 {
			if n%1000 == 999 {
				d.now = math.MaxUint32 - 50
			}
			set, high := uint64(rng.IntN(4)), uint64(rng.IntN(2*shape[1]))
			line := set + high*uint64(shape[0])
			if n%2 == 0 {
				line += 1 << 40
			}
			way := d.find(line)
			if want := slow.access(line); want != (way >= 0) {
				t.Fatalf("%v: access %d to line %#x: hit %v, want %v", shape, n, line, way >= 0, want)
			}
			if way >= 0 {
				d.touch(way)
				continue
			}
			way = d.victim(line)
			d.put(way, line)
			if got, ok := d.at(way); !ok || got != line {
				t.Fatalf("%v: line %#x stands as %#x, %v", shape, line, got, ok)
			}
		}
	}
}
