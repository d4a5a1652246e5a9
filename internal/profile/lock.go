package profile

import "errors"

// LockID is the row of a lock.
type LockID int32

// Lock is a lock that threads took, or several that people cannot tell apart: the elements of what
// was allocated at one line.
type Lock struct {
	Name    string // the data; or where it was first taken
	Kind    string // the function that takes it, "loop" if it is a loop of the program's own
	Addr    uint64 // 0 if they are several
	First   uint64 // the call that took it first
	Objects uint64 // how many they are
	Taken   Label  // Unavailable: only some of the times that it was held are known
}

// LockWait is how long a thread waited for a lock in a call.
type LockWait struct {
	Lock    LockID
	Thread  ThreadID
	At      WasteSide // the call; its path is that of the longest wait
	Count   uint64
	Time    uint64
	Longest uint64
}

// LockHold is how long a thread held a lock that it had taken in a call; or, if nothing but the
// release is known, had given back there.
type LockHold struct {
	Lock    LockID
	Thread  ThreadID
	At      WasteSide // the call; its path is that by which others had to wait longest
	Count   uint64
	Time    uint64 // 0 if it is not known
	Longest uint64
	Waited  uint64 // for how long others waited for it meanwhile, all of them together
}

// lockTables came later than the rest: see later.
var lockTables = []tableSpec{
	{"lock", `CREATE TABLE lock(id INTEGER PRIMARY KEY, name TEXT, kind TEXT, addr INTEGER, first INTEGER, objects INTEGER, taken INTEGER)`},
	{"lock_wait", `CREATE TABLE lock_wait(id INTEGER PRIMARY KEY, lock INTEGER, thread INTEGER, path INTEGER, node INTEGER, addr INTEGER, place INTEGER, n INTEGER, time INTEGER, longest INTEGER)`},
	{"lock_hold", `CREATE TABLE lock_hold(id INTEGER PRIMARY KEY, lock INTEGER, thread INTEGER, path INTEGER, node INTEGER, addr INTEGER, place INTEGER, n INTEGER, time INTEGER, longest INTEGER, waited INTEGER)`},
}

var lockRows = rowSpec[Lock]{"lock", func(r *Lock, e *env) []column {
	return []column{text[string]{&r.Name, e}, text[string]{&r.Kind, e}, num[uint64]{&r.Addr}, num[uint64]{&r.First},
		num[uint64]{&r.Objects}, num[Label]{&r.Taken}}
}}

func spotColumns(s *WasteSide, e *env) []column {
	return []column{num[PathID]{&s.Path}, num[NodeID]{&s.Node}, num[uint64]{&s.Addr}, place{&s.Frames, e}}
}

func spotFields(s *WasteSide) []textField {
	return []textField{id("path", &s.Path), id("node", &s.Node), hex("addr", &s.Addr), frames("at", &s.Frames)}
}

var lockWaitRows = rowSpec[LockWait]{"lock_wait", func(r *LockWait, e *env) []column {
	cols := append([]column{num[LockID]{&r.Lock}, num[ThreadID]{&r.Thread}}, spotColumns(&r.At, e)...)
	return append(cols, num[uint64]{&r.Count}, num[uint64]{&r.Time}, num[uint64]{&r.Longest})
}}

var lockHoldRows = rowSpec[LockHold]{"lock_hold", func(r *LockHold, e *env) []column {
	cols := append([]column{num[LockID]{&r.Lock}, num[ThreadID]{&r.Thread}}, spotColumns(&r.At, e)...)
	return append(cols, num[uint64]{&r.Count}, num[uint64]{&r.Time}, num[uint64]{&r.Longest}, num[uint64]{&r.Waited})
}}

var lockText = textRow[Lock]{"lock", Lock{}, func(r *Lock) []textField {
	return []textField{str("name", &r.Name), str("kind", &r.Kind), hex("addr", &r.Addr), hex("first", &r.First),
		dec("objects", &r.Objects, 0), enum("taken", labelNames, &r.Taken)}
}}

var lockWaitText = textRow[LockWait]{"lock-wait", LockWait{Lock: None, Thread: None, At: noSide}, func(r *LockWait) []textField {
	f := append([]textField{id("lock", &r.Lock), id("thread", &r.Thread)}, spotFields(&r.At)...)
	return append(f, dec("n", &r.Count, 0), dec("time", &r.Time, 0), dec("longest", &r.Longest, 0))
}}

var lockHoldText = textRow[LockHold]{"lock-hold", LockHold{Lock: None, Thread: None, At: noSide}, func(r *LockHold) []textField {
	f := append([]textField{id("lock", &r.Lock), id("thread", &r.Thread)}, spotFields(&r.At)...)
	return append(f, dec("n", &r.Count, 0), dec("time", &r.Time, 0), dec("longest", &r.Longest, 0), dec("waited", &r.Waited, 0))
}}

// checkLocks validates the tables of locks.
func (t *Tables) checkLocks(at, n extent) error {
	spot := func(r *refs, s *WasteSide) {
		r.to("path", int32(s.Path), n.paths)
		r.to("node", int32(s.Node), n.nodes)
		r.frames(s.Frames, n)
	}
	return errors.Join(
		checkRows("lock", at.locks, t.Locks, func(r *refs, _ int, x *Lock) {
			r.that(x.Taken <= Unavailable, "label %d is unknown", x.Taken)
		}),
		checkRows("lock_wait", at.lockWaits, t.LockWaits, func(r *refs, _ int, x *LockWait) {
			r.must("lock", int32(x.Lock), n.locks)
			r.to("thread", int32(x.Thread), n.threads)
			spot(r, &x.At)
			r.that(x.Longest <= x.Time, "the longest of waits that are %d together is %d", x.Time, x.Longest)
		}),
		checkRows("lock_hold", at.lockHolds, t.LockHolds, func(r *refs, _ int, x *LockHold) {
			r.must("lock", int32(x.Lock), n.locks)
			r.to("thread", int32(x.Thread), n.threads)
			spot(r, &x.At)
			r.that(x.Longest <= x.Time, "the longest of holds that are %d together is %d", x.Time, x.Longest)
		}),
	)
}

// AddLock appends a lock.
func (t *Tables) AddLock(r Lock) LockID { return add[LockID](&t.Locks, r) }

// AddLockWait appends the waits of a thread in a call.
func (t *Tables) AddLockWait(r LockWait) { t.LockWaits = append(t.LockWaits, r) }

// AddLockHold appends the times that a thread held a lock.
func (t *Tables) AddLockHold(r LockHold) { t.LockHolds = append(t.LockHolds, r) }

// AddLock appends a row to be written with the next transaction.
func (w *Writer) AddLock(r Lock) LockID { return queue(w, &w.at.locks, w.next.tables.AddLock, r) }

// AddLockWait appends a row to be written with the next transaction.
func (w *Writer) AddLockWait(r LockWait) {
	queue(w, &w.at.lockWaits, func(r LockWait) int32 { w.next.tables.AddLockWait(r); return 0 }, r, r.At.Frames)
}

// AddLockHold appends a row to be written with the next transaction.
func (w *Writer) AddLockHold(r LockHold) {
	queue(w, &w.at.lockHolds, func(r LockHold) int32 { w.next.tables.AddLockHold(r); return 0 }, r, r.At.Frames)
}
