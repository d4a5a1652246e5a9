// Which loads that may still be in flight a register's value hangs on.
package machine

import "math/bits"

// lineage holds, for each register, the loads on which its value hangs, by address or by data, as
// far as they are within the window: an older one has what it waited for, and nothing waits for it.
// It is exact. A load of the window is told by its place in a ring; a set of them is a row of bits.
type lineage struct {
	window uint64
	now    uint64          // the instruction that comes next, counted from the window's size on
	words  int             // of a set
	sets   []uint64        // one set for each register, and one more to work with
	asOf   [NumRegs]uint64 // up to which instruction the register's set has lost what left the window
	pcs    []uint64        // of the load that has a place
}

func newLineage(window int) lineage {
	words := (window + 63) / 64
	return lineage{
		window: uint64(window), now: uint64(window), words: words,
		sets: make([]uint64, (NumRegs+1)*words), pcs: make([]uint64, 64*words),
	}
}

// from says how many instructions the core has executed, those included that were not sent through
// the pipeline.
func (l *lineage) from(count uint64) { l.now = count + l.window }

// forget takes all loads out: another thread's registers.
func (l *lineage) forget() { clear(l.sets) }

// pass takes an instruction and reports whether it is a load whose address hangs on an execution of
// itself in flight.
func (l *lineage) pass(in *Instr, pc uint64) (chase bool) {
	set := l.sets[NumRegs*l.words:]
	clear(set)
	l.add(set, in.Addrs[:])
	if in.Load {
		chase = l.has(set, pc)
		at := l.now % uint64(len(l.pcs))
		l.pcs[at] = pc
		set[at/64] |= 1 << (at % 64)
	} else {
		clear(set) // where a store goes is not what it leaves in registers
	}
	l.add(set, in.Srcs[:])
	for _, r := range in.Dsts {
		if r != NoReg {
			copy(l.sets[int(r)*l.words:][:l.words], set)
			l.asOf[r] = l.now
		}
	}
	l.now++
	return chase
}

// add adds the loads of some registers to a set.
func (l *lineage) add(set []uint64, regs []uint8) {
	for _, r := range regs {
		if r == NoReg {
			continue
		}
		for i, w := range l.of(r) {
			set[i] |= w
		}
	}
}

// of returns a register's set without what has left the window.
func (l *lineage) of(reg uint8) []uint64 {
	set := l.sets[int(reg)*l.words:][:l.words]
	from, to := l.asOf[reg]+1, l.now+1 // instructions of [from-window, to-window) have left
	l.asOf[reg] = l.now
	if to-from >= l.window {
		clear(set)
		return set
	}
	size := uint64(len(l.pcs))
	for s := from - l.window; s != to-l.window; {
		at := s % size
		n := min(64-at%64, to-l.window-s)
		set[at/64] &^= (1<<n - 1) << (at % 64)
		s += n
	}
	return set
}

// has reports whether a set holds an execution of the load at pc.
func (l *lineage) has(set []uint64, pc uint64) bool {
	for i, w := range set {
		for ; w != 0; w &= w - 1 {
			if l.pcs[64*i+bits.TrailingZeros64(w)] == pc {
				return true
			}
		}
	}
	return false
}
