package waste

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// TestPass: passages of random blocks, taken at once, come to the same as access by access, for all
// sets of kinds. Values are real ones of a memory, floating-point numbers among them, so that some
// stores change nothing, and some little.
func TestPass(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 3))
		threads := 1 + r.IntN(2)
		kinds := Set(1 + r.IntN(int(All)))
		if r.IntN(4) > 0 {
			kinds &^= Of(FalseSharing)
		}
		fast, plain := NewDetector(kinds), NewDetector(kinds)
		blocks := randomBlocks(r, 1+r.IntN(6))
		first := make([][]Context, threads)
		for thread := range threads {
			for _, b := range blocks {
				n := NewBody(b).Contexts
				first[thread] = append(first[thread], fast.Add(uint32(thread), n))
				plain.Add(uint32(thread), n)
			}
		}
		memory := map[uint64]uint64{}
		thread := 0
		for range 600 {
			if r.IntN(20) == 0 {
				thread = r.IntN(threads)
			}
			fast.Run(uint32(thread))
			plain.Run(uint32(thread))
			if r.IntN(30) == 0 {
				at := uint64(pageBytes - 64 + r.IntN(128)&^7)
				fast.Push(at)
				plain.Forget(at, 8)
				continue
			}
			k := r.IntN(len(blocks))
			log := randomLog(r, blocks[k], memory)
			body := NewBody(blocks[k])
			for range 1 + r.IntN(3) { // as in a loop
				if n := fast.Pass(first[thread][k], &body, log, DefaultTolerance); n != len(log) {
					t.Fatalf("seed %d: took %d words of %d", seed, n, len(log))
				}
				oneByOne(plain, first[thread][k], blocks[k], log)
			}
			if r.IntN(50) == 0 {
				if a, b := fast.Drain(uint32(thread)), plain.Drain(uint32(thread)); !reflect.DeepEqual(a, b) {
					t.Fatalf("seed %d: drained\n%v, want\n%v", seed, a, b)
				}
			}
		}
		if a, b := fast.Pairs(), plain.Pairs(); !reflect.DeepEqual(a, b) {
			t.Fatalf("seed %d: kinds %b: pairs\n%v, want\n%v", seed, kinds, a, b)
		}
		if a, b := fast.Totals(), plain.Totals(); !reflect.DeepEqual(a, b) {
			t.Fatalf("seed %d: totals %v, want %v", seed, a, b)
		}
	}
}

// oneByOne tells of a passage access by access.
func oneByOne(d *Detector, c Context, ops []Op, log []uint64) {
	for k := range ops {
		o := &ops[k]
		switch n := int(o.Values); {
		case !o.Store:
			d.Load(c, log[0], int(o.Bytes))
		default:
			d.Store(c, log[0], int(o.Bytes), n > 0 && Same(o.Elem, log[1:1+n], log[1+n:1+2*n], DefaultTolerance))
		}
		log, c = log[o.words():], c+o.contexts()
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
					o.Elem = []Elem{Float64, Float32}[r.IntN(2)]
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
		addr := uint64(pageBytes - 64 + r.IntN(128))
		if r.IntN(8) > 0 {
			addr -= addr % uint64(max(o.Bytes&^3, 1))
		}
		log = append(log, addr)
		before, after := make([]uint64, o.Values), make([]uint64, o.Values)
		for w := range before {
			at := addr + uint64(8*w)
			before[w] = memory[at]
			after[w] = before[w]
			switch r.IntN(4) {
			case 0:
				after[w] = math.Float64bits(float64(r.IntN(3)) - 1)
			case 1:
				after[w] = math.Float64bits(math.Float64frombits(before[w]) * 1.001)
			}
			memory[at] = after[w]
		}
		log = append(append(log, before...), after...)
	}
	return log
}
