package waste

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// turnOf is an access in a chunk of its thread.
type turnOf struct {
	op
	chunk int
}

// schedule runs chunks of random accesses of threads beside each other: in the order in which the
// chunks end.
func schedule(r *rand.Rand, threads, chunks int, access func(thread uint32) op) (list []turnOf, spans []chunk) {
	open := make([]int, threads)
	clock := uint64(0)
	begin := func(thread int) {
		clock++
		open[thread] = len(spans)
		spans = append(spans, chunk{begin: clock})
	}
	for k := range threads {
		begin(k)
	}
	for range chunks {
		k := r.IntN(threads)
		for range 1 + r.IntN(3) {
			list = append(list, turnOf{access(uint32(k)), open[k]})
		}
		clock++
		spans[open[k]].end = clock
		begin(k)
	}
	return list, spans
}

// tellBeside has a detector take a schedule, and returns it.
func tellBeside(t *testing.T, list []turnOf, spans []chunk, threads, contexts int) *Detector {
	d := newDetector(t, All&^Of(FalseSharing))
	d.Order.Beside = true
	for k := range threads {
		d.Add(uint32(k), contexts)
		d.Order.Begin(uint32(k))
	}
	for i := range list {
		d.tell(&list[i].op)
		if i+1 == len(list) || list[i+1].chunk != list[i].chunk {
			d.Order.End(list[i].thread)
			d.Order.Begin(list[i].thread)
		}
	}
	return d
}

// clash reports whether two accesses touch a line in chunks that overlap, and one stores.
func clash(a, b *turnOf, spans []chunk) bool {
	x, y := spans[a.chunk], spans[b.chunk]
	return a.thread != b.thread && a.addr/lineBytes == b.addr/lineBytes && (a.what == opStore || b.what == opStore) &&
		(y.end == 0 || x.begin < y.end) && (x.end == 0 || y.begin < x.end)
}

// TestDisputes: with two threads every line is disputed on which accesses clash, by all that has
// happened there; and one that several load, which is then stored to, may be though none do.
func TestDisputes(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 15))
		list, spans := schedule(r, 2, 12, func(thread uint32) op {
			return op{what: uint8(r.IntN(2)), thread: thread, context: 1 + Context(thread)*2, addr: uint64(lineBytes * r.IntN(4)), n: 8}
		})
		d := tellBeside(t, list, spans, 2, 2)
		want, got, both := map[uint64]bool{}, map[uint64]bool{}, map[uint64]bool{}
		for i := range list {
			for k := range i {
				want[list[i].addr] = want[list[i].addr] || clash(&list[i], &list[k], spans)
				both[list[i].addr] = both[list[i].addr] || list[i].what == opLoad && list[k].what == opLoad &&
					list[i].addr == list[k].addr && list[i].thread != list[k].thread
			}
		}
		for at := uint64(0); at < 4*lineBytes; at += lineBytes {
			c := d.stores.at(at)
			if got[at] = c.Cells != 0 && *c.touch(at) == disputed; got[at] != want[at] && (want[at] || !both[at]) {
				t.Fatalf("seed %d: disputed %v, want %v", seed, got, want)
			}
		}
	}
}

// TestBesideAlike: threads that share what they load, and store to lines of their own, find the same
// beside each other as by turns; nothing is disputed.
func TestBesideAlike(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 16))
		const threads, contexts = 4, 3
		list, spans := schedule(r, threads, 200, func(thread uint32) op {
			o := op{what: opLoad, thread: thread, context: 1 + Context(thread)*contexts + Context(r.IntN(contexts)),
				addr: uint64(r.IntN(lineBytes - 3)), n: 4, same: r.IntN(2) == 0}
			if o.what = uint8(r.IntN(2)); o.what == opStore || r.IntN(2) == 0 {
				o.addr += lineBytes * uint64(1+thread)
			}
			return o
		})
		byTurns := make([]op, len(list))
		for i := range list {
			byTurns[i] = list[i].op
		}
		got, want := tellBeside(t, list, spans, threads, contexts), detect(t, byTurns, All&^Of(FalseSharing), threads, contexts)
		if got.Order.Disputed != 0 || !reflect.DeepEqual(got.Pairs(), want.Pairs()) || !reflect.DeepEqual(got.Totals(), want.Totals()) {
			t.Fatalf("seed %d: %d bytes disputed; pairs\n%v, want\n%v", seed, got.Order.Disputed, got.Pairs(), want.Pairs())
		}
	}
}
