// Values, and where they are.

package busywait

import (
	"math/bits"

	"lime/internal/x86"
)

// set is a set of places: 16 general registers without their lowest bytes, these, 16 vector registers,
// slots of the frame, and what no place holds: the time, chance, what a call returns.
type set uint64

const (
	lows      = 16
	vectors   = lows + 16
	firstSlot = vectors + 16
	mostSlots = world - firstSlot // as many as a set has room for
	world     = 63
)

func only(place int) set { return 1 << place }

// places are those of some registers.
func places(general x86.RegSet, vector uint32) set {
	return set(general) | set(general)<<lows | set(uint16(vector))<<vectors
}

// each calls do for every place in the set.
func (s set) each(do func(place int)) {
	for ; s != 0; s &= s - 1 {
		do(bits.TrailingZeros64(uint64(s)))
	}
}

// knowledge is what is known of a value.
type knowledge uint8

const (
	unknown knowledge = iota
	zero
	nonzero
)

// knownAs is what is known of a constant, whether all of it is looked at or the lowest byte.
func knownAs(imm int64) knowledge {
	switch {
	case imm == 0:
		return zero
	case byte(imm) != 0:
		return nonzero
	}
	return unknown
}

// value is what is known of a value in a round, by what places hold at the loop's head.
type value struct {
	deps    set
	is      int8 // the place at whose head it stood, if it is the same, else noPlace
	loaded  bool // memory that others may change has a part in it
	counter bool // made of one place by adding constants, shifting, masking; or of none
	narrow  bool // nothing is above its 32nd bit
	word    int8 // it is what this word holds (words.go), 0: none
	known   knowledge
	framed  bool // it points into the frame, or is made of what does
}

const noPlace = -1

// constant is a value that depends on nothing.
func constant(k knowledge) value { return value{is: noPlace, counter: true, known: k} }

// outside is what no place tells.
func outside() value { return value{deps: only(world), is: noPlace} }

func (v value) constant() bool { return v.deps == 0 && !v.loaded }

// with is what depends on two values.
func (v value) with(o value) value {
	deps := v.deps | o.deps
	return value{deps: deps, is: noPlace, loaded: v.loaded || o.loaded, counter: deps == 0, framed: v.framed || o.framed}
}

// state is what is where.
type state struct {
	at    [world]value
	flags value
	free  uint64 // words that have been found to hold zero on all ways here
}

// get is what a register holds, its lowest byte or all of it.
func (s *state) get(r x86.Reg, byteOnly bool) value {
	up, low := s.at[r], s.at[lows+r]
	switch {
	case byteOnly || up == low:
		return low
	case up.is >= 0 && up.is < lows && low.is == up.is+lows:
		up.deps |= low.deps
		return up
	}
	v := up.with(low)
	v.counter, v.narrow = up.counter && low.counter, up.narrow
	if low.known == nonzero || low.known == up.known {
		v.known = low.known
	}
	return v
}

// set puts a value there.
func (s *state) set(r x86.Reg, byteOnly bool, v value) {
	if !byteOnly {
		s.at[r] = v
	}
	if v.is >= 0 && v.is < lows {
		v.is += lows
	}
	s.at[lows+r] = v
}

// know notes what is known of a register.
func (s *state) know(r x86.Reg, k knowledge) { s.at[r].known, s.at[lows+r].known = k, k }

// join takes in another way to the same block; by is what chooses between them. It reports whether
// the state has changed.
func (s *state) join(o *state, by value) (changed bool) {
	for i := range s.at {
		changed = s.at[i].join(o.at[i], by) || changed
	}
	free := s.free & o.free
	changed, s.free = changed || free != s.free, free
	return s.flags.join(o.flags, by) || changed
}

func (v *value) join(o, by value) bool {
	if *v == o {
		return false
	}
	n := value{deps: v.deps | o.deps | by.deps, is: noPlace, loaded: v.loaded || o.loaded, counter: v.counter && o.counter,
		narrow: v.narrow && o.narrow, framed: v.framed || o.framed}
	if v.word == o.word {
		n.word = v.word
	}
	if v.known == o.known {
		n.known = v.known
	}
	if n == *v {
		return false
	}
	*v = n
	return true
}

// slots are the places of the stack frame to which a loop stores.
type slots struct {
	list []slot
}

type slot struct {
	base x86.Reg
	from int32
	size uint16
}

func (s slot) meets(o slot) bool {
	return s.base != o.base || s.from < o.from+int32(o.size) && o.from < s.from+int32(s.size)
}

// find is the place of a slot. ok is false where it is a part of one, or may be.
func (s *slots) find(o slot) (place int, found, ok bool) {
	for i, have := range s.list {
		if have == o {
			return firstSlot + i, true, true
		}
	}
	for _, have := range s.list {
		if have.meets(o) {
			return 0, false, false
		}
	}
	return 0, false, true
}

// end is behind the last place that there is.
func (s *slots) end() int { return firstSlot + len(s.list) }
