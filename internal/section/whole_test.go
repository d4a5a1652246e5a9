package section

import (
	"math/rand/v2"
	"testing"

	"lime/internal/unit"
)

// seldomSeen runs threads through a barrier that the program built, of which each thread's wait is
// seen by chance only, and returns the instances. The last one to come lets go those who were seen.
func seldomSeen(t *testing.T, r *rand.Rand, work [][]unit.Cycles, seen float64) (out []Instance) {
	t.Helper()
	rec := New(func(in Instance) { out = append(out, in) })
	feed := func(op Op) {
		if err := rec.Feed(op); err != nil {
			t.Fatal(err)
		}
	}
	main, n := ThreadID(len(work)), len(work)
	at := Site{Stack: []Frame{{Call: 7, Func: 8}}}
	feed(Op{Kind: OpStart, Thread: main, Other: NoThread})
	for i := range work {
		feed(Op{Kind: OpCreate, Thread: main, Other: ThreadID(i), Site: at})
		feed(Op{Kind: OpStart, Thread: ThreadID(i), Other: main})
		feed(Op{Kind: OpCreated, Thread: main, Other: ThreadID(i)})
	}
	feed(Op{Kind: OpJoinBegin, Thread: main, Other: 0, At: 1, Site: Site{Stack: []Frame{{Call: 9, Func: 8}}}})
	now := unit.Cycles(0)
	for k := range work[0] {
		last, waits := 0, []ThreadID{}
		for i := range work {
			if work[i][k] > work[last][k] {
				last = i
			}
		}
		arrive := map[unit.Cycles][]int{}
		for i := range work {
			arrive[work[i][k]] = append(arrive[work[i][k]], i)
		}
		for d := unit.Cycles(0); d <= work[last][k]; d++ {
			for _, i := range arrive[d] {
				if i != last && r.Float64() < seen {
					feed(Op{Kind: OpWaitBegin, Thread: ThreadID(i), Other: NoThread, At: now + d, Object: 5, Site: at, Span: "work"})
					waits = append(waits, ThreadID(i))
				} else if i != last { // it spins: the collector takes that out of its time
					feed(Op{Kind: OpOff, Thread: ThreadID(i), At: now + d, N: work[last][k] - d})
				}
			}
		}
		now += work[last][k]
		if len(waits) > 0 {
			feed(Op{Kind: OpRelease, Thread: ThreadID(last), At: now, Object: 5, Woken: waits, Site: at, Span: "work"})
		}
		for _, id := range waits {
			feed(Op{Kind: OpWaitEnd, Thread: id, Other: ThreadID(last), At: now})
		}
	}
	for i := range n {
		feed(Op{Kind: OpExit, Thread: ThreadID(i), At: now + 1, Site: at, Span: "end"})
	}
	for i := range n {
		if i > 0 {
			feed(Op{Kind: OpJoinBegin, Thread: main, Other: ThreadID(i), At: now + 1, Site: Site{Stack: []Frame{{Call: 9, Func: 8}}}})
		}
		feed(Op{Kind: OpJoinEnd, Thread: main, Other: ThreadID(i), At: now + 1})
	}
	feed(Op{Kind: OpExit, Thread: main, At: now + 1, Site: at, Span: "end", Final: true})
	rec.Close(now + 1)
	return out
}

// However seldom threads are seen at a barrier, all that each has done is in some instance, and
// threads with equal work do not wait for one another in any.
func TestNothingIsLostAtABarrierSeldomSeen(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 8))
		work := make([][]unit.Cycles, 3+r.IntN(6))
		rounds, same := 1+r.IntN(8), seed%2 == 0
		total := make([]unit.Cycles, len(work))
		for i := range work {
			for range rounds {
				w := unit.Cycles(1000)
				if !same {
					w += unit.Cycles(r.IntN(400))
				}
				work[i] = append(work[i], w)
				total[i] += w
			}
		}
		got := make([]unit.Cycles, len(work))
		for _, in := range seldomSeen(t, r, work, r.Float64()) {
			most := unit.Cycles(0)
			for _, p := range in.Parts {
				most = max(most, p.Time())
				if int(p.Thread) < len(work) {
					got[p.Thread] += p.worked()
				}
			}
			for _, p := range in.Parts {
				if late := min(p.Release-p.Arrive, most-p.Time()); same && late > 2*unit.Cycles(rounds) {
					t.Errorf("seed %d: thread %d waits %d for threads that have as much to do: %v", seed, p.Thread, late, in)
				}
			}
		}
		for i := range got {
			if off := got[i] - min(got[i], total[i]) + total[i] - min(got[i], total[i]); off > 2*unit.Cycles(rounds) {
				t.Errorf("seed %d: thread %d has worked for %d, %d of that is in an instance", seed, i, total[i], got[i])
			}
		}
		if t.Failed() {
			return
		}
	}
}
