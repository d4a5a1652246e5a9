package report

import (
	"math"
	"strings"
	"testing"

	"lime/internal/analysis"
	"lime/internal/profile"
)

// The table of locks divides what the account says: two locks that are waited for in one call, one
// of them in another, too, and a call of which no lock is known. Nothing is lost, nothing counts
// twice, and those who held a lock answer for all that was waited for it.
func TestLocksAddUp(t *testing.T) {
	at := func(line int) analysis.Place { return analysis.Place{File: "a.c", Line: line, Function: "f"} }
	side := func(line int, n uint64, time, waited float64) analysis.LockSide {
		return analysis.LockSide{Place: at(line), Count: n, Time: time, Longest: time / 2, Waited: waited,
			Threads: []analysis.ThreadShare{{Thread: 3, Name: "w", Time: max(time, waited)}}, Among: 1,
			Path: []analysis.Frame{{File: "a.c", Line: 90, Function: "main"}, {File: "a.c", Line: line, Function: "f"}}}
	}
	place := func(line int, share float64, data string) analysis.LossPlace {
		return analysis.LossPlace{Place: at(line), Event: profile.KindLockWait, Section: profile.None, Time: 1000 * share, Share: share,
			Subject: analysis.Subject{Data: data}}
	}
	loss := &analysis.Loss{CoreTime: 1000, Terms: []analysis.LossTerm{{Name: analysis.TermLock, Share: 0.55, Time: 550,
		Places: []analysis.LossPlace{place(5, 0.4, "hot"), place(6, 0.1, "hot"), place(7, 0.05, "own")}}}}
	uses := []analysis.LockUse{
		{Name: "hot", Kind: "pthread_mutex_lock", Objects: 1, Counted: true, Taken: 30, HeldTimes: 30, Held: 900, LongestHold: 50,
			Waits: []analysis.LockSide{side(5, 9, 600, 0), side(6, 4, 200, 0)},
			Holds: []analysis.LockSide{side(5, 20, 700, 600), side(6, 10, 200, 200)}},
		{Name: "cold", Kind: "omp_set_lock", Objects: 4, Taken: 2, Waits: []analysis.LockSide{side(5, 1, 200, 0)}},
	}
	r := &Report{Locks: newLocks(loss, uses), Program: Program{ClockUnit: "instructions", RunTime: 1000}}
	want := []struct {
		name  string
		time  float64
		waits uint64
	}{{"hot", 400, 13}, {"cold", 100, 1}, {"own", 50, 0}}
	sum := 0.0
	for i, l := range r.Locks {
		if w := want[i]; l.Name != w.name || math.Abs(l.Time-w.time) > 1e-9 || l.Contended != w.waits {
			t.Errorf("lock %d: %+v", i, l)
		}
		sum += l.Share
	}
	if len(r.Locks) != 3 || math.Abs(sum-0.55) > 1e-9 {
		t.Fatalf("%d locks have %v of the core time", len(r.Locks), sum)
	}
	if h := r.Locks[0].Holders; len(h) != 2 || math.Abs(h[0].Time-300) > 1e-9 || math.Abs(h[1].Time-100) > 1e-9 {
		t.Errorf("held by %+v", h)
	}
	var b strings.Builder
	p := newPrinter(&b, TextOptions{})
	p.locks(r)
	if err := p.done(); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{"Mutex; taken 30 times, 43.3 % of them after a wait; held for 30 instructions on average, 50 at most",
		"held from a.c:5 in f", "by thread 3 (w)", "called from a.c:90 in main", "OpenMP lock, 4 of this name."} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
