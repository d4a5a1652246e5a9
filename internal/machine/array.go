package machine

import (
	"math"
	"math/bits"
)

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

// entry is what stands in a way: the number of the line + 1, and its state in the low byte; 0 if it
// is empty.
type entry uint64

const stateBits = 8

func newEntry(line uint64, st state) entry { return entry((line+1)<<stateBits | uint64(st)) }

func (e entry) tag() uint64  { return uint64(e >> stateBits) }
func (e entry) line() uint64 { return e.tag() - 1 }
func (e entry) state() state { return state(e) }

// free reports whether a new line may come in place of what stands there.
func (e entry) free() bool { return e.state() == invalid || e.state() == lost }

// array holds the lines of one set-associative cache. A line stays in its way until it leaves it;
// with LRU a stamp tells when each way was used.
type array struct {
	hints
	entries []entry
	slots   []slot   // of each way
	now     uint32   // the last stamp, with inUse
	end     uint32   // with this one, touch has more to do
	plru    []uint64 // tree bits of each set, PLRU only
	ways    int
	mask    uint64
	sets    uint64
	setBits int // log2 of sets, or -1
	pow2    bool
	policy  Policy
	rng     uint64
	spare   int // with policies other than LRU, ways in which nothing stands that is in use
}

// slot is what is needed of a way together.
type slot struct {
	stamp uint32 // LRU only: when the way was used, and inUse if something stands there
	note  uint32 // of its owner: a private cache notes the way that the line has in the next level, the directory the line's tag
}

const inUse = 1 << 31

func newArray(sets, ways int, policy Policy) *array {
	a := newTagless(sets, ways, policy)
	a.entries = make([]entry, sets*ways)
	return a
}

// newTagless is an array without entries: what stands in its ways is known to its owner.
func newTagless(sets, ways int, policy Policy) *array {
	a := &array{
		hints: newHints(sets, ways), ways: ways, sets: uint64(sets), setBits: log2(sets), mask: uint64(sets - 1),
		pow2:  bits.OnesCount(uint(sets)) == 1,
		slots: make([]slot, sets*ways), policy: policy, rng: 0x9e3779b97f4a7c15, spare: sets * ways,
	}
	switch policy {
	case LRU:
		a.now, a.end = inUse, math.MaxUint32
	case PLRU:
		a.plru = make([]uint64, sets)
	}
	return a
}

func (a *array) state(i int) state { return a.entries[i].state() }

// setState changes the state of what stands in a way.
func (a *array) setState(i int, st state) {
	before := a.entries[i]
	e := before&^(1<<stateBits-1) | entry(st)
	a.entries[i] = e
	if e.free() == before.free() {
		return
	}
	a.spare++
	if a.policy == LRU {
		a.slots[i].stamp &^= inUse
	}
}

func (a *array) set(line uint64) int {
	if a.pow2 {
		return int(line & a.mask)
	}
	return int(line % a.sets)
}

// find returns the index of the way that holds line (in whatever state), or -1.
func (a *array) find(line uint64) int {
	set, hints := a.set(line), hintWord(line)
	base := set * a.ways
	for at := set * a.per; at < (set+1)*a.per; at++ {
		for m := likely(a.words[at], hints); m != 0; m &= m - 1 {
			if i := base + lane(m); a.entries[i].tag() == line+1 {
				return i
			}
		}
		base += 8
	}
	return -1
}

// log2 is the logarithm of a power of two, -1 for other numbers.
func log2(n int) int {
	if bits.OnesCount(uint(n)) != 1 {
		return -1
	}
	return bits.TrailingZeros(uint(n))
}

// touch notes a use of the way at index.
func (a *array) touch(index int) {
	if a.now == a.end {
		a.touchSlowly(index)
		return
	}
	a.now++
	a.slots[index].stamp = a.now
}

// touchSlowly is touch where it is not a matter of a stamp, or stamps have come to their end.
func (a *array) touchSlowly(index int) {
	switch a.policy {
	case LRU:
		a.renumber()
		a.touch(index)
	case PLRU:
		a.pointAway(index/a.ways, index%a.ways)
	}
}

// renumber makes the stamps small again: in each set, how many ways were used before.
func (a *array) renumber() {
	ranks := make([]uint32, a.ways)
	for base := 0; base < len(a.slots); base += a.ways {
		set := a.slots[base : base+a.ways]
		for i, x := range set {
			ranks[i] = x.stamp & inUse
			for _, y := range set {
				if x.stamp != 0 && y.stamp&^inUse <= x.stamp&^inUse {
					ranks[i]++
				}
			}
		}
		for i := range set {
			set[i].stamp = ranks[i]
		}
	}
	a.now = inUse + uint32(a.ways)
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

// victim returns the index of the way that a new line of the same set would replace: one in which
// nothing stands that is in use, else by the policy.
func (a *array) victim(line uint64) int {
	base := a.set(line) * a.ways
	if a.policy == LRU {
		return base + leastUsed(a.slots[base:base+a.ways])
	}
	for i := base + a.ways - 1; i >= base && a.spare > 0; i-- {
		if a.entries[i].free() {
			return i
		}
	}
	if a.policy == PLRU {
		return base + a.plruVictim(base/a.ways)
	}
	a.rng = a.rng*6364136223846793005 + 1442695040888963407
	return base + int((a.rng>>33)%uint64(a.ways))
}

// leastUsed is the place of the least stamp.
func leastUsed(set []slot) int {
	least := uint64(math.MaxUint64)
	for i := range set {
		least = min(least, uint64(set[i].stamp)<<32|uint64(i))
	}
	return int(uint32(least))
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
// returns what it replaced (0: nothing that was in use).
func (a *array) insert(index int, line uint64, st state) (old entry) {
	old = a.entries[index]
	a.entries[index] = newEntry(line, st)
	set := a.set(line)
	a.tell(set, index-set*a.ways, line)
	if old.free() {
		old = 0
		a.spare--
	}
	a.touch(index)
	return old
}
