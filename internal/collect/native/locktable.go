// The locks that threads waited for: which data they are, who waited where, and who gave them back
// meanwhile. How often they were taken nobody sees: a free lock costs nothing.

package native

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"lime/internal/collect/image"
	"lime/internal/profile"
	"lime/internal/unit"
)

// lockTable is what is known of each lock, by its address.
type lockTable map[uint64]*tableLock

type tableLock struct {
	kind  string // the function by which it was waited for first
	waits map[lockSide]*lockSum
	gives map[lockSide]*lockSum
}

// lockSide is a thread's row, and a call of the program's own.
type lockSide struct {
	row  int32
	call uint64
}

// lockSum is waits, or releases with what others waited for them.
type lockSum struct {
	n, time, longest uint64
	path             int32 // of the longest
}

func (x lockTable) lock(addr uint64) *tableLock {
	l := x[addr]
	if l == nil {
		l = &tableLock{waits: map[lockSide]*lockSum{}, gives: map[lockSide]*lockSum{}}
		x[addr] = l
	}
	return l
}

// waited notes a wait.
func (x lockTable) waited(addr uint64, kind string, row int32, call uint64, path int32, ns uint64) {
	l := x.lock(addr)
	l.kind = cmp.Or(l.kind, kind)
	sumOf(l.waits, lockSide{row, call}).add(ns, path)
}

// charge makes who gave a lock back answer for the time that others waited until then.
func (x lockTable) charge(addr uint64, u *unlock, ns uint64) {
	sumOf(x.lock(addr).gives, lockSide{u.row, u.call}).add(ns, u.path)
}

func sumOf(m map[lockSide]*lockSum, k lockSide) *lockSum {
	s := m[k]
	if s == nil {
		s = &lockSum{path: profile.None}
		m[k] = s
	}
	return s
}

func (s *lockSum) add(ns uint64, path int32) {
	s.n, s.time = s.n+1, s.time+ns
	if ns >= s.longest {
		s.longest, s.path = ns, path
	}
}

// write writes the table, and tells the events of waiting in a call which lock it is, if it is
// always the same.
func (x lockTable) write(sink profile.Sink, code *code, images []*image.File, events map[uint64]profile.EventID) {
	locks := map[uint64]map[uint64]bool{} // by call
	for addr, l := range x {
		for k := range l.waits {
			if locks[k.call] == nil {
				locks[k.call] = map[uint64]bool{}
			}
			locks[k.call][addr] = true
		}
	}
	for call, id := range events {
		for addr := range locks[call] {
			if len(locks[call]) == 1 {
				sink.SetEventDetail(id, "on "+lockName(images, addr))
			}
		}
	}
	for _, addr := range slices.Sorted(maps.Keys(x)) {
		l := x[addr]
		if len(l.waits) == 0 {
			continue
		}
		id := sink.AddLock(profile.Lock{Name: lockName(images, addr), Kind: l.kind, Addr: addr, Objects: 1, Taken: profile.Unavailable})
		for _, k := range sides(l.waits) {
			s := l.waits[k]
			sink.AddLockWait(profile.LockWait{Lock: id, Thread: profile.ThreadID(k.row), At: lockSpot(code, k.call, s.path),
				Count: s.n, Time: s.time, Longest: s.longest})
		}
		for _, k := range sides(l.gives) {
			s := l.gives[k]
			sink.AddLockHold(profile.LockHold{Lock: id, Thread: profile.ThreadID(k.row), At: lockSpot(code, k.call, s.path),
				Count: s.n, Waited: s.time})
		}
	}
	clear(x)
}

func sides(m map[lockSide]*lockSum) []lockSide {
	return slices.SortedFunc(maps.Keys(m), func(a, b lockSide) int {
		return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.call, b.call))
	})
}

func lockSpot(code *code, call uint64, path int32) profile.WasteSide {
	return profile.WasteSide{Path: profile.PathID(path), Node: code.at(call).b.id, Addr: call}
}

// lockName names a lock: the variable that it is, or its address.
func lockName(images []*image.File, addr uint64) string {
	for _, im := range images {
		if im.Bin == nil || addr < im.Lo || addr-im.Bias > 1<<40 {
			continue
		}
		if s, ok := im.Variable(addr - im.Bias); ok && s.Addr == addr-im.Bias {
			return s.Name
		} else if ok {
			return fmt.Sprintf("%s+%#x", s.Name, addr-im.Bias-s.Addr)
		}
	}
	return "the one at " + unit.Addr(addr).String()
}
