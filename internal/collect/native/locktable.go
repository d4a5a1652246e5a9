// The locks that threads waited for: which data they are, who waited where, and who gave them back
// meanwhile. How often they were taken nobody sees: a free lock costs nothing.

package native

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"lime/internal/collect/image"
	"lime/internal/collect/known"
	"lime/internal/collect/threads"
	"lime/internal/profile"
	"lime/internal/section"
)

// lockTable is what is known of each lock, by its address. A thread is its row.
type lockTable map[uint64]*threads.Lock[int32]

func (x lockTable) lock(addr uint64) *threads.Lock[int32] {
	l := x[addr]
	if l == nil {
		l = threads.NewLock[int32]("")
		x[addr] = l
	}
	return l
}

// waited notes a wait.
func (x lockTable) waited(addr uint64, kind string, row int32, call uint64, path int32, ns uint64) {
	l := x.lock(addr)
	l.Kind = cmp.Or(l.Kind, kind)
	l.Waited(side(row, call), ns, func() int32 { return path })
}

// charge makes who gave a lock back answer for the time that others waited until then.
func (x lockTable) charge(addr uint64, u *unlock, ns uint64) {
	x.lock(addr).Gave(side(u.row, u.call), 0).Made(ns, func() int32 { return u.path })
}

func side(row int32, call uint64) threads.Side {
	return threads.Side{Thread: section.ThreadID(row), Call: call}
}

// write writes the table, and tells the events of waiting in a call which lock it is, if it is
// always the same.
func (x lockTable) write(sink profile.Sink, code *code, images []*image.File, events map[uint64]profile.EventID) {
	locks := map[uint64]map[uint64]bool{} // by call
	for addr, l := range x {
		for call := range l.Calls() {
			if locks[call] == nil {
				locks[call] = map[uint64]bool{}
			}
			locks[call][addr] = true
		}
	}
	for call, id := range events {
		for addr := range locks[call] {
			if len(locks[call]) == 1 {
				sink.SetEventDetail(id, "on "+lockName(images, addr, x[addr]))
			}
		}
	}
	spot := func(call uint64, path int32) profile.WasteSide {
		return profile.WasteSide{Path: profile.PathID(path), Node: code.at(call).b.id, Addr: call}
	}
	thread := func(row section.ThreadID) profile.ThreadID { return profile.ThreadID(row) }
	rows := threads.LockRows[int32]{Sink: sink, Thread: thread, Waits: spot, Holds: spot}
	for _, g := range x.named(images) {
		rows.Write(profile.Lock{Name: g.name, Addr: g.addr, Objects: g.objects, Taken: profile.Unavailable}, g.lock)
	}
	clear(x)
}

// namedLock is the locks that go by one name.
type namedLock struct {
	name    string
	addr    uint64 // of the first one
	objects uint64
	lock    *threads.Lock[int32]
}

// named groups those that were waited for.
func (x lockTable) named(images []*image.File) (out []*namedLock) {
	byName := map[string]*namedLock{}
	for _, addr := range slices.Sorted(maps.Keys(x)) {
		l := x[addr]
		if !l.WaitedFor() {
			continue
		}
		name := lockName(images, addr, l)
		g := byName[name]
		if g == nil {
			g = &namedLock{name: name, addr: addr, lock: threads.NewLock[int32](l.Kind)}
			byName[name], out = g, append(out, g)
		}
		g.objects++
		g.lock.Join(l)
	}
	return out
}

// lockName names a lock: the variable that it is, or the place where it was waited for most. An address
// of the heap's, or of a stack's, tells nobody anything.
func lockName(images []*image.File, addr uint64, l *threads.Lock[int32]) string {
	if name := known.LockName(addr); name != "" {
		return name
	}
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
	return fmt.Sprintf("the one waited for at %#x", l.WaitedMostAt())
}
