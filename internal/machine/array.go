package machine

import "math/bits"

// state is the coherence state of a line in a private cache (MESI; the shared
// level keeps presence in its directory instead).
type state uint8

const (
	invalid state = iota
	shared
	exclusive
	modified
	// lost: another core took the line. The tag stays until the way is reused, so that the
	// next miss on it is known to be a coherence miss.
	lost
)

// Policy is a replacement policy.
type Policy uint8

// The replacement policies.
const (
	LRU Policy = iota
	PLRU
	Random
)

// entry is what stands in a way: the number of the line + 1, and its state in the low byte; 0 if it is empty.
type entry uint64

const stateBits = 8

func newEntry(line uint64, st state) entry { return entry((line+1)<<stateBits | uint64(st)) }

func (e entry) tag() uint64  { return uint64(e >> stateBits) }
func (e entry) line() uint64 { return e.tag() - 1 }
func (e entry) state() state { return state(e) }

// free reports whether a new line may come in place of what stands there.
func (e entry) free() bool { return e.state() == invalid || e.state() == lost }

// array holds the lines of one set-associative cache. With LRU the ways of a
// set are kept in order of use, most recent first, which makes the common hit (the first way)
// one compare and keeps replacement free of time stamps.
type array struct {
	entries []entry
	homes   []int32  // of each way, where the directory has its line; nil if that need not be known
	plru    []uint64 // tree bits of each set, PLRU only
	ways    int
	wayBit  int // log2 of ways, or -1
	mask    uint64
	sets    uint64
	setBits int // log2 of sets, or -1
	pow2    bool
	policy  Policy
	rng     uint64
	spare   int // ways in which nothing stands that is in use
}

func newArray(sets, ways int, policy Policy) *array {
	a := &array{
		entries: make([]entry, sets*ways),
		ways:    ways, wayBit: log2(ways), sets: uint64(sets), setBits: log2(sets), mask: uint64(sets - 1), pow2: bits.OnesCount(uint(sets)) == 1,
		policy: policy, rng: 0x9e3779b97f4a7c15, spare: sets * ways,
	}
	if policy == PLRU {
		a.plru = make([]uint64, sets)
	}
	return a
}

// withHomes lets the array know where the directory has its lines.
func (a *array) withHomes() *array {
	a.homes = make([]int32, len(a.entries))
	return a
}

func (a *array) state(i int) state { return a.entries[i].state() }

func (a *array) setState(i int, st state) {
	e := a.entries[i]
	a.entries[i] = e&^(1<<stateBits-1) | entry(st)
	a.spare += int(bit(a.entries[i].free())) - int(bit(e.free()))
}

func (a *array) set(line uint64) int {
	if a.pow2 {
		return int(line & a.mask)
	}
	return int(line % a.sets)
}

// find returns the index of the way that holds line (in whatever state), or -1.
func (a *array) find(line uint64) int {
	base := a.set(line) * a.ways
	tag := line + 1
	for i, e := range a.entries[base : base+a.ways] {
		if e.tag() == tag {
			return base + i
		}
	}
	return -1
}

// first is the index of the first way of the set that the way at index is in.
func (a *array) first(index int) int {
	if a.wayBit >= 0 {
		return index >> a.wayBit << a.wayBit
	}
	return index - index%a.ways
}

// log2 is the logarithm of a power of two, -1 for other numbers.
func log2(n int) int {
	if bits.OnesCount(uint(n)) != 1 {
		return -1
	}
	return bits.TrailingZeros(uint(n))
}

// touch notes a use of the way at index and returns where it stands afterwards.
func (a *array) touch(index int) int {
	base := a.first(index)
	switch a.policy {
	case LRU:
		if index == base {
			return index
		}
		toFront(a.entries[base : index+1])
		if a.homes != nil {
			toFront(a.homes[base : index+1])
		}
		return base
	case PLRU:
		a.pointAway(base/a.ways, index-base)
	}
	return index
}

// toFront puts the last element before all others. They are few: a call to copy takes longer.
func toFront[E any](s []E) {
	last := s[len(s)-1]
	for i := len(s) - 1; i > 0; i-- {
		s[i] = s[i-1]
	}
	s[0] = last
}

// pointAway sets the tree bits on the path to way so that they point to the other side.
func (a *array) pointAway(set, way int) {
	node, lo, hi := 1, 0, a.ways
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if way < mid {
			a.plru[set] |= 1 << node
			node, hi = 2*node, mid
		} else {
			a.plru[set] &^= 1 << node
			node, lo = 2*node+1, mid
		}
	}
}

// victim returns the index of the way that a new line of the same set would replace.
func (a *array) victim(line uint64) int {
	base := a.set(line) * a.ways
	set := a.entries[base : base+a.ways]
	for i := len(set) - 1; i >= 0 && a.spare > 0; i-- {
		if set[i].free() {
			return base + i
		}
	}
	switch a.policy {
	case PLRU:
		return base + a.plruVictim(base/a.ways)
	case Random:
		a.rng = a.rng*6364136223846793005 + 1442695040888963407
		return base + int((a.rng>>33)%uint64(a.ways))
	}
	return base + a.ways - 1
}

func (a *array) plruVictim(set int) int {
	node, lo, hi := 1, 0, a.ways
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if a.plru[set]>>node&1 != 0 { // the left side was used last
			node, lo = 2*node+1, mid
		} else {
			node, hi = 2*node, mid
		}
	}
	return lo
}

// insert puts line into the way at index, in state st, as the most recently used, and
// returns where it stands, and what it replaced (0: nothing that was in use).
func (a *array) insert(index int, line uint64, st state) (at int, old entry) {
	old = a.entries[index]
	a.entries[index] = newEntry(line, st)
	if old.free() {
		old = 0
		a.spare--
	}
	return a.touch(index), old
}
