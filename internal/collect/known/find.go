package known

// Rows by the symbols of functions that are met, on stacks and behind calls.

import "strings"

// Book finds rows by symbols.
type Book struct {
	rows map[string]Func
	part []Func // known by a part of their symbols
}

// NewBook has all rows.
func NewBook() *Book {
	b := &Book{rows: map[string]Func{}}
	for _, f := range Functions() {
		if f.Also == Mangled {
			b.part = append(b.part, f)
			continue
		}
		for _, name := range f.Names() {
			b.rows[plain(name)] = f
		}
	}
	return b
}

// Find is the row of a function, by its symbol. Libraries have several symbols for a function, and
// parts of it stand in functions of their own: __new_sem_wait_slow64, __GI___pthread_mutex_lock,
// pthread_barrier_wait@@GLIBC_2.34.
func (b *Book) Find(symbol string) (f Func, ok bool) {
	for name := plain(symbol); name != ""; {
		if f, ok = b.rows[name]; ok {
			return f, true
		}
		i := strings.LastIndexByte(name, '_')
		name = name[:max(i, 0)]
	}
	for _, f := range b.part {
		if f.Mangles(symbol) {
			return f, true
		}
	}
	return f, false
}

// plain is a symbol without what libraries put around the name of a function.
func plain(symbol string) string {
	name, _, _ := strings.Cut(symbol, "@")
	for _, before := range []string{"_", "GI_", "_", "new_"} {
		if before == "_" {
			name = strings.TrimLeft(name, before)
		} else {
			name = strings.TrimPrefix(name, before)
		}
	}
	return name
}

// WaitsFor is what a thread waits for that is away within a function of a role.
type WaitsFor uint8

// What threads wait for.
const (
	Nothing WaitsFor = iota
	ForLock
	ForOthers // their work
)

// Waits is what a thread that is away within a function of that role waits for.
func (r Role) Waits() WaitsFor {
	switch r {
	case Lock, ReadLock, Turn:
		return ForLock
	case After, Barrier, TeamBarrier, TeamReduce, Join, CondWait, SemWait, TaskWait, PoolRun, Fork, GoAwait, GoCondWait,
		Meet, MeetFrom, MeetTo, MeetNew,
		MeetDup, MeetSplit, MeetGrid, MeetRows, MeetFinish,
		Send, SendAnswered, Receive, SendReceive, Look, FinishOne, Message:
		return ForOthers
	}
	return Nothing
}
