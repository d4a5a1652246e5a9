package native

import (
	"slices"
	"sort"
	"testing"

	"lime/internal/collect/known"
	"lime/internal/collect/native/hook"
	"lime/internal/perf"
)

// cond tells of a call of a condition variable's.
func (x *told) cond(tid int32, role known.Role, caller uint64) {
	x.at += 1000
	f := slices.IndexFunc(x.main.program.table, func(f known.Func) bool { return f.Role == role })
	x.main.dispatcher.apply(&item{at: x.at, hook: &hook.Record{TID: tid, Func: f, Phase: hook.Enter, Caller: caller, Arg0: 64, SP: 1 << 20}})
}

// loses tells that a thread has to leave its core.
func (x *told) loses(tid int32) {
	x.at += 1000
	x.main.dispatcher.apply(&item{at: x.at, typ: perf.TypeSwitch, tid: tid, out: true, forced: true})
}

// Who waits for one who has no core waits for what that one does, on the time line with a core for
// every thread, and not for the core; nor for anything if he was late himself.
func TestWaitsForOneWithoutACore(t *testing.T) {
	const ms = 1_000_000
	for _, row := range []struct {
		name          string
		before, after uint64 // that the one who is waited for works before he loses his core, and after
		away          uint64 // for so long, while a third one runs
		own           uint64 // what the one who waits has done before
		want          float64
	}{
		{"keeps his core", 10 * ms, 0, 0, 0, 10 * ms},
		{"loses it", 5 * ms, 5 * ms, 30 * ms, 0, 10 * ms},
		{"had done less", 2 * ms, 2 * ms, 30 * ms, 3 * ms, 1 * ms},
		{"should not have been behind", 2 * ms, 2 * ms, 30 * ms, 9 * ms, 0},
	} {
		r, p := recording(t, Options{})
		x := &told{r, 5000}
		waits, tells := x.pcIn(sort.Ints, "consume"), x.pcIn(sort.Strings, "produce")
		x.tells(perf.TypeSwitch, x.main.program.pid, false)
		for tid := int32(101); tid <= 103; tid++ {
			x.tells(perf.TypeFork, tid, false)
		}
		x.tells(perf.TypeSwitch, x.main.program.pid, true)
		x.tells(perf.TypeSwitch, 101, false)
		x.at += row.own
		x.cond(101, known.CondWait, waits)
		x.tells(perf.TypeSwitch, 101, true)
		x.tells(perf.TypeSwitch, 103, false)
		x.tells(perf.TypeSwitch, 102, false)
		x.at += row.before
		if row.away > 0 {
			x.loses(102)
			x.at += row.away
			x.tells(perf.TypeSwitch, 102, false)
			x.at += row.after
		}
		x.cond(102, known.CondWake, tells)
		x.works(101, ms)
		for tid := int32(101); tid <= 103; tid++ {
			x.tells(perf.TypeExit, tid, false)
		}
		if _, err := r.finish(nil, false); err != nil {
			t.Fatal(err)
		}
		costs, _ := offCosts(p)
		if got := costs[kindWork]; got < row.want-0.1*ms || got > row.want+0.1*ms {
			t.Errorf("%s: %.2f ms of waiting, want %.2f: %v", row.name, got/ms, row.want/ms, costs)
		}
	}
}

// The clock that is sure stands while anybody who could run has no core.
func TestSurePace(t *testing.T) {
	for _, row := range []struct {
		name          string
		works, queues int
		want          uint64
	}{{"one works", 1, 0, 100}, {"one has no core", 1, 1, 0}, {"nobody could", 0, 0, 100}} {
		var p pace
		p.to(1000)
		for range row.works {
			p.set(&paced{}, true, true)
		}
		for range row.queues {
			p.set(&paced{}, false, true)
		}
		if p.to(1100); p.sure != row.want {
			t.Errorf("%s: %d of 100 ns", row.name, p.sure)
		}
	}
}
