package waste

import "math/bits"

// index finds pairs by their kind and contexts: a table of open addresses, for nearly every access
// of some programs asks it.
type index struct {
	slots []slot // as many as a power of two, at most half of them taken
	taken int
}

// slot is a pair's key and number plus one; 0: it is free.
type slot struct {
	key uint64
	at  int32
}

// keyOfPair puts a pair into a word: contexts are below 2^30 (who).
func keyOfPair(k Kind, first, second Context) uint64 {
	return uint64(k)<<60 | uint64(first)<<30 | uint64(second)
}

// find returns where a key is, or where it goes.
func (x *index) find(key uint64) *slot {
	if 2*x.taken >= len(x.slots) {
		x.grow()
	}
	const golden = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio: spreads neighbours (Knuth, 6.4)
	mask := uint64(len(x.slots) - 1)
	for i := key * golden >> (64 - bits.Len64(mask)); ; i++ {
		if s := &x.slots[i&mask]; s.at == 0 || s.key == key {
			return s
		}
	}
}

// put takes a slot that find has returned.
func (x *index) put(s *slot, key uint64, at int) {
	s.key, s.at = key, int32(at)+1
	x.taken++
}

func (x *index) grow() {
	old := x.slots
	x.slots, x.taken = make([]slot, max(1024, 2*len(old))), 0
	for _, s := range old {
		if s.at != 0 {
			*x.find(s.key) = s
			x.taken++
		}
	}
}
