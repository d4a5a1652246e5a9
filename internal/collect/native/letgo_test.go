package native

import (
	"slices"
	"sort"
	"testing"

	"lime/internal/collect/known"
	"lime/internal/collect/native/hook"
	"lime/internal/perf"
	"lime/internal/profile"
)

// barrier tells of a call of pthread_barrier_wait.
func (x *told) barrier(tid int32, phase hook.Phase) {
	x.at += 100
	f := slices.IndexFunc(x.main.program.table, func(f known.Func) bool { return f.Role == known.Barrier })
	x.main.dispatcher.apply(&item{at: x.at, hook: &hook.Record{TID: tid, Func: f, Phase: phase, Caller: 16, Arg0: 32, SP: 1 << 20}})
}

// Who waits until threads that it has made are done, after these have met many times, has not waited
// since the beginning for what comes after their last meeting.
func TestWhoMadeThemComesAfterThem(t *testing.T) {
	const rounds, ms = 10, 1_000_000
	r, p := recording(t, Options{})
	x := &told{r, 5000}
	wakes := x.pcIn(sort.Ints, "wakes")
	x.tells(perf.TypeSwitch, x.main.program.pid, false)
	for tid := int32(101); tid <= 102; tid++ {
		x.tells(perf.TypeFork, tid, false)
	}
	x.futex(x.main.program.pid, hook.Enter, 16, 64, futexWait, 0)
	x.tells(perf.TypeSwitch, x.main.program.pid, true)
	for range rounds {
		for tid := int32(101); tid <= 102; tid++ {
			x.works(tid, ms)
			x.barrier(tid, hook.Enter)
		}
		for tid := int32(101); tid <= 102; tid++ {
			x.barrier(tid, hook.Return)
		}
	}
	x.tells(perf.TypeExit, 101, false)
	x.futex(102, hook.Enter, wakes, 64, futexWake, 1)
	x.tells(perf.TypeExit, 102, false)
	x.works(x.main.program.pid, ms)
	x.tells(perf.TypeExit, x.main.program.pid, false)
	if _, err := r.finish(nil, false); err != nil {
		t.Fatal(err)
	}
	for id, s := range p.Tables().Sections {
		if s.Kind != profile.SectionTail {
			continue
		}
		for in := range p.Instances(profile.SectionID(id)) {
			for _, part := range in.Parts {
				if part.Thread == 0 && (part.Release-part.Arrive > 2*ms || part.Start < (rounds-1)*ms) {
					t.Errorf("main's part is from %d to %d, and waits until %d", part.Start, part.Arrive, part.Release)
				}
			}
		}
	}
}
