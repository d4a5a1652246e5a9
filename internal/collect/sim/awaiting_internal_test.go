package sim

import (
	"slices"
	"testing"

	"lime/internal/engine"
)

// Code of which no function is known, of the program's own and of others, is not one function: which of
// the two a wait was for would be chance.
func TestCodeWithoutAFunctionIsTwoPeoples(t *testing.T) {
	blocks := []struct {
		code codeOf
		pc   uint64
		n    uint64
	}{{codeOf{0, true}, 100, 10}, {codeOf{0, false}, 200, 30}, {codeOf{300, true}, 310, 30}}
	for _, order := range [][]int{{0, 1, 2}, {1, 0, 2}, {2, 1, 0}} {
		aw := &awaiting{code: map[engine.BlockID]codeOf{}, sums: map[codeOf]funcSum{}}
		for _, i := range order {
			aw.code[engine.BlockID(i)] = blocks[i].code
			aw.addBlock(engine.BlockID(i), blocks[i].pc, blocks[i].n)
		}
		if got, want := aw.shares(), (deeds{{100, 0.25}, {310, 0.75}}); !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", order, got, want)
		}
	}
}
