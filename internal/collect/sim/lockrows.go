// The rows of the profile about locks.

package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lime/internal/profile"
)

// lockName is what people tell a lock by. Locks for which nobody waited are told apart by less.
type lockName struct {
	kind, name string
	waited     bool
}

// name is the data that a lock is, or where it was taken first.
func (b *lockBook) name(s *lockState) string {
	v := vote{place: s.at, n: 1, lo: s.offset, hi: s.offset}
	if s.at.kind == placeSymbol && len(s.waits) == 0 {
		v.lo, v.hi = 0, 0 // one of the elements of an array
	}
	words := strings.TrimSuffix(v.words(), "+0x0")
	switch first := fmt.Sprintf("the one taken first at %#x", b.blocks.callBefore(s.first)); {
	case words == "":
		return first
	case s.at.kind == placeSymbol || s.at.kind == placeHeap:
		return words
	default:
		return first + ", on " + words
	}
}

// lockGroup is locks that have one name.
type lockGroup struct {
	objects uint64
	addr    uint64 // of the last one
	first   uint64
	unseen  bool
	waits   map[lockSide]*lockSum
	holds   map[lockSide]*lockHolds
}

// join adds what is known of another one of the group.
func (g *lockGroup) join(s *lockState) {
	g.objects++
	g.addr = s.addr
	if g.first == 0 {
		g.first = s.first
	}
	g.unseen = g.unseen || s.unseen || len(s.holds) == 0
	for k, x := range s.waits {
		sum, _ := sumAt(g.waits, k)
		sum.join(x)
	}
	for k, x := range s.holds {
		sum, _ := sumAt(g.holds, k)
		if sum.lockSum.join(&x.lockSum); x.most >= sum.most {
			sum.most, sum.stack = x.most, x.stack
		}
		sum.waited += x.waited
	}
}

func sumAt[K comparable, V any](m map[K]*V, k K) (v *V, ok bool) {
	if v, ok = m[k]; !ok {
		v = new(V)
		m[k] = v
	}
	return v, ok
}

func (a *lockSum) join(b *lockSum) {
	a.n, a.time = a.n+b.n, a.time+b.time
	if a.stack == nil || b.longest > a.longest {
		a.stack = b.stack
	}
	a.longest = max(a.longest, b.longest)
}

// lockWriter writes what is known of the locks.
type lockWriter struct {
	out  *output
	book *lockBook
}

func (w lockWriter) write() {
	groups := map[lockName]*lockGroup{}
	for _, addr := range slices.Sorted(maps.Keys(w.book.locks)) {
		s := w.book.locks[addr]
		if len(s.waits) == 0 && len(s.holds) == 0 {
			continue
		}
		k := lockName{s.kind, w.book.name(s), len(s.waits) > 0}
		if groups[k] == nil {
			groups[k] = &lockGroup{waits: map[lockSide]*lockSum{}, holds: map[lockSide]*lockHolds{}}
		}
		groups[k].join(s)
	}
	names := slices.SortedFunc(maps.Keys(groups), func(a, b lockName) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.kind, b.kind), cmp.Compare(a.waits(), b.waits()))
	})
	for _, k := range names {
		w.writeLock(k, groups[k])
	}
}

// waits sorts those for which nobody waited first.
func (n *lockName) waits() int {
	if n.waited {
		return 1
	}
	return 0
}

func (w lockWriter) writeLock(k lockName, g *lockGroup) {
	taken := profile.Measured
	if g.unseen {
		taken = profile.Unavailable
	}
	row := profile.Lock{Name: k.name, Kind: k.kind, First: w.book.blocks.callBefore(g.first), Objects: g.objects,
		Taken: taken}
	if g.objects == 1 {
		row.Addr = g.addr
	}
	id := w.out.sink.AddLock(row)
	for _, side := range sides(g.waits) {
		x := g.waits[side]
		w.out.sink.AddLockWait(profile.LockWait{Lock: id, Thread: w.lockThread(side.thread),
			At: w.lockSpot(side.call, x.stack), Count: x.n, Time: x.time, Longest: x.longest})
	}
	for _, side := range sides(g.holds) {
		x := g.holds[side]
		w.out.sink.AddLockHold(profile.LockHold{Lock: id, Thread: w.lockThread(side.thread),
			At: w.lockSpot(w.ownCaller(side.call, x.stack), x.stack), Count: x.n, Time: x.time, Longest: x.longest,
			Waited: x.waited})
	}
}

// lockThread is the row of a thread; goroutines share rows, which are not theirs.
func (w lockWriter) lockThread(t *thread) profile.ThreadID {
	if t.goroutine != nil {
		return profile.None
	}
	return w.out.rowOf(t)
}

// sides lists the threads and calls of a lock, in order.
func sides[V any](m map[lockSide]V) []lockSide {
	return slices.SortedFunc(maps.Keys(m), func(a, b lockSide) int {
		return cmp.Or(cmp.Compare(a.thread.id, b.thread.id), cmp.Compare(a.call, b.call))
	})
}

// lockSpot is a call on its path.
func (w lockWriter) lockSpot(call uint64, stack []frameRef) profile.WasteSide {
	return profile.WasteSide{Path: w.out.pathTree.path(stack), Node: w.out.tables.nodeOf(call), Addr: call}
}

// ownCaller is the program's own call that led to the one that returns to ret, or else that one.
func (w lockWriter) ownCaller(ret uint64, stack []frameRef) uint64 {
	return cmp.Or(w.book.places.ownCallIn(stack), w.book.blocks.callBefore(ret))
}
