package sim

import (
	"math/rand/v2"
	"testing"
)

// The blocks that are found are those of a plain list, whatever was handed out and taken back
// before.
func TestHeapFinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	h, plain := newHeap(), map[uint64]block{}
	next := uint64(0x10000)
	var addrs []uint64
	for i := range 3000 {
		if len(addrs) > 0 && rng.IntN(3) == 0 {
			k := rng.IntN(len(addrs))
			h.drop(addrs[k])
			delete(plain, addrs[k])
			addrs[k] = addrs[len(addrs)-1]
			addrs = addrs[:len(addrs)-1]
			continue
		}
		size := []uint64{8, 24, 100, 4000, 4096, 9000, 1 << 21}[rng.IntN(7)]
		b := block{next, size, uint64(i)}
		next += (size+blockAlign)&^(blockAlign-1) + uint64(rng.IntN(3))*blockAlign
		h.keep(b)
		plain[b.addr] = b
		addrs = append(addrs, b.addr)
	}
	for range 20000 {
		addr := uint64(0x10000) + rng.Uint64N(next-0x10000)
		var want block
		for _, b := range plain {
			if addr >= b.addr && addr < b.addr+b.size {
				want = b
			}
		}
		if got, ok := h.find(addr); got != want || ok != (want.size > 0) {
			t.Fatalf("%#x: found %+v, %v, want %+v", addr, got, ok, want)
		}
	}
}

// A block inside of an arena is found before the arena.
func TestHeapArena(t *testing.T) {
	h := newHeap()
	h.keep(block{0x100000, 64 << 20, 1})
	h.keep(block{0x100040, 32, 2})
	h.keep(block{0x102000, 5000, 3})
	for addr, want := range map[uint64]uint64{0x100050: 2, 0x100070: 1, 0x102100: 3, 0x104000: 1, 0x3000000: 1} {
		if b, ok := h.find(addr); !ok || b.site != want {
			t.Errorf("%#x is of %d, want %d", addr, b.site, want)
		}
	}
	if b, ok := h.find(0x5000000); ok {
		t.Errorf("behind the arena: %+v", b)
	}
}

func TestDataWords(t *testing.T) {
	symbol := place{kind: placeSymbol, name: "counter"}
	heap, stack := place{kind: placeHeap, site: 0x401196}, place{kind: placeStack, owner: 3}
	for _, tt := range []struct {
		add  []place
		offs []uint64
		want string
	}{
		{[]place{symbol}, []uint64{8}, "counter+0x8"},
		{[]place{symbol, symbol}, []uint64{24, 8}, "counter+0x8 to +0x18"},
		{[]place{heap, symbol, heap}, []uint64{0, 0, 0}, "memory allocated at 0x401196 and counter+0x0"},
		{[]place{stack}, []uint64{0}, "the stack of thread 3"},
		{[]place{{kind: placeTLS, owner: ownThread}}, []uint64{0}, "the thread's own thread-local data"},
		{[]place{{}, {}, symbol}, []uint64{0, 0, 0}, ""}, // mostly unknown
	} {
		var v votes
		for i, p := range tt.add {
			v.add(p, tt.offs[i])
		}
		if got := v.words(); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.add, got, tt.want)
		}
	}
}
