// Loops that try to take a lock: an atomic instruction puts a value that is the same each time round
// into a word, and the loop goes round until it finds there what it looks for.

package native

import "lime/internal/x86"

// tries reports whether an instruction changes a word in memory once: xchg, lock cmpxchg, lock bts
// with a constant (Intel SDM vol. 2). Where it fails it leaves the word as it is, if what it puts
// there is always the same.
func tries(in *x86.Inst) bool {
	if !in.Lock || !in.HasMem || in.Enc != x86.Legacy {
		return false
	}
	switch {
	case in.Map == 0:
		return in.Opcode == 0x86 || in.Opcode == 0x87
	case in.Map == 1:
		return in.Opcode == 0xb0 || in.Opcode == 0xb1 || in.Opcode == 0xba && in.ModRM>>3&7 == 5
	}
	return false
}

// take takes in such an instruction; false if it does not do the same each time round.
func (s *spinState) take(in *x86.Inst) bool {
	if !s.same(in.Reads) {
		return false
	}
	s.takes, s.reads = true, true
	s.written |= in.Writes
	s.fixed &^= in.Writes
	return true
}

// same reports whether registers hold the same each time round, should nothing in the loop write
// those that it has not written so far.
func (s *spinState) same(reads x86.RegSet) bool {
	unknown := reads &^ s.fixed
	if unknown&s.written != 0 {
		return false
	}
	s.assumed |= unknown
	return true
}

// settle notes which registers an instruction makes the same each time round: what it puts there
// depends on nothing else.
func (s *spinState) settle(in *x86.Inst, reads x86.RegSet) {
	if in.Writes == 0 {
		return
	}
	plain := in.Map == 0 && in.Enc == x86.Legacy && (in.Opcode&^7 == 0xb8 || in.Opcode&^7 == 0xb0 ||
		!in.HasMem && (in.Opcode == 0x89 || in.Opcode == 0x8b || in.Opcode == 0xc7))
	if clears(in) || plain && reads&^s.fixed&s.written == 0 {
		s.assumed |= reads &^ s.fixed
		s.fixed |= in.Writes
		return
	}
	s.fixed &^= in.Writes
}

// clears reports whether an instruction sets a register to nil: xor r, r.
func clears(in *x86.Inst) bool {
	return in.Map == 0 && in.Enc == x86.Legacy && (in.Opcode == 0x31 || in.Opcode == 0x33) && !in.HasMem &&
		in.ModRM>>3&7 == in.ModRM&7 && in.Rex>>2&1 == in.Rex&1
}
