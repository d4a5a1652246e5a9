package ledger

import (
	"math"
	"slices"
	"testing"

	"lime/internal/profile"
)

// giveTasks runs n tasks in a thread that waits for some: a runtime calls their function, which is
// not counted.
func (tr *track) giveTasks(n int, iterations func(task int) int) {
	w, at := tr.w, tr.at
	for i := range n {
		tr.at = w.node("job")
		tr.edges[profile.Edge{From: profile.None, To: tr.at, Kind: profile.EdgeCallInd}]++
		tr.spend()
		tr.loop("job-guard", "job-body", iterations(i), nil)
		tr.openers = append(tr.openers, profile.None)
		tr.ret()
		tr.back = profile.None
	}
	tr.at = at
}

// tasksOf is the account of threads that wait for tasks twice; nothing is counted of the waits but
// that they return.
func tasksOf(t *testing.T, threads int, tasks func(thread int) int, iterations func(thread, task int) int) *Account {
	w := newWorld(threads, map[string]int32{"job": 5, "job-guard": 6, "job-body": 6, "start": 1, "wait": 90},
		map[string]uint32{"job": 3, "job-body": 7})
	for p := range threads {
		tr := w.thread("start")
		for k := range 2 {
			tr.fall([]string{"first", "second"}[k])
			tr.openers = append(tr.openers, tr.at)
			tr.edges[profile.Edge{From: tr.at, To: w.node("wait"), Kind: profile.EdgeCall}]++
			if k == 0 {
				tr.giveTasks(tasks(p), func(i int) int { return iterations(p, i) })
			}
			tr.openers = tr.openers[:len(tr.openers)-1]
			tr.back = tr.at
			tr.to([]string{"between", "after"}[k], profile.EdgeReturn)
		}
		tr.end()
	}
	w.barrier(t)
	return w.account(t)
}

// TestTasks gives threads unequal numbers of equal tasks.
func TestTasks(t *testing.T) {
	a := tasksOf(t, 4, func(p int) int { return 2 + p }, func(_, _ int) int { return 50 })
	near(t, a, Tasks, 5, 1)
	nothing(t, a, 5)
	if r := a.find(Tasks, 5); !slices.Equal(r.Tasks, []uint64{2, 3, 4, 5}) || !a.Exact {
		t.Errorf("tasks %v, exact %v", r.Tasks, a.Exact)
	}
	if len(a.Tasks) != 1 || a.Tasks[0].Count != 14 || a.Tasks[0].Time < 14*350 {
		t.Errorf("%+v", a.Tasks)
	}
}

// TestLongTasks gives them equal numbers, one of which has longer ones.
func TestLongTasks(t *testing.T) {
	a := tasksOf(t, 4, func(int) int { return 3 }, func(p, _ int) int { return 50 + 100*(p/3) })
	near(t, a, Loop, 6, 1)
	nothing(t, a, 6)
}

// TestLoopTests wants the time of a round of a loop that all threads go round equally often.
func TestLoopTests(t *testing.T) {
	w := newWorld(3, map[string]int32{"guard": 10, "body": 11}, map[string]uint32{"body": 7})
	for range 3 {
		tr := w.thread("start")
		tr.loop("guard", "body", 20, nil)
		tr.end()
	}
	w.barrier(t)
	a := w.account(t)
	for _, l := range a.Tests {
		if l.Place.Line == 11 && l.Stayed == 57 && l.Left == 3 && math.Abs(l.Round-7) < 1e-9 {
			return
		}
	}
	t.Errorf("%+v", a.Tests)
}
