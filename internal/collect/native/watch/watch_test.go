package watch

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"lime/internal/perf"
	"lime/internal/testenv"
	"lime/internal/waste"
	"lime/internal/x86"
)

// TestPiece: what is watched of an access is aligned, inside of it, and the largest that there is;
// of long ones every part gets its turn.
func TestPiece(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 4, 8, 16, 32, 64} {
		for off := range uint64(64) {
			a := access{addr: 4096 + off, bytes: n}
			seen := map[uint64]bool{}
			for range 100 {
				addr, size := piece(a, rng.IntN)
				if addr < a.addr || addr+uint64(size) > a.end() || addr%uint64(size) != 0 {
					t.Fatalf("%d bytes at %#x: watched %d at %#x", n, a.addr, size, addr)
				}
				if size < 8 {
					for big := size * 2; big <= 8; big *= 2 {
						if first := (a.addr + uint64(big) - 1) &^ uint64(big-1); first+uint64(big) <= a.end() {
							t.Fatalf("%d bytes at %#x: %d watched, %d would fit", n, a.addr, size, big)
						}
					}
				}
				seen[addr] = true
			}
			if n == 64 && off == 0 && len(seen) != 8 {
				t.Errorf("of 64 bytes only %d parts are ever watched", len(seen))
			}
		}
	}
}

// TestAccesses: addresses follow from the registers before the instruction.
func TestAccesses(t *testing.T) {
	r := unix.PtraceRegs{Rax: 0x1000, Rcx: 3, Rbx: 0x2000, Rsp: 0x7000, Rdi: 0x5000, Rsi: 0x6000, R12: 0x9000, Fs_base: 0xf000}
	for _, row := range []struct {
		name string
		code []byte
		want []access
	}{
		{"mov (%rbx,%rcx,8),%rax", []byte{0x48, 0x8b, 0x04, 0xcb}, []access{{0x2018, 8, true, false}}},
		{"mov %eax,4(%r12)", []byte{0x41, 0x89, 0x44, 0x24, 0x04}, []access{{0x9004, 4, false, true}}},
		{"add %eax,(%rbx)", []byte{0x01, 0x03}, []access{{0x2000, 4, true, true}}},
		{"mov 0x10(%rip),%eax", []byte{0x8b, 0x05, 0x10, 0, 0, 0}, []access{{0x400016, 4, true, false}}},
		{"mov %fs:0x28,%rax", []byte{0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}, []access{{0xf028, 8, true, false}}},
		{"push %rax", []byte{0x50}, []access{{0x6ff8, 8, false, true}}},
		{"pop %rax", []byte{0x58}, []access{{0x7000, 8, true, false}}},
		{"rep movsb", []byte{0xf3, 0xa4}, []access{{0x6000, 3, true, false}, {0x5000, 3, false, true}}},
		{"lea (%rbx),%rax", []byte{0x48, 0x8d, 0x03}, nil},
		{"vpgatherqq", []byte{0xc4, 0xe2, 0xf5, 0x91, 0x04, 0xd3}, nil},
	} {
		var in x86.Inst
		if err := x86.Decode(row.code, &in); err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		if got := accesses(&in, 0x400000, &r); !slices.Equal(got, row.want) {
			t.Errorf("%s: %+v, want %+v", row.name, got, row.want)
		}
	}
}

// TestJudge: a row for every way in which a watch can go on.
func TestJudge(t *testing.T) {
	const mine, other = 7, 8
	dead, silent, loads := waste.DeadStore, waste.SilentStore, waste.SilentLoad
	stores := waste.Of(dead, silent)
	for _, row := range []struct {
		name  string
		store bool
		touch touch
		want  []verdict
		over  bool
	}{
		{"store, then my load", true, touch{thread: mine, reads: true, bytes: 8, value: 5}, []verdict{{dead, 0}}, false},
		{"store, then my other store", true, touch{thread: mine, writes: true, bytes: 8, value: 6}, []verdict{{dead, 1}, {silent, 0}}, true},
		{"store, then the same", true, touch{thread: mine, writes: true, bytes: 8, value: 5}, []verdict{{dead, 1}, {silent, 1}}, true},
		{"store, then half over", true, touch{thread: mine, writes: true, bytes: 4, value: 6}, []verdict{{dead, 0.5}, {silent, 0}}, true},
		{"store, then an addition", true, touch{thread: mine, reads: true, writes: true, bytes: 8, value: 6},
			[]verdict{{dead, 0}, {silent, 0}}, true},
		{"store, then a load elsewhere", true, touch{thread: other, reads: true, bytes: 8, value: 5}, []verdict{{dead, 0}}, false},
		{"store, then a store elsewhere", true, touch{thread: other, writes: true, bytes: 8, value: 5}, []verdict{{dead, 0}, {silent, 0}}, true},
		{"store, then the system reads", true, touch{thread: mine, system: true, reads: true}, []verdict{{dead, 0}}, false},
		{"store, then the system writes", true, touch{thread: mine, system: true, writes: true}, []verdict{{dead, 0}, {silent, 0}}, true},
		{"store, then a call", true, touch{thread: mine, call: true, writes: true, bytes: 8, value: 6}, []verdict{{dead, 0}, {silent, 0}}, true},
		{"store, then nobody knows", true, touch{thread: mine, unknown: true}, nil, true},
		{"load, then the same", false, touch{thread: mine, reads: true, bytes: 8, value: 5}, []verdict{{loads, 1}}, true},
		{"load, then another value", false, touch{thread: mine, reads: true, bytes: 8, value: 6}, []verdict{{loads, 0}}, true},
		{"load, then an addition", false, touch{thread: mine, reads: true, writes: true, bytes: 8, value: 6}, []verdict{{loads, 1}}, true},
		{"load, then my store of it", false, touch{thread: mine, writes: true, bytes: 8, value: 5}, nil, false},
		{"load, then my other store", false, touch{thread: mine, writes: true, bytes: 8, value: 6}, []verdict{{loads, 0}}, true},
		{"load, then a store elsewhere", false, touch{thread: other, writes: true, bytes: 8, value: 5}, []verdict{{loads, 0}}, true},
		{"load, then the system reads", false, touch{thread: mine, system: true, reads: true}, nil, false},
		{"load, then the system writes", false, touch{thread: mine, system: true, writes: true}, []verdict{{loads, 0}}, true},
	} {
		p := &point{watched: watched{bytes: 8}, value: 5, store: row.store, owner: mine, open: waste.Of(loads)}
		if row.store {
			p.open = stores
		}
		got, over := p.judge(&row.touch)
		if !slices.Equal(got, row.want) || over != row.over {
			t.Errorf("%s: %v, over %v; want %v, %v", row.name, got, over, row.want, row.over)
		}
	}
}

// TestReservoir: of all samples since a register was free, each is watched with the same
// probability.
func TestReservoir(t *testing.T) {
	const samples, rounds = 12, 60000
	rng := rand.New(rand.NewPCG(3, 4))
	for lent := range points {
		var kept [samples]int
		for range rounds {
			s := slots{lent: lent}
			var who [points]int
			for i := range samples {
				if slot := s.place(rng.IntN); slot >= 0 {
					s.points[slot], who[slot] = &point{}, i
				}
			}
			for _, i := range who[:points-lent] {
				kept[i]++
			}
		}
		want := float64(rounds) * float64(points-lent) / samples
		for i, n := range kept {
			if math.Abs(float64(n)-want) > 5*math.Sqrt(want) {
				t.Errorf("%d of the registers lent: sample %d is watched at the end %d times of %d, want %.0f", lent, i, n, rounds, want)
			}
		}
	}
}

// TestOverlap: which part of an access lies in a range.
func TestOverlap(t *testing.T) {
	a := access{addr: 100, bytes: 8}
	for _, row := range []struct {
		addr    uint64
		n       int
		from    uint64
		overlap int
	}{{100, 8, 100, 8}, {96, 8, 100, 4}, {104, 8, 104, 4}, {103, 2, 103, 2}, {90, 30, 100, 8}, {108, 8, 108, 0}, {92, 8, 100, 0}} {
		if p := a.part(row.addr, row.n); p.addr != row.from || p.bytes != row.overlap || a.overlap(row.addr, row.n) != row.overlap {
			t.Errorf("%d bytes at %d: %+v", row.n, row.addr, p)
		}
	}
}

// TestSums: of places whose samples mostly get lost, as many bytes count as of places whose samples
// are all decided.
func TestSums(t *testing.T) {
	s := newSums()
	for i := range 1000 {
		s.sampled(waste.DeadStore)
		s.decided(&decision{waste.DeadStore, 1, 10, 10, 11, 0, 8, 1, 1}) // soon repeated, always waste
		s.sampled(waste.DeadStore)
		if i%10 == 9 {
			s.decided(&decision{waste.DeadStore, 1, 20, 20, 20, 0, 8, 1, 0}) // late, seldom seen to its end
		} else {
			s.missed(waste.Of(waste.DeadStore), 1, 20, 8)
		}
	}
	s.missed(waste.Of(waste.DeadStore), 1, 30, 8000)
	got := s.result(waste.Of(waste.DeadStore))
	share := got.Kinds[waste.DeadStore]
	if share.Value() != 0.5 || share.Of != 16000 || share.Open != 8000 || share.Samples != 2000 || share.Decisions != 1100 {
		t.Errorf("%+v", share)
	}
	if len(got.Pairs) != 1 || got.Pairs[0].Bytes != 8000 || got.Pairs[0].Count != 1000 {
		t.Errorf("%+v", got.Pairs)
	}
	if got.Kinds[waste.SilentLoad].Looked {
		t.Error("nobody looked for silent loads")
	}
}

// TestThreadsOfSums: a decision speaks for samples that were lost at its place in all threads, as
// far as the run is concerned, and in its own thread alone as far as that is.
func TestThreadsOfSums(t *testing.T) {
	s, dead := newSums(), waste.DeadStore
	s.missed(waste.Of(dead), 1, 10, 16)
	s.missed(waste.Of(dead), 2, 10, 32)
	s.decided(&decision{dead, 1, 10, 10, 11, 0, 8, 1, 1})
	s.decided(&decision{dead, 2, 20, 20, 20, 0, 8, 1, 0})
	got := s.result(waste.Of(dead))
	for _, row := range []struct {
		name             string
		share            Share
		wasted, of, open float64
	}{
		{"run", got.Kinds[dead], 56, 64, 0},
		{"thread 1", got.Threads[1][dead], 24, 24, 0},
		{"thread 2", got.Threads[2][dead], 0, 8, 32},
	} {
		if x := row.share; x.Wasted != row.wasted || x.Of != row.of || x.Open != row.open {
			t.Errorf("%s: %+v", row.name, x)
		}
	}
	apart := got.Least(func(p Place) uint64 { return uint64(p) })
	together := got.Least(func(Place) uint64 { return 7 })
	if one, none, both := apart(dead, 10), apart(dead, 20), together(dead, 7); one <= both || both <= 0 ||
		none != 0 || apart(dead, 30) != 0 {
		t.Errorf("at least %v at one place, %v at the other, %v at both", one, none, both)
	}
	if len(got.Pairs) != 1 || got.Pairs[0].Thread != 1 || got.Pairs[0].Bytes != 56 {
		t.Errorf("%+v", got.Pairs)
	}
}

// BenchmarkLeast asks of 100,000 places, four of each instruction, what is known of their instructions.
func BenchmarkLeast(b *testing.B) {
	const places, paths = 100_000, 4
	s := newSums()
	for at := range Place(places) {
		s.decided(&decision{waste.SilentLoad, 1, at, at, at, 0, 8, 1, 1})
	}
	got := s.result(waste.Of(waste.SilentLoad))
	for b.Loop() {
		least := got.Least(func(p Place) uint64 { return uint64(p / paths) })
		for p := range uint64(places) {
			if least(waste.SilentLoad, p/paths) <= 0 {
				b.Fatal("an instruction of which something is known")
			}
		}
	}
}

// TestFixedPairs: one thread's single decision takes nothing off what the others show, in how many
// threads a pair is seen to be always at one address; nor is what was seen once at several.
func TestFixedPairs(t *testing.T) {
	for _, row := range []struct {
		name  string
		addrs [][]uint64 // of each thread's decisions
		fixed bool
		moved bool
	}{
		{"once", [][]uint64{{10}}, false, false},
		{"twice", [][]uint64{{10, 10}}, true, false},
		{"moved", [][]uint64{{10, 20}}, false, true},
		{"once each", [][]uint64{{10}, {20}}, false, false},
		{"twice in one thread", [][]uint64{{10}, {20, 20}, {30}}, true, false},
		{"moved in one thread", [][]uint64{{10, 10, 10}, {20, 30}}, false, true},
	} {
		s := newSums()
		for thread, list := range row.addrs {
			for _, addr := range list {
				s.decided(&decision{waste.SilentLoad, int32(thread), 1, 1, 1, addr, 8, 1, 1})
			}
		}
		got := s.result(waste.Of(waste.SilentLoad))
		if len(got.Pairs) != len(row.addrs) || slices.ContainsFunc(got.Pairs, func(p Pair) bool { return p.Fixed != row.fixed || p.Moved != row.moved }) {
			t.Errorf("%s: %+v", row.name, got.Pairs)
		}
	}
}

// TestJointly: bounds of several threads' shares hold for all of them in 95 of 100 runs.
func TestJointly(t *testing.T) {
	const runs, decisions, threads = 2000, 100, 8
	rng, quantile, held := rand.New(rand.NewPCG(7, 8)), jointly(threads), 0
	for range runs {
		all := true
		for range threads {
			wasted := 0.0
			for range decisions {
				if rng.Float64() < 0.3 {
					wasted++
				}
			}
			low, high := wilson(wasted/decisions, decisions, decisions, quantile)
			all = all && low <= 0.3 && 0.3 <= high
		}
		if all {
			held++
		}
	}
	if share := float64(held) / runs; share < 0.94 || share > 0.985 {
		t.Errorf("all %d held in %.3f of the runs", threads, share)
	}
	if one := jointly(1); math.Abs(one-normal95) > 1e-6 {
		t.Errorf("of one share: %v", one)
	}
}

// TestBudget: a part of a program whose samples are dear has as many ticks to its name, in the mean, as
// one of the same length whose samples are cheap, and its first ticks no more than any others; no more
// is spent than may be, but for what the first samples cost.
func TestBudget(t *testing.T) {
	const ticks, phase, share, period, runs = 4000, 100, 0.02, 0.005, 200
	rng := rand.New(rand.NewPCG(9, 10))
	for _, dear := range []float64{1, 4, 20} {
		var of [2]float64
		spent, early := 0.0, 0.0
		for range runs {
			b, own := budget{share: share}, 0.0
			for i := range ticks {
				part, p := i/phase%2, b.chance(period, float64(i+1)*period, own)
				if rng.Float64() >= p {
					continue
				}
				b.samples++
				own += 200e-6 * (1 + (dear-1)*float64(part))
				if of[part] += 1 / p; i < phase/10 {
					early += 1 / p
				}
			}
			spent += own
		}
		if math.Abs(of[1]/of[0]-1) > 0.05 || math.Abs(early/runs/(phase/10)-1) > 0.2 {
			t.Errorf("samples %v times as dear: %.0f ticks for %.0f; the first %d stand for %.1f", dear, of[1], of[0], phase/10, early/runs)
		}
		if may := share * ticks * period; spent/runs > 1.1*may {
			t.Errorf("samples %v times as dear: %.3f s spent of %.3f", dear, spent/runs, may)
		}
	}
}

// TestWilson: the interval holds the true share in 95 of 100 runs, with decisions of equal and of
// unlike weight, and knows nothing without any.
func TestWilson(t *testing.T) {
	if low, high := wilson(0, 0, 0, normal95); low != 0 || high != 1 {
		t.Errorf("nothing decided: %v to %v", low, high)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for _, truth := range []float64{0.02, 0.3, 0.5, 0.97} {
		for _, weights := range [][]float64{{1}, {1, 4}} {
			const runs, decisions = 4000, 150
			held := 0
			for range runs {
				var wasted, of, squares float64
				for range decisions {
					w := weights[rng.IntN(len(weights))]
					of, squares = of+w, squares+w*w
					if rng.Float64() < truth {
						wasted += w
					}
				}
				if low, high := wilson(wasted/of, of, squares, normal95); low <= truth && truth <= high {
					held++
				}
			}
			if share := float64(held) / runs; share < 0.93 || share > 0.985 {
				t.Errorf("truth %v, weights %v: held in %.3f of the runs", truth, weights, share)
			}
		}
	}
}

// TestNoRegisters: where all debug registers are taken, it is said that nothing can be watched.
func TestNoRegisters(t *testing.T) {
	if Supported() != nil {
		testenv.Skip(t, testenv.NoWatching)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for range perf.Slots {
		trap, err := perf.OpenWatch(unix.Gettid(), perf.Watchpoint{Addr: 4096, Bytes: 8}, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer trap.Close()
	}
	if err := Supported(); !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), "watchpoint") {
		t.Errorf("with all registers taken: %v", err)
	}
}
