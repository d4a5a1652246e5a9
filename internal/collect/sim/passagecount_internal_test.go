package sim

import (
	"math/rand/v2"
	"testing"

	"lime/internal/engine"
	"lime/internal/section"
)

// growing is a function as more and more of it has been executed: its blocks are made first, its edges
// as threads go along them.
type growing struct {
	blocks []engine.Block
	edges  []engine.Edge
}

func (g *growing) Blocks() []engine.Block                   { return g.blocks }
func (g *growing) Edges() []engine.Edge                     { return g.edges }
func (g *growing) Parted(engine.EdgeID) bool                { return false }
func (g *growing) Parts(engine.EdgeID, func(engine.EdgeID)) {}
func (g *growing) along(from, to int) {
	g.edges = append(g.edges, engine.Edge{From: engine.BlockID(from), To: engine.BlockID(to)})
}
func (g *growing) count(fn uint64) *passageCount {
	return &passageCount{eng: g, start: func(uint64) uint64 { return fn }, learnt: map[string]bool{}}
}

// Whether a thread that begins has come past a place is told by the ways that are known by then, not by
// those that were when another one began.
func TestNewWaysLeadRoundAPlace(t *testing.T) {
	const fn, size, blocks = 1 << 12, 16, 7
	r := rand.New(rand.NewPCG(5, 6))
	changed := 0
	for range 200 {
		g := &growing{}
		for i := range blocks {
			g.blocks = append(g.blocks, engine.Block{PC: fn + uint64(i)*size, Size: size, Front: engine.NoBlock, Tail: engine.NoBlock})
			if i > 0 {
				g.along(i-1, i)
			}
		}
		place := g.blocks[1+r.IntN(blocks-2)].PC
		x, was := g.count(fn), map[uint64]bool{}
		at := &passagePlace{fn: fn, pc: place}
		for range 8 {
			for i := range blocks {
				pc := g.blocks[i].PC + 3
				part := &section.Part{Spans: []any{&segment{start: segmentStart{pc: pc}}}}
				want := g.count(fn).begunBehind(part, &passagePlace{fn: fn, pc: place})
				if got := x.begunBehind(part, at); got != want {
					t.Fatalf("edges %v: behind %#x at %#x: %v, want %v", g.edges, place, pc, got, want)
				}
				if before, asked := was[pc]; asked && before != want {
					changed++
				}
				was[pc] = want
			}
			g.along(r.IntN(blocks), r.IntN(blocks))
		}
	}
	if changed == 0 {
		t.Error("no answer has changed: nothing was tested")
	}
}
