package sim

import (
	"math/rand/v2"
	"testing"
)

// TestPatience has threads followed as long and as often as they may be: in vain, that takes no more
// than its share of what they have run, one search too long, whatever was found meanwhile; and who
// runs on is followed again.
func TestPatience(t *testing.T) {
	const longest = 8192 // blocks of a search
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var p patience
		var ran, vain, finds uint64
		often := rnd.IntN(50)
		for range 5000 {
			ran += rnd.Uint64N(500_000)
			if p.over(ran) {
				continue
			}
			blocks, found := rnd.IntN(longest), rnd.IntN(50) < often
			p.searched(blocks, found)
			if found {
				finds++
			} else {
				vain += uint64(readBlocks + blocks)
			}
			if most := freeBlocks*(1+finds) + ran/blockEvery + readBlocks + longest; vain > most {
				t.Fatalf("after %d instructions and %d finds, %d blocks in vain, at most %d", ran, finds, vain, most)
			}
		}
		if p.over(ran + uint64(p+1)*blockEvery) {
			t.Fatalf("who ran on is let alone for ever: %d blocks", p)
		}
	}
}
