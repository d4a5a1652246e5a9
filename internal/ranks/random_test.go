package ranks

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lime/internal/profile"
)

// world is a run of random ranks, followed by a slow reference: one operation after the other.
type world struct {
	r     *rand.Rand
	ways  [][]string
	clock []int
	sent  map[string]int
	ops   int
}

func (w *world) work(rank int) int {
	n := 3 * w.r.IntN(100) * w.r.IntN(2)
	w.clock[rank] += n
	return n
}

func (w *world) do(rank int, what string) {
	w.ways[rank] = append(w.ways[rank], fmt.Sprintf("%d:%s", w.work(rank), what))
}

// message sends one; answered: the sender waits.
func (w *world) message(from, to int, answered bool) {
	tag := w.r.IntN(2)
	kind := fmt.Sprintf("%d,%d,%d", from, to, tag)
	word := fmt.Sprintf("%s,%d,world", kind, w.sent[kind])
	w.sent[kind]++
	mark := ">"
	if answered {
		mark = "!"
	}
	w.do(from, "mail "+mark+word)
	w.do(to, "mail <"+word)
	w.clock[to] = max(w.clock[to], w.clock[from])
	if answered {
		w.clock[from] = w.clock[to]
	}
}

func (w *world) barrier() {
	for r := range w.ways {
		w.do(r, fmt.Sprintf("world:%d", w.ops))
	}
	for r := range w.ways {
		w.clock[r] = slices.Max(w.clock)
	}
	w.ops++
}

func (w *world) broadcast(root int) {
	for r := range w.ways {
		role := "waits"
		if r == root {
			role = "feeds"
		}
		w.do(r, fmt.Sprintf("world:%d meets=%s", w.ops, role))
	}
	for r := range w.ways {
		w.clock[r] = max(w.clock[r], w.clock[root])
	}
	w.ops++
}

// Of random runs: each rank's clock is the reference's at its end, every moment of each rank is
// told once, and so is each of its rounds.
func TestRandomRuns(t *testing.T) {
	for seed := range uint64(25) {
		w := &world{r: rand.New(rand.NewPCG(seed, 1)), sent: map[string]int{}}
		n := 2 + w.r.IntN(4)
		w.ways, w.clock = make([][]string, n), make([]int, n)
		for range 2 + w.r.IntN(25) {
			switch from := w.r.IntN(n); w.r.IntN(8) {
			case 0:
				w.barrier()
			case 1:
				w.broadcast(from)
			default:
				w.message(from, (from+1+w.r.IntN(n-1))%n, w.r.IntN(4) == 0)
			}
		}
		for r := range w.ways {
			w.do(r, "exit")
		}
		p, list := waited(t, w.ways...)
		name := fmt.Sprintf("seed %d, %v, told as %v", seed, w.ways, list)
		whole(t, name, p, w.ways)
		tiled(t, name, p, uint64(slices.Max(w.clock)))
		if t.Failed() {
			return
		}
	}
}

// tiled holds that the parts of each rank follow one another without gap, from the start to the
// end.
func tiled(t *testing.T, name string, p *profile.Profile, end uint64) {
	t.Helper()
	of := map[profile.ThreadID][]profile.Part{}
	_ = p.Scan(func(in *profile.Instance) error {
		for _, q := range in.Parts {
			of[q.Thread] = append(of[q.Thread], q)
		}
		return nil
	})
	for id, list := range of {
		slices.SortFunc(list, func(a, b profile.Part) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Release, b.Release))
		})
		at := uint64(0)
		for _, q := range list {
			if q.Start != at || q.Arrive < q.Start || q.Release < q.Arrive {
				t.Errorf("%s: rank %d was told of up to %d, and then from %d to %d", name, id, at, q.Start, q.Release)
				return
			}
			at = q.Release
		}
		if at != end {
			t.Errorf("%s: rank %d ends at %d, want %d", name, id, at, end)
		}
	}
}
