package quick

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"lime/internal/waste"
)

// where the random programs' memory is: about a bound of chunks of shadow.
const where = 1 << waste.ChunkShift

// newPair is a detector with code, and one without.
func newPair(t *testing.T, kinds waste.Set, beside bool) (c *Code, fast, plain *waste.Detector) {
	t.Helper()
	var errs [3]error
	fast, errs[0] = waste.NewDetector(kinds)
	plain, errs[1] = waste.NewDetector(kinds)
	if beside {
		fast.Order.Beside, plain.Order.Beside = true, true
	}
	c, errs[2] = New(fast, waste.DefaultTolerance)
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return c, fast, plain
}

func closeAll(t *testing.T, c *Code, fast, plain *waste.Detector) {
	t.Helper()
	if err := errors.Join(c.Close(), fast.Err(), fast.Close(), plain.Err(), plain.Close()); err != nil {
		t.Error(err)
	}
}

// TestPass: passages of random blocks, taken at once, come to the same as access by access, for all
// sets of kinds. Values are real ones of a memory, floating-point numbers among them, so that some
// stores change nothing, and some little. Threads may run beside each other, in chunks that overlap.
func TestPass(t *testing.T) {
	disputed := uint64(0)
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 3))
		threads := 1 + r.IntN(2)
		kinds := waste.Set(1+r.IntN(int(waste.All))) &^ waste.Of(waste.FalseSharing)
		if kinds == 0 {
			continue
		}
		beside := seed%2 == 1
		c, fast, plain := newPair(t, kinds, beside)
		blocks := randomBlocks(r, 1+r.IntN(6))
		first := make([][]waste.Context, threads)
		stacks := make([]Stack, threads)
		for thread := range threads {
			stacks[thread] = NewStack(uint64(thread))
			for id, ops := range blocks {
				b := NewBlock(ops, Nothing)
				if err := c.Add(id, b); err != nil {
					t.Fatal(err)
				}
				first[thread] = append(first[thread], fast.Add(uint32(thread), b.Contexts))
				plain.Add(uint32(thread), b.Contexts)
			}
		}
		memory := map[uint64]uint64{}
		thread := 0
		for i := range 600 {
			if i == 0 || r.IntN(20) == 0 {
				thread = turn(r, thread, threads, i == 0, fast, plain)
			}
			fast.Run(uint32(thread))
			plain.Run(uint32(thread))
			if r.IntN(30) == 0 {
				at := uint64(where - 64 + r.IntN(128)&^7)
				fast.Push(at)
				plain.Forget(at, 8)
				continue
			}
			k := r.IntN(len(blocks))
			words := randomLog(r, blocks[k], memory)
			var log []uint64
			for range 1 + r.IntN(3) { // as in a loop
				log = append(append(log, uint64(k)), words...)
				oneByOne(plain, first[thread][k], blocks[k], words)
			}
			pass(t, c, &stacks[thread], append(log, ^uint64(0)), first[thread])
			if r.IntN(50) == 0 {
				if a, b := fast.Drain(uint32(thread)), plain.Drain(uint32(thread)); !reflect.DeepEqual(a, b) {
					t.Fatalf("seed %d: drained\n%v, want\n%v", seed, a, b)
				}
			}
		}
		if a, b := fast.Pairs(), plain.Pairs(); !reflect.DeepEqual(a, b) {
			t.Fatalf("seed %d: kinds %b: pairs\n%v, want\n%v", seed, kinds, a, b)
		}
		if a, b := fast.Order.Disputed, plain.Order.Disputed; a != b {
			t.Fatalf("seed %d: %d bytes disputed, want %d", seed, a, b)
		}
		disputed += fast.Order.Disputed
		if a, b := fast.Totals(), plain.Totals(); !reflect.DeepEqual(a, b) {
			t.Fatalf("seed %d: totals %v, want %v", seed, a, b)
		}
		closeAll(t, c, fast, plain)
	}
	if disputed == 0 {
		t.Error("nothing was disputed")
	}
}

// turn chooses which thread is next, and ends and begins chunks.
func turn(r *rand.Rand, thread, threads int, first bool, detectors ...*waste.Detector) int {
	next := r.IntN(threads)
	for _, d := range detectors {
		for k := range threads {
			switch {
			case first:
				d.Order.Begin(uint32(k))
			case k == thread:
				d.Order.End(uint32(k))
				d.Order.Begin(uint32(k))
			}
		}
	}
	return next
}

// TestCallAtEnd: of a call that is the last word of a log it is not known where it leads, whatever
// stands behind the log.
func TestCallAtEnd(t *testing.T) {
	c, fast, plain := newPair(t, waste.Of(waste.DeadStore), false)
	defer closeAll(t, c, fast, plain)
	const block, next, path, sp = 0, 1, 7, where
	if err := errors.Join(c.Add(block, NewBlock(nil, Call)), c.Add(next, NewBlock(nil, Nothing))); err != nil {
		t.Fatal(err)
	}
	fast.Run(0)
	fast.StoreAt(fast.Add(0, 2), sp, 8, false) // makes the shadow
	s := NewStack(path)
	s.Push(sp) // makes room
	s.Pop(sp)
	c.SetPlace(block, path, 1)
	for _, end := range []uint64{^uint64(0), next} {
		if why, at := c.Run(&s, []uint64{block, sp, end}, 0); why != Called || at != 0 || s.Path != path {
			t.Errorf("before %#x: reason %d at word %d, path %d", end, why, at, s.Path)
		}
		s.Pop(sp)
	}
}

// pass has the code take a log, to its end.
func pass(t *testing.T, c *Code, s *Stack, log []uint64, first []waste.Context) {
	t.Helper()
	for at := 0; ; {
		why, stop := c.Run(s, log, at)
		if at = stop; why == Unknown && at == len(log)-1 {
			return
		}
		if why != Place {
			t.Fatalf("stopped at word %d of %d: %d", at, len(log), why)
		}
		c.SetPlace(int(log[at]), s.Path, first[log[at]])
	}
}

// oneByOne tells of a passage access by access.
func oneByOne(d *waste.Detector, c waste.Context, ops []Op, log []uint64) {
	for k := range ops {
		o := &ops[k]
		switch n := int(o.Values); {
		case !o.Store:
			d.Load(c, log[0], int(o.Bytes))
		default:
			same := n > 0 && waste.Same(o.Elem, log[1:1+n], log[1+n:1+2*n], waste.DefaultTolerance)
			d.Store(c, log[0], int(o.Bytes), same)
		}
		log, c = log[o.words():], c+waste.Context(o.contexts())
	}
}

func randomBlocks(r *rand.Rand, n int) (blocks [][]Op) {
	sizes := []int32{1, 2, 4, 4, 8, 8, 8, 8, 16, 32, 3}
	for range n {
		var ops []Op
		for range 1 + r.IntN(4) {
			o := Op{Bytes: sizes[r.IntN(len(sizes))]}
			if r.IntN(2) == 0 {
				o.Store, o.Values = true, (o.Bytes+7)/8
				if o.Bytes%8 == 0 && r.IntN(2) == 0 {
					o.Elem = []waste.Elem{waste.Float64, waste.Float32}[r.IntN(2)]
				}
				if r.IntN(8) == 0 {
					o.Values = 0
				}
				if r.IntN(3) == 0 {
					ops = append(ops, Op{Part: true, Bytes: o.Bytes})
				}
			}
			ops = append(ops, o)
		}
		blocks = append(blocks, ops)
	}
	return blocks
}

// randomLog is what a passage leaves: its accesses lie on two pages, where these meet.
func randomLog(r *rand.Rand, ops []Op, memory map[uint64]uint64) (log []uint64) {
	for k := range ops {
		o := &ops[k]
		if o.Part {
			continue
		}
		addr := uint64(where - 64 + r.IntN(128))
		if r.IntN(8) > 0 {
			addr -= addr % uint64(max(o.Bytes&^3, 1))
		}
		log = append(log, addr)
		before, after := make([]uint64, o.Values), make([]uint64, o.Values)
		for w := range before {
			at := addr + uint64(8*w)
			before[w] = memory[at]
			after[w] = before[w]
			switch r.IntN(5) {
			case 0:
				after[w] = math.Float64bits(float64(r.IntN(3)) - 1)
			case 2:
				after[w] = math.Float64bits(numbers()[r.IntN(len(numbers()))])
			case 1:
				after[w] = math.Float64bits(math.Float64frombits(before[w]) * 1.001)
			}
			memory[at] = after[w]
		}
		log = append(append(log, before...), after...)
	}
	return log
}

// numbers are at the bounds of what is near, and such that are near to nothing.
func numbers() []float64 {
	return []float64{99, 100, 101, -100, math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1), 5e-324,
		math.MaxFloat64}
}
