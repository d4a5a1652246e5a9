package view

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"lime/internal/profile"
)

// randomRun makes threads with parts that follow one another or lie in one another.
func randomRun(t *testing.T, r *rand.Rand) *profile.Profile {
	p := profile.New(profile.Meta{ClockUnit: "ns"})
	p.AddNode(profile.Node{Image: profile.None, Function: profile.None})
	for range 3 {
		p.AddSection(profile.Section{Kind: profile.SectionBarrier, EndNode: profile.None})
	}
	for range 2 {
		p.AddThread(profile.Thread{Parent: profile.None, Entry: profile.None})
	}
	at := uint64(5)
	for range 1 + r.IntN(12) {
		length := uint64(r.IntN(40))
		outer := profile.Part{Start: at, Arrive: at + length, Release: at + length + uint64(r.IntN(10)),
			LockWait: uint64(r.IntN(int(length + 1)))}
		if r.IntN(3) == 0 && length > 4 { // one inside
			put(t, p, &profile.Instance{Section: 1, Parts: []profile.Part{{Start: at + 2, Arrive: at + 3, Release: at + 4}}})
		}
		other := outer
		other.Thread, other.Arrive = 1, outer.Start
		put(t, p, &profile.Instance{Section: profile.SectionID(r.IntN(2) * 2), Parts: []profile.Part{outer, other}})
		at = outer.Release + uint64(r.IntN(8))
	}
	return p
}

// paint is the slow way: the part that thread 0 is in, moment by moment; the one that began last
// counts.
func paint(p *profile.Profile, end uint64) []*profile.Part {
	var all []*profile.Part
	p.ScanParts(func(in *profile.Instance) error {
		for i := range in.Parts {
			if in.Parts[i].Thread == 0 {
				all = append(all, &in.Parts[i])
			}
		}
		return nil
	})
	slices.SortStableFunc(all, func(a, b *profile.Part) int { return int(a.Start) - int(b.Start) })
	out := make([]*profile.Part, end)
	for _, part := range all {
		for k := part.Start; k < part.Release && k < end; k++ {
			out[k] = part
		}
	}
	return out
}

func build(t *testing.T, p *profile.Profile) *index {
	t.Helper()
	var done atomic.Int64
	x, err := buildIndex(p, &done, new(Heap), nil)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Segments are what the slow way paints, in any window.
func TestSegmentsAgreeWithPainting(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		p := randomRun(t, r)
		x := build(t, p)
		want := paint(p, x.to+5)
		lo := uint64(r.IntN(int(x.to)))
		hi := lo + 1 + uint64(r.IntN(int(x.to)))
		got := make([]*cell, x.to+5)
		last := uint64(0)
		x.lanes[0].segments(lo, hi, func(c *cell, from, to uint64) {
			if from < last || from < lo || to > hi || from >= to {
				t.Fatalf("seed %d: segment from %d to %d after %d in %d to %d", seed, from, to, last, lo, hi)
			}
			last = to
			for k := from; k < to; k++ {
				got[k] = c
			}
		})
		for k := lo; k < min(hi, x.to); k++ {
			if (got[k] == nil) != (want[k] == nil) || got[k] != nil && (got[k].start != want[k].Start || got[k].arrive() != want[k].Arrive) {
				t.Fatalf("seed %d: at %d there is %+v, want %+v", seed, k, got[k], want[k])
			}
		}
	}
}

// A window's sums are those of painting, and all kinds and the unknown rest make up the whole.
func TestWindowAddsUp(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 4))
		p := randomRun(t, r)
		x := build(t, p)
		lo := uint64(r.IntN(int(x.to)))
		hi := min(x.to, lo+1+uint64(r.IntN(int(x.to))))
		if lo >= hi {
			continue
		}
		w := x.window(lo, hi, everybody)
		want := 0.0
		for i := range x.lanes {
			want += x.lanes[i].within(lo, hi)
		}
		if sum := w.Work + w.Wait + w.Lock + w.Off + w.None; math.Abs(sum-want) > 1e-6*sum+1e-6 {
			t.Errorf("seed %d: %v of %v", seed, sum, want)
		}
	}
}

// The tiles of a level hold, together, what the tile above them holds; and a tile is at most 64 kB.
func TestSpanTilesAddUp(t *testing.T) {
	x := build(t, fixture(t, 70, 20))
	for z := range 4 {
		for at := range 1 << z {
			coarse := mustSpan(t, x, z, at, 0)
			if len(coarse) > 64<<10 {
				t.Fatalf("a tile of %d bytes", len(coarse))
			}
			var fine [2][]byte
			for half := range fine {
				fine[half] = mustSpan(t, x, z+1, 2*at+half, 0)
			}
			for row := range 64 {
				for s := range int(states) {
					sum := func(b []byte) (n int) {
						for k := range spanCells {
							n += int(b[(row*spanCells+k)*int(states)+s])
						}
						return n
					}
					if a, b := sum(coarse), (sum(fine[0])+sum(fine[1]))/2; math.Abs(float64(a-b)) > spanCells {
						t.Fatalf("level %d, tile %d, row %d, state %d: %d, its halves %d", z, at, row, s, a, b)
					}
				}
			}
		}
	}
	if b := mustSpan(t, x, 0, 0, 1); len(b) != 6*spanCells*int(states) {
		t.Errorf("the second band has %d bytes", len(b))
	}
	if _, err := x.spanTile(2, 4, 0); err == nil {
		t.Error("there is a tile 4 of level 2")
	}
}

func mustSpan(t *testing.T, x *index, z, at, band int) []byte {
	t.Helper()
	b, err := x.spanTile(z, at, band)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// readCells reads a tile as the page does.
func readCells(b []byte) (rows, columns, read, of int, field [3][]float32) {
	u := func(i int) int { return int(binary.LittleEndian.Uint32(b[4*i:])) }
	rows, columns, read, of = u(0), u(1), u(2), u(3)
	for f := range field {
		for k := range rows * columns {
			field[f] = append(field[f], math.Float32frombits(binary.LittleEndian.Uint32(b[16+4*(f*rows*columns+k):])))
		}
	}
	return
}

// Every cell is the least, most and mean of the instances under it, whatever the metric and level.
func TestCellsAgreeWithTheInstances(t *testing.T) {
	const threads, instances = 66, 150
	p := fixture(t, threads, instances)
	r := runOf(p)
	x := build(t, p)
	slow := map[string]func(in *profile.Instance, part int) float64{
		"time": func(in *profile.Instance, k int) float64 { return float64(in.Parts[k].Time()) },
		"lock": func(in *profile.Instance, k int) float64 { return float64(in.Parts[k].LockWait) },
		"wait": func(in *profile.Instance, k int) float64 {
			most := uint64(0)
			for i := range in.Parts {
				most = max(most, in.Parts[i].Time())
			}
			return float64(most - in.Parts[k].Time())
		},
		"kind:l1d-miss": func(in *profile.Instance, k int) float64 { return float64(in.Events[k].N) },
		"line:0:10": func(in *profile.Instance, k int) float64 {
			return float64(in.Edges[threads+k].N + in.Edges[3*threads+k].N)
		},
	}
	for name, want := range slow {
		m, err := newMetric(p.Tables(), name)
		if err != nil {
			t.Fatal(err)
		}
		for _, z := range []int{0, 2} {
			for band := range 2 {
				b, err := r.cells(x, 0, m, z, 0, band)
				if err != nil {
					t.Fatal(err)
				}
				if len(b) > 64<<10 {
					t.Errorf("a tile of %d bytes", len(b))
				}
				rows, columns, read, of, field := readCells(b)
				if read != of {
					t.Fatalf("%s: read %d of %d", name, read, of)
				}
				for row := range rows {
					for c := range columns {
						check(t, fmt.Sprint(name, " level ", z, " row ", row, " column ", c), p, want, band*64+row,
							c<<z, min((c+1)<<z, instances), [3]float32{field[0][row*columns+c], field[1][row*columns+c], field[2][row*columns+c]})
					}
				}
			}
		}
	}
}

func check(t *testing.T, what string, p *profile.Profile, want func(*profile.Instance, int) float64, part, from, to int, got [3]float32) {
	t.Helper()
	lo, hi, sum, n := math.Inf(1), math.Inf(-1), 0.0, 0
	for seq := from; seq < to; seq++ {
		in, err := p.Instance(0, seq)
		if err != nil {
			t.Fatal(err)
		}
		v := want(in, part)
		lo, hi, sum, n = min(lo, v), max(hi, v), sum+v, n+1
	}
	if n == 0 {
		if got[0] == got[0] {
			t.Errorf("%s: %v where nothing is", what, got)
		}
		return
	}
	if got[0] != float32(lo) || got[1] != float32(hi) || math.Abs(float64(got[2])-sum/float64(n)) > 1e-3*(1+sum) {
		t.Errorf("%s: %v, want %v %v %v", what, got, lo, hi, sum/float64(n))
	}
}

// everybody is all threads.
func everybody(int) bool { return true }
