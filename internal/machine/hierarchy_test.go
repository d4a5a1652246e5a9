package machine

import (
	"flag"
	"math/rand/v2"
	"os"
	"testing"
)

var long = flag.Bool("long", os.Getenv("LIME_LONG") != "", "run the long forms of the tests")

func tiny(t testing.TB, cores int, private bool) *Machine {
	t.Helper()
	d, err := Load("desktop", "l1d.size=1KB", "l1d.ways=2", "l1i.size=1KB", "l1i.ways=2", "prefetch.streams=0")
	if err != nil {
		t.Fatal(err)
	}
	d.Cores = cores
	if private {
		d.L2.Size, d.L3.Size = 4<<10, 32<<10
	} else {
		d.L2, d.L3 = CacheDesc{Size: 16 << 10, Ways: 8, Latency: 14, Shared: true}, CacheDesc{}
	}
	m, err := New(d, 0)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// checkLine holds the caches to the protocol for one line: at most one writer and then no other
// copy; the directory knows every copy; inclusion.
func checkLine(t *testing.T, h *hierarchy, line uint64) {
	t.Helper()
	mem := h.frames.line(line)
	way := h.dir.find(mem)
	copies, writers := 0, 0
	for c := range h.cores {
		p := &h.cores[c]
		st := invalid
		if i := p.l1d.find(line); i >= 0 {
			st = p.l1d.state(i).base()
		}
		held := st != invalid && st != lost
		if p.l2 != nil {
			st2 := invalid
			if i := p.l2.find(mem); i >= 0 {
				st2 = p.l2.state(i).base()
			}
			in2 := st2 != invalid && st2 != lost
			if held && !in2 {
				t.Fatalf("core %d, line %d: in the first level but not in the second", c, line)
			}
			if !held {
				st = st2
			}
			held = held || in2
		}
		if !held {
			continue
		}
		copies++
		if way < 0 || !h.dir.has(way, c) {
			t.Fatalf("core %d holds line %d, and the directory does not know", c, line)
		}
		if st == modified || st == exclusive {
			writers++
			if h.dir.lines[way].owner != int16(c) {
				t.Fatalf("core %d may write line %d, but the directory's owner is %d", c, line, h.dir.lines[way].owner)
			}
		}
	}
	if writers > 1 || writers == 1 && copies > 1 {
		t.Fatalf("line %d: %d writers among %d copies", line, writers, copies)
	}
}

// Values travel along with the permissions: whoever reads must have been given the line after the
// last write, or be the one that wrote.
func TestCoherence(t *testing.T) {
	n := 150_000
	if *long {
		n = 1_000_000
	}
	for _, cores := range []int{1, 2, 7, 64, 100} {
		for _, private := range []bool{true, false} {
			h := &tiny(t, cores, private).caches
			rng := rand.New(rand.NewPCG(uint64(cores), 8))
			written := map[uint64]int{} // version of each line
			got := map[[2]uint64]int{}  // version that a core has seen, by core and line
			for range n {
				core, line, write := rng.IntN(cores), uint64(rng.IntN(900)), rng.IntN(4) == 0
				var f found
				h.access(core, h.cores[core].l1d.find(line), line, write, 1, Site{}, &f)
				key := [2]uint64{uint64(core), line}
				if f.l1Miss || f.upgrade {
					got[key] = written[line]
				}
				if got[key] != written[line] {
					t.Fatalf("core %d reads version %d of line %d, last written is %d", core, got[key], line, written[line])
				}
				if write {
					written[line]++
					got[key] = written[line]
				}
				checkLine(t, h, line)
			}
		}
	}
}

func TestContention(t *testing.T) {
	for _, private := range []bool{true, false} {
		h := &tiny(t, 4, private).caches
		do := func(core int, write bool, bytes uint64, want found) {
			t.Helper()
			var f found
			h.access(core, h.cores[core].l1d.find(5), 5, write, bytes, Site{Block: BlockID(core)}, &f)
			f.writebacks, f.memWrites, f.lostBefore, f.way, f.mem, f.l2Else, f.llcElse = 0, 0, 0, 0, 0, 0, 0
			if f != want {
				t.Errorf("private %v, core %d, write %v: %+v, want %+v", private, core, write, f, want)
			}
		}
		miss := found{l1Miss: true, l2Miss: true, llcMiss: private}
		taken := found{l1Miss: true, l2Miss: private}
		with := func(f found, change func(*found)) found { change(&f); return f }

		do(0, true, 0x01, miss)
		do(0, true, 0x01, found{})
		do(1, true, 0x02, with(taken, func(f *found) { f.transfer = true })) // never had it
		do(0, true, 0x01, with(taken, func(f *found) { f.transfer, f.lostLine, f.other, f.wrote = true, true, Site{Block: 1}, 2 }))
		do(1, false, 0x01, with(taken, func(f *found) { f.transfer, f.lostLine, f.trueSharing, f.wrote = true, true, true, 1 }))
		do(0, false, 0x01, found{}) // shared now
		do(0, true, 0x01, found{upgrade: true})
		do(0, true, 0x80, found{})
		do(1, false, 0x80, with(taken, func(f *found) { f.transfer, f.lostLine, f.trueSharing, f.wrote = true, true, true, 0x81 }))
	}
}
