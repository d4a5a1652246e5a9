package whatif

import (
	"strings"
	"testing"

	"lime/internal/analysis"
	"lime/internal/profile"
)

// lockResult has two locks for which threads waited, the first one longer, and a first cause that
// is a wait for the second.
func lockResult() (*analysis.Result, *profile.Tables) {
	side := func(line int) []analysis.LockSide {
		return []analysis.LockSide{{Place: analysis.Place{File: "src/a.c", Line: line, Function: "f"}}}
	}
	res := &analysis.Result{Locks: []analysis.LockUse{
		{ID: 1, Name: "hot+0x8", Waits: side(5), Holds: side(7)},
		{ID: 0, Name: "the one taken first at a.c:9", Waits: side(9)}}}
	res.Sections = []analysis.Section{{Causes: []analysis.Cause{{Event: profile.KindLockWait, Important: true,
		Place: analysis.Place{File: "src/a.c", Line: 9}}}}}
	return res, &profile.Tables{Locks: []profile.Lock{{Addr: 90}, {Addr: 80}}}
}

func TestLockChanges(t *testing.T) {
	res, tab := lockResult()
	for _, c := range []struct {
		spec string
		addr uint64
		held float64
		err  string
	}{
		{"half@top", 80, 0.5, ""}, {"25%@hot", 80, 0.25, ""}, {"0@hot+0x8", 80, 0, ""}, {"0.1@a.c:9", 90, 0.1, ""},
		{"0.1@a.c:7", 80, 0.1, ""}, {"1@f", 80, 1, ""}, {"0.5", 0, 0, "write SHARE@LOCK"}, {"2@hot", 0, 0, "is no share"},
		{"x@hot", 0, 0, "is no share"}, {"NaN@hot", 0, 0, "is no share"}, {"half@cold", 0, 0, "those that were: hot+0x8; the one"},
	} {
		got, err := Hold(res, tab, c.spec, true)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", c.spec, err, c.err)
			}
		case err != nil || got.Lock.Addr != c.addr || got.Held != c.held || !got.Later:
			t.Errorf("%s: %+v, %v", c.spec, got, err)
		}
	}
}

// --erase speaks of a lock if that is what the first cause waits for, or if it names the wait.
func TestErasedLock(t *testing.T) {
	res, tab := lockResult()
	for _, c := range []struct {
		spec string
		addr uint64
		ok   bool
	}{{Top, 90, true}, {"lock-wait@hot", 80, true}, {"lock_wait@on:hot", 80, true}, {"l1d-miss@a.c:5", 0, false}, {All, 0, false}} {
		if got, ok, err := ErasedLock(res, tab, nil, c.spec); err != nil || ok != c.ok || got.Lock.Addr != c.addr || ok && !got.Free {
			t.Errorf("%s: %+v, %t, %v", c.spec, got, ok, err)
		}
	}
	if _, ok, err := ErasedLock(res, tab, nil, "lock-wait@cold"); !ok || err == nil {
		t.Errorf("a lock that is not there: %t, %v", ok, err)
	}
	res.Sections[0].Causes[0].Event = "branch"
	if _, ok, _ := ErasedLock(res, tab, nil, Top); ok {
		t.Error("a branch is no lock")
	}
}
