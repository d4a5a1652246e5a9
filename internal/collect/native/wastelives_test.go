package native

import (
	"testing"

	"lime/internal/collect/native/watch"
	"lime/internal/perf"
	"lime/internal/profile"
	"lime/internal/waste"
)

// What a thread has wasted stays its own when the kernel gives its id to others after it, however
// often.
func TestWasteOfThreadsThatShareAnID(t *testing.T) {
	const tid = 101
	r, p := recording(t, Options{})
	x := &told{r, 5000}
	var sums watch.Sums
	sums.Threads = map[int32]*[waste.Kinds]watch.Share{}
	for life := range int32(4) {
		x.tells(perf.TypeFork, tid, false)
		sums.Lives = append(sums.Lives, watch.Life{TID: tid, At: x.at + 500})
		share := watch.Share{Looked: true, Wasted: float64(life), Of: 10, Low: 0, High: 1}
		sums.Threads[life] = &[waste.Kinds]watch.Share{waste.DeadStore: share}
		sums.Pairs = append(sums.Pairs, watch.Pair{Kind: waste.DeadStore, Thread: life, Bytes: float64(life)})
		x.works(tid, 1_000_000)
		x.tells(perf.TypeExit, tid, false)
	}
	w := &wasting{process: r.main, notes: r.notes, sink: p, sums: sums,
		host: &wasteHost{sampler: r.main.program.sampler, list: [][]uint64{{1}}}}
	w.write()
	tables := p.Tables()
	seen := map[profile.ThreadID]uint64{}
	for i := range tables.WastePairs {
		seen[tables.WastePairs[i].Thread] = tables.WastePairs[i].Bytes
	}
	if len(seen) != len(sums.Lives) {
		t.Errorf("pairs of %d threads by thread: %v", len(sums.Lives), seen)
	}
	for i := range tables.WasteTotals {
		if row := &tables.WasteTotals[i]; row.Thread != profile.None && (row.Bytes != seen[row.Thread] || row.Bytes+1 != uint64(row.Thread)) {
			t.Errorf("thread %d has wasted %d bytes in all, %d in its pairs", row.Thread, row.Bytes, seen[row.Thread])
		}
	}
}
