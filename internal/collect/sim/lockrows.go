// The rows of the profile about locks.

package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lime/internal/collect/threads"
	"lime/internal/profile"
	"lime/internal/section"
)

// lockName is what people tell a lock by. Locks for which nobody waited are told apart by less.
type lockName struct {
	kind, name string
	waited     bool
}

// name is the data that a lock is, or where it was taken first.
func (b *lockBook) name(s *lockState) string {
	v := vote{place: s.at, n: 1, lo: s.offset, hi: s.offset}
	if s.at.kind == placeSymbol && !s.WaitedFor() {
		v.lo, v.hi = 0, 0 // one of the elements of an array
	}
	words := strings.TrimSuffix(v.words(), "+0x0")
	switch first := fmt.Sprintf("the one taken first at %#x", s.first); {
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
	*lockTable
	objects uint64
	addr    uint64 // of the last one
	first   uint64
	unseen  bool
}

// join adds what is known of another one of the group.
func (g *lockGroup) join(s *lockState) {
	g.objects++
	g.addr = s.addr
	if g.first == 0 {
		g.first = s.first
	}
	g.unseen = g.unseen || s.unseen || !s.Held()
	g.Join(s.lockTable)
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
		if !s.WaitedFor() && !s.Held() {
			continue
		}
		k := lockName{s.Kind, w.book.name(s), s.WaitedFor()}
		if groups[k] == nil {
			groups[k] = &lockGroup{lockTable: threads.NewLock[[]frameRef](s.Kind)}
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
	row := profile.Lock{Name: k.name, First: g.first, Objects: g.objects,
		Taken: taken}
	if g.objects == 1 {
		row.Addr = g.addr
	}
	rows := threads.LockRows[[]frameRef]{Sink: w.out.sink, Thread: w.lockThread, Waits: w.lockSpot, Holds: w.takenAt}
	rows.Write(row, g.lockTable)
}

// lockThread is the row of a thread; goroutines share rows, which are not theirs.
func (w lockWriter) lockThread(id section.ThreadID) profile.ThreadID {
	if id >= goroutineBase {
		return profile.None
	}
	return w.out.rowOf(w.out.roster.threads[id])
}

// lockSpot is a call on its path.
func (w lockWriter) lockSpot(call uint64, stack []frameRef) profile.WasteSide {
	return profile.WasteSide{Path: w.out.pathTree.path(stack, base{top: wholeStack}), Node: w.out.tables.nodeOf(call), Addr: call}
}

// takenAt is the place of the call that returns to ret, by which a lock was taken.
func (w lockWriter) takenAt(ret uint64, stack []frameRef) profile.WasteSide {
	return w.lockSpot(w.ownCaller(ret, stack), stack)
}

// ownCaller is the program's own call that led to the one that returns to ret, or else that one.
func (w lockWriter) ownCaller(ret uint64, stack []frameRef) uint64 {
	return cmp.Or(w.book.places.ownCallIn(stack), w.book.blocks.callBefore(ret))
}
