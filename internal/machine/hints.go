package machine

import "math/bits"

// hints has a byte for each way of a set-associative cache, that tells most lines which do not
// stand there from the one that does: eight ways are looked through in one step, and what stands in
// a way need only be read where it is likely the line.
type hints struct {
	words []uint64 // of each set, per words; a byte is 0 if nothing stands in the way
	per   int
}

const (
	eachByte uint64 = 0x0101010101010101
	highBits        = 0x80 * eachByte
)

func newHints(sets, ways int) hints {
	per := (ways + 7) / 8
	return hints{words: make([]uint64, sets*per), per: per}
}

// hint is the byte of a line. Lines of a set differ in their high bits, or in all.
func hint(line uint64) uint64 { return max(line*0x9e3779b97f4a7c15>>56, 1) }

// tell notes that a line stands in a way of a set.
func (h *hints) tell(set, way int, line uint64) {
	w, shift := &h.words[set*h.per+way>>3], way&7*8
	*w = *w&^(0xff<<shift) | hint(line)<<shift
}

// hintWord has the hint of a line in each byte.
func hintWord(line uint64) uint64 { return hint(line) * eachByte }

// likely has the high bit of each byte set that is the same in two words.
func likely(word, hints uint64) uint64 {
	x := word ^ hints
	return ^(x&^highBits + ^highBits | x) & highBits
}

// lane is the way within its word of the lowest bit that likely has set.
func lane(bit uint64) int { return bits.TrailingZeros64(bit) >> 3 }
