package view

import (
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"lime/internal/profile"
)

func ranOf(t *testing.T, r *Run) (*ran, *index) {
	t.Helper()
	x, err := r.index()
	if err != nil {
		t.Fatal(err)
	}
	v, err := r.ran()
	if err != nil {
		t.Fatal(err)
	}
	return v, x
}

// A cell of a tile names the function that a walk over the whole cell, unit by unit, meets most.
func TestRanTilesAgainstAWalk(t *testing.T) {
	v, x := ranOf(t, runOf(fixture(t, 5, 4)))
	for z := range 3 {
		for tile := range 1 << z {
			for depth := range 4 {
				b, err := v.tile(x, z, tile, 0, depth)
				if err != nil {
					t.Fatal(err)
				}
				holdTile(t, v, x, z, tile, depth, b)
			}
		}
	}
}

func holdTile(t *testing.T, v *ran, x *index, z, tile, depth int, b []byte) {
	t.Helper()
	width := float64(x.to-x.from) / float64(int(1)<<z) / spanCells
	for row := range x.lanes {
		for k := range spanCells {
			got := int32(binary.LittleEndian.Uint16(b[2*(row*spanCells+k):])) - 1
			begin := float64(x.from) + (float64(tile)*spanCells+float64(k))*width
			sums, most := map[int32]float64{}, 0.0
			for i := range v.lanes[row] {
				s := &v.lanes[row][i]
				if d := min(float64(s.to), begin+width) - max(float64(s.from), begin); d > 0 {
					id := v.function(s.path, depth)
					sums[id] += d
					most = max(most, sums[id])
				}
			}
			if most > 1e-6 && (got < 0 || sums[got] < most-1e-6) || most == 0 && got >= 0 {
				t.Fatalf("level %d, tile %d, depth %d, thread %d, cell %d: function %d of %v", z, tile, depth, row, k, got, sums)
			}
		}
	}
}

// Stretches of a thread neither overlap nor leave the part in which their sample was taken.
func TestStretchesDoNotOverlap(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	p := fixture(t, 4, 8)
	for i := range p.Traces {
		p.Traces[i].Samples = nil
		for at := r.Uint64N(50); at < 18000; at += r.Uint64N(300) {
			p.Traces[i].Samples = append(p.Traces[i].Samples, profile.TraceSample{At: at, Length: r.Uint64N(600), Path: 0})
		}
	}
	v, x := ranOf(t, runOf(p))
	for thread, lane := range v.lanes {
		last := uint64(0)
		for _, s := range lane {
			if s.from < last || s.to < s.from {
				t.Fatalf("thread %d: %+v begins before %d", thread, s, last)
			}
			last = s.to
			if c := x.lanes[thread].at(s.at); c != nil && (s.from < c.start || s.to > c.arrive()) {
				t.Fatalf("thread %d: %+v leaves its part", thread, s)
			}
		}
	}
}

// The call paths of stretches of time that lie side by side add up to those of all.
func TestWindowsOfCallPathsAddUp(t *testing.T) {
	p := fixture(t, 6, 9)
	a := NewAPI([]*Run{runOf(p)})
	total := func(q string) float64 {
		t.Helper()
		got, err := answer(t, a, q)
		if err != nil {
			t.Fatal(err)
		}
		var table PathTable
		if err := json.Unmarshal(got.Body, &table); err != nil {
			t.Fatal(err)
		}
		return table.Total[0]
	}
	sum := 0.0
	for _, tr := range p.Traces {
		for _, s := range tr.Samples {
			sum += float64(s.Length)
		}
	}
	if got := total("paths?from=0&to=9000") + total("paths?from=9000&to=99999"); got != sum {
		t.Errorf("two halves have %v, the traces %v", got, sum)
	}
	byThread := 0.0
	for _, th := range []string{"0", "1", "2", "3", "4", "5"} {
		byThread += total("paths?from=0&to=99999&t=" + th)
	}
	if byThread != sum || total("paths?from=0&to=99999&s=0") != sum || total("paths?from=0&to=99999&s=1") != 0 {
		t.Errorf("by thread %v, section 0 %v of %v", byThread, total("paths?from=0&to=99999&s=0"), sum)
	}
}
