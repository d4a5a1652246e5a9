package native

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"lime/internal/binfile"
	"lime/internal/collect/known"
	"lime/internal/collect/native/hook"
	"lime/internal/perf"
	"lime/internal/profile"
	"lime/internal/unit"
)

// told is a run that is told of calls by the test. Threads have ids from 100 on.
type told struct {
	*run
	at uint64
}

// tells is what the kernel tells.
func (x *told) tells(typ perf.Type, tid int32, out bool) {
	x.at += 1000
	parent := int32(0)
	if typ == perf.TypeFork {
		parent = x.main.program.pid
	}
	x.main.dispatcher.apply(&item{at: x.at, typ: typ, tid: tid, other: parent, out: out})
}

// futex tells of a call of futex(2) in a function of this program.
func (x *told) futex(tid int32, phase hook.Phase, caller uint64, object uint64, op int, n int) {
	x.at += 1000
	f := slices.IndexFunc(x.main.program.table, func(f known.Func) bool { return f.Role == known.Futex })
	x.main.dispatcher.apply(&item{at: x.at, hook: &hook.Record{TID: tid, Func: f, Phase: phase, Caller: caller, Arg0: object,
		Arg1: uint64(op) | uint64(n)<<32, SP: 1 << 20}})
}

// works passes time on a CPU.
func (x *told) works(tid int32, ns uint64) {
	x.tells(perf.TypeSwitch, tid, false)
	x.at += ns
	x.tells(perf.TypeSwitch, tid, true)
}

// Addresses in functions of this program, which as a test has no symbols; so it gets some.
func (x *told) pcIn(f any, name string) uint64 {
	pc := uint64(reflect.ValueOf(f).Pointer())
	im := x.main.program.images.At(pc)
	im.Define(binfile.Symbol{Name: name, Addr: pc - im.Bias, Size: 16})
	return pc + 8
}

const (
	futexWait = 128 // FUTEX_WAIT_PRIVATE
	futexWake = 129
)

// One who waits until the threads that it has made are done, all but the last have gone: that ends
// a section if the function that waits has a name, by which it would be known for a lock's if it
// were one.
func TestFutexOfOneWaiter(t *testing.T) {
	for name, want := range map[string]int{"named": 2, "unnamed": 0} {
		r, p := recording(t, Options{})
		x := &told{r, 5000}
		caller, wakes := uint64(16), x.pcIn(strings.ToLower, "wakes")
		if name == "named" {
			caller = x.pcIn(TestFutexOfOneWaiter, "parks")
		}
		x.tells(perf.TypeSwitch, x.main.program.pid, false)
		for tid := int32(101); tid <= 102; tid++ {
			x.tells(perf.TypeFork, tid, false)
		}
		x.futex(x.main.program.pid, hook.Enter, caller, 64, futexWait, 0)
		x.tells(perf.TypeSwitch, x.main.program.pid, true)
		x.works(101, 1e6)
		x.tells(perf.TypeExit, 101, false)
		x.works(102, 3e6)
		x.futex(102, hook.Enter, wakes, 64, futexWake, 1)
		x.tells(perf.TypeExit, 102, false)
		x.futex(x.main.program.pid, hook.Return, caller, 0, 0, 0)
		if _, err := r.finish(nil, false); err != nil {
			t.Fatal(err)
		}
		got := 0
		for id, s := range p.Tables().Sections {
			for in := range p.Instances(profile.SectionID(id)) {
				if s.Kind == profile.SectionJoin {
					got = len(in.Parts)
				}
			}
		}
		if got != want {
			t.Errorf("%s: %d threads in the section, want %d: %+v", name, got, want, p.Tables().Sections)
		}
	}
}

// A wait in a function of a lock is a wait for a lock, and no section's end: but not on the way
// home from a barrier, nor just before a wait for others.
func TestFutexOfLock(t *testing.T) {
	for _, c := range []struct {
		name   string
		before func(*told)
		after  func(*told)
		want   uint64
	}{
		{"a lock", func(*told) {}, func(*told) {}, 1},
		{"before a barrier in the same call", func(x *told) { x.makes2() }, func(x *told) {
			x.meets2(meet(), 0)
			x.main.rec.Close(unit.Cycles(x.at)) // till then it may turn out that the barrier's last passage was none
		}, 0},
		{"before a wait in the same call", func(*told) {}, func(x *told) { x.futex(x.main.program.pid, hook.Enter, meet(), 64, futexWait, 0) }, 1},
		{"before a wait somewhat later", func(*told) {}, func(x *told) {
			x.at += 2 * onTheWay
			x.futex(x.main.program.pid, hook.Enter, meet(), 64, futexWait, 0)
		}, 1},
		{"on the way home from a barrier", func(x *told) { x.makes2(); x.meets2(meet(), 0) }, func(*told) {}, 0},
		{"after a barrier", func(x *told) { x.makes2(); x.meets2(meet(), 2*onTheWay) }, func(*told) {}, 1},
	} {
		r, _ := recording(t, Options{})
		x := &told{r, 5000}
		lock := x.pcIn((*sync.Mutex).Lock, "mutex_lock")
		x.pcIn(TestFutexOfLock, "meets")
		x.tells(perf.TypeSwitch, x.main.program.pid, false)
		c.before(x)
		x.futex(x.main.program.pid, hook.Enter, lock, 128, futexWait, 0)
		x.at += 1e6
		x.futex(x.main.program.pid, hook.Return, lock, 0, 0, 0)
		piece := x.main.roster.threads[0].piece
		c.after(x)
		n := uint64(0)
		for _, l := range piece.locks {
			n += l.n
		}
		if n != c.want {
			t.Errorf("%s: %d waits for locks, want %d", c.name, n, c.want)
		}
	}
}

// meet is an address in the function that is a barrier.
func meet() uint64 { return uint64(reflect.ValueOf(TestFutexOfLock).Pointer()) + 8 }

// makes2 lets the first thread make two others.
func (x *told) makes2() {
	for tid := int32(101); tid <= 102; tid++ {
		x.tells(perf.TypeFork, tid, false)
		x.tells(perf.TypeSwitch, tid, false)
	}
}

// meets2 lets the first thread wait at a barrier for these, and be let go; later is the CPU time that
// it then has.
func (x *told) meets2(caller, later uint64) {
	x.futex(x.main.program.pid, hook.Enter, caller, 64, futexWait, 0)
	x.futex(101, hook.Enter, caller, 64, futexWait, 0)
	x.futex(102, hook.Enter, caller, 64, futexWake, math.MaxInt32)
	x.at += later
}
