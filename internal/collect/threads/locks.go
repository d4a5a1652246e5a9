// Locks: who waited for them where, who had them meanwhile, and their rows in the profile.

package threads

import (
	"cmp"
	"maps"
	"slices"

	"lime/internal/profile"
	"lime/internal/section"
	"lime/internal/unit"
)

// LockWait is a thread's wait for a lock, which it has got now.
type LockWait struct {
	Thread   section.ThreadID
	Lock     uint64
	From, To uint64 // clock units
}

// Tell tells the recogniser.
func (w LockWait) Tell(feed func(section.Op)) {
	feed(w.op(section.OpLockBegin, w.From))
	feed(w.op(section.OpLockEnd, w.To))
}

func (w LockWait) op(kind section.OpKind, at uint64) section.Op {
	return section.Op{
		Kind: kind, Thread: w.Thread, Other: section.NoThread, At: unit.Cycles(at), Object: w.Lock,
	}
}

// Side is a thread in a call: one that waits for a lock or gives it back there, or the one by which
// it took the lock.
type Side struct {
	Thread section.ThreadID
	Call   uint64
}

// Waits are waits for a lock on one side. P is a path of calls.
type Waits[P any] struct {
	N, Time, Longest uint64
	Path             P // of the longest
}

// add adds a wait, or a time that the lock was held.
func (w *Waits[P]) add(time uint64) {
	w.N, w.Time, w.Longest = w.N+1, w.Time+time, max(w.Longest, time)
}

// join adds others on the same side.
func (w *Waits[P]) join(o *Waits[P]) {
	if w.N == 0 || o.Longest > w.Longest {
		w.Path = o.Path
	}
	w.N, w.Time, w.Longest = w.N+o.N, w.Time+o.Time, max(w.Longest, o.Longest)
}

// Holds are times that a lock was held, and for how long others waited meanwhile.
type Holds[P any] struct {
	Waits[P] // their path is that of the one for which most was waited
	Waited   uint64
	most     uint64 // that one of them made others wait
}

// Made notes for how long others waited for the last of them, at its end.
func (h *Holds[P]) Made(waited uint64, path func() P) {
	h.Waited += waited
	if h.N == 1 || waited > h.most {
		h.most, h.Path = max(h.most, waited), path()
	}
}

// Lock is what is known of a lock, or of several that go by one name.
type Lock[P any] struct {
	Kind  string // the function by which it was taken first, or waited for
	waits map[Side]*Waits[P]
	holds map[Side]*Holds[P]
}

// NewLock is a lock that nobody has waited for.
func NewLock[P any](kind string) *Lock[P] {
	return &Lock[P]{Kind: kind, waits: map[Side]*Waits[P]{}, holds: map[Side]*Holds[P]{}}
}

// WaitedFor and Held report whether anything is known of that.
func (l *Lock[P]) WaitedFor() bool { return len(l.waits) > 0 }
func (l *Lock[P]) Held() bool      { return len(l.holds) > 0 }

// Calls are those in which threads waited.
func (l *Lock[P]) Calls() map[uint64]bool {
	calls := map[uint64]bool{}
	for k := range l.waits {
		calls[k.Call] = true
	}
	return calls
}

// WaitedMostAt is the call in which threads waited longest, all together.
func (l *Lock[P]) WaitedMostAt() uint64 {
	times := map[uint64]uint64{}
	for k, x := range l.waits {
		times[k.Call] += x.Time
	}
	return slices.MaxFunc(slices.Sorted(maps.Keys(times)), func(a, b uint64) int { return cmp.Compare(times[a], times[b]) })
}

// Waited adds a wait.
func (l *Lock[P]) Waited(by Side, time uint64, path func() P) {
	w := at(l.waits, by)
	if w.N == 0 || time > w.Longest {
		w.Path = path()
	}
	w.add(time)
}

// Gave adds a time for which the lock was held. For how long others waited meanwhile is to be said
// of what is returned.
func (l *Lock[P]) Gave(by Side, held uint64) *Holds[P] {
	h := at(l.holds, by)
	h.add(held)
	return h
}

// Join adds what is known of another lock that goes by the same name.
func (l *Lock[P]) Join(o *Lock[P]) {
	for k, x := range o.waits {
		at(l.waits, k).join(x)
	}
	for k, x := range o.holds {
		h := at(l.holds, k)
		if h.join(&x.Waits); x.most >= h.most {
			h.most, h.Path = x.most, x.Path
		}
		h.Waited += x.Waited
	}
}

func at[V any](m map[Side]*V, k Side) *V {
	v := m[k]
	if v == nil {
		v = new(V)
		m[k] = v
	}
	return v
}

// LockSink takes rows about locks.
type LockSink interface {
	AddLock(profile.Lock) profile.LockID
	AddLockWait(profile.LockWait)
	AddLockHold(profile.LockHold)
}

// LockRows writes locks. What a collector calls a thread and a place are rows here.
type LockRows[P any] struct {
	Sink   LockSink
	Thread func(section.ThreadID) profile.ThreadID
	Waits  func(call uint64, path P) profile.WasteSide
	Holds  func(call uint64, path P) profile.WasteSide
}

// Write writes a lock, with all that is known of it.
func (r *LockRows[P]) Write(row profile.Lock, l *Lock[P]) {
	row.Kind = l.Kind
	id := r.Sink.AddLock(row)
	for _, k := range sides(l.waits) {
		x := l.waits[k]
		r.Sink.AddLockWait(profile.LockWait{
			Lock: id, Thread: r.Thread(k.Thread), At: r.Waits(k.Call, x.Path),
			Count: x.N, Time: x.Time, Longest: x.Longest,
		})
	}
	for _, k := range sides(l.holds) {
		x := l.holds[k]
		r.Sink.AddLockHold(profile.LockHold{
			Lock: id, Thread: r.Thread(k.Thread), At: r.Holds(k.Call, x.Path),
			Count: x.N, Time: x.Time, Longest: x.Longest, Waited: x.Waited,
		})
	}
}

// sides lists those of a lock, in order.
func sides[V any](m map[Side]V) []Side {
	return slices.SortedFunc(maps.Keys(m), func(a, b Side) int {
		return cmp.Or(cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.Call, b.Call))
	})
}
