package waste

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
)

// pairKey names a pair of the reference.
type pairKey struct {
	kind          Kind
	first, second Context
}

// op is one access, or what the system does, of a random program.
type op struct {
	what    uint8 // see run
	thread  uint32
	context Context
	addr    uint64
	n       int
	same    bool
}

const (
	opLoad = iota
	opStore
	opRead
	opForget
	opPush
	ops
)

// reference is the definitions of the package's comment, byte by byte.
type reference struct {
	thread map[Context]uint32
	stored map[uint64]Context // last to store
	loaded map[uint64]bool    // since
	last   map[uint32]map[uint64]Context
	lines  map[uint64]*refLine
	pairs  map[pairKey][2]uint64
	totals map[uint32]*Total
}

// refLine is the whole history of a line.
type refLine struct {
	touched map[uint32]map[uint64]bool
	writer  Context
	since   map[uint32]bool // threads that have touched it since another stored to it
}

func newReference() *reference {
	return &reference{map[Context]uint32{}, map[uint64]Context{}, map[uint64]bool{}, map[uint32]map[uint64]Context{},
		map[uint64]*refLine{}, map[pairKey][2]uint64{}, map[uint32]*Total{}}
}

// found counts runs of bytes of one access: a pair counts once for an access.
func (r *reference) found(o *op, got map[pairKey]uint64) {
	for k, n := range got {
		p := r.pairs[k]
		r.pairs[k] = [2]uint64{p[0] + n, p[1] + 1}
		r.total(o.thread).Wasted[k.kind] += n
	}
}

func (r *reference) total(thread uint32) *Total {
	if r.totals[thread] == nil {
		r.totals[thread] = &Total{}
	}
	return r.totals[thread]
}

func (r *reference) run(o *op) {
	got := map[pairKey]uint64{}
	if o.what == opLoad || o.what == opStore {
		r.sharing(o, got)
	}
	if r.last[o.thread] == nil {
		r.last[o.thread] = map[uint64]Context{}
	}
	mine, all := r.last[o.thread], true
	for i := range uint64(o.n) {
		all = all && mine[o.addr+i] != 0
	}
	for i := range uint64(o.n) {
		a := o.addr + i
		switch o.what {
		case opLoad:
			if all {
				got[pairKey{SilentLoad, mine[a], o.context}]++
			}
			mine[a], r.loaded[a] = o.context, true
		case opStore:
			if f := r.stored[a]; f != 0 && r.thread[f] == o.thread {
				if !r.loaded[a] {
					got[pairKey{DeadStore, f, o.context}]++
				}
				if o.same {
					got[pairKey{SilentStore, f, o.context}]++
				}
			}
			r.stored[a], r.loaded[a] = o.context, false
			if !o.same {
				r.changed(a)
			}
		case opRead:
			r.loaded[a] = true
		case opForget, opPush:
			delete(r.stored, a)
			r.changed(a)
		}
	}
	switch o.what {
	case opLoad:
		r.total(o.thread).Loaded += uint64(o.n)
	case opStore:
		r.total(o.thread).Stored += uint64(o.n)
	}
	r.found(o, got)
}

func (r *reference) changed(a uint64) {
	for _, last := range r.last {
		delete(last, a)
	}
}

func (r *reference) sharing(o *op, got map[pairKey]uint64) {
	for i := range uint64(o.n) {
		a := o.addr + i
		if i > 0 && a%lineBytes != 0 {
			continue
		}
		l := r.lines[a/lineBytes]
		if l == nil {
			l = &refLine{touched: map[uint32]map[uint64]bool{}, since: map[uint32]bool{}}
			r.lines[a/lineBytes] = l
		}
		if l.touched[o.thread] == nil {
			l.touched[o.thread] = map[uint64]bool{}
		}
		n := uint64(0)
		for b := a; b < o.addr+uint64(o.n) && b/lineBytes == a/lineBytes; b++ {
			l.touched[o.thread][b] = true
			n++
		}
		w := r.thread[l.writer]
		if l.writer != 0 && w != o.thread && !l.since[o.thread] {
			both := false
			for b := range l.touched[o.thread] {
				both = both || l.touched[w][b]
			}
			if !both {
				got[pairKey{FalseSharing, l.writer, o.context}] += n
			}
		}
		l.since[o.thread] = true
		if o.what == opStore {
			if l.writer == 0 || w != o.thread {
				l.since = map[uint32]bool{o.thread: true}
			}
			l.writer = o.context
		}
	}
}

// randomProgram makes n operations of some threads with some contexts each.
func randomProgram(r *rand.Rand, n, threads, contexts int) (program []op, of map[Context]uint32) {
	of = map[Context]uint32{}
	for t := range threads {
		for c := range contexts {
			of[Context(1+t*contexts+c)] = uint32(t)
		}
	}
	sizes := []int{1, 2, 4, 4, 8, 8, 8, 16, 32, 64, 10, 300}
	const base = 1<<ChunkShift - 128
	thread := uint32(0)
	for range n {
		if r.IntN(4) == 0 {
			thread = uint32(r.IntN(threads))
		}
		o := op{what: opLoad, thread: thread, n: sizes[r.IntN(len(sizes))], same: r.IntN(3) == 0}
		switch x := r.IntN(40); {
		case x < 18:
			o.what = opStore
		case x == 38:
			o.what = opRead + uint8(r.IntN(3))
		}
		if o.what == opPush {
			o.n = 8
		}
		o.addr = base + uint64(r.IntN(256))
		if r.IntN(4) > 0 {
			o.addr = o.addr &^ 7
		}
		o.context = Context(1 + int(thread)*contexts + r.IntN(contexts))
		program = append(program, o)
	}
	return program, of
}

func (d *Detector) tell(o *op) {
	d.Run(o.thread)
	switch o.what {
	case opLoad:
		d.Load(o.context, o.addr, o.n)
	case opStore:
		d.Store(o.context, o.addr, o.n, o.same)
	case opRead:
		d.Read(o.addr, uint64(o.n))
	case opForget:
		d.Forget(o.addr, uint64(o.n))
	case opPush:
		d.Push(o.addr)
	}
}

// TestDetector holds the detector to the reference, with random programs.
func TestDetector(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		threads, contexts := 1+r.IntN(3), 1+r.IntN(4)
		program, of := randomProgram(r, 400, threads, contexts)
		d, ref := newDetector(t, All), newReference()
		ref.thread = of
		for t := range threads {
			d.Add(uint32(t), contexts)
		}
		for i := range program {
			d.tell(&program[i])
			ref.run(&program[i])
		}
		got := map[pairKey][2]uint64{}
		for _, p := range d.Pairs() {
			got[pairKey{p.Kind, p.First, p.Second}] = [2]uint64{p.Bytes, p.Count}
		}
		if !reflect.DeepEqual(got, ref.pairs) {
			t.Fatalf("seed %d: pairs\n%v\nwant\n%v", seed, got, ref.pairs)
		}
		for thread, total := range d.Totals() {
			if want := ref.total(uint32(thread)); total != *want {
				t.Errorf("seed %d, thread %d: total %+v, want %+v", seed, thread, total, *want)
			}
		}
	}
}

// Looking for one kind alone finds of it what looking for all does.
func TestDetectorKinds(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	program, _ := randomProgram(r, 5000, 3, 4)
	all := detect(t, program, All, 3, 4)
	for k := range Kinds {
		want := map[string]uint64{}
		for _, p := range all.Pairs() {
			if p.Kind == k {
				want[fmt.Sprint(p.First, p.Second)] = p.Bytes
			}
		}
		got := map[string]uint64{}
		for _, p := range detect(t, program, Of(k), 3, 4).Pairs() {
			got[fmt.Sprint(p.First, p.Second)] += p.Bytes
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%v alone: %v, want %v", k, got, want)
		}
	}
}

// newDetector is a detector for the time of a test.
func newDetector(t testing.TB, kinds Set) *Detector {
	t.Helper()
	d, err := NewDetector(kinds)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(d.Err(), d.Close()); err != nil {
			t.Error(err)
		}
	})
	return d
}

func detect(t *testing.T, program []op, kinds Set, threads, contexts int) *Detector {
	d := newDetector(t, kinds)
	for t := range threads {
		d.Add(uint32(t), contexts)
	}
	for i := range program {
		d.tell(&program[i])
	}
	return d
}

// Drain tells of every access that was found once, at the thread's own contexts.
func TestDrain(t *testing.T) {
	d := newDetector(t, Of(DeadStore, SilentStore))
	c := d.Add(0, 2)
	d.Run(0)
	for range 5 {
		d.Store(c, 64, 8, true)
	}
	want := []Site{{c, DeadStore, 4}, {c, SilentStore, 4}}
	if got := d.Drain(0); !reflect.DeepEqual(got, want) {
		t.Errorf("drained %v, want %v", got, want)
	}
	if got := d.Drain(0); got != nil {
		t.Errorf("drained %v again", got)
	}
	d.Store(c+1, 64, 8, false)
	if got := d.Drain(0); !reflect.DeepEqual(got, []Site{{c + 1, DeadStore, 1}}) {
		t.Errorf("drained %v", got)
	}
}

func TestSame(t *testing.T) {
	f64 := func(words ...uint64) []uint64 { return words }
	for _, row := range []struct {
		name          string
		e             Elem
		before, after []uint64
		tolerance     float64
		want          bool
	}{
		{"integers, equal", Bytes, f64(1, 2), f64(1, 2), 0.01, true},
		{"integers, near", Bytes, f64(1000), f64(1001), 0.01, false},
		{"1 and 1.009", Float64, f64(0x3ff0000000000000), f64(0x3ff024dd2f1a9fbe), 0.01, true},
		{"1 and 1.009, exact", Float64, f64(0x3ff0000000000000), f64(0x3ff024dd2f1a9fbe), 0, false},
		{"1 and 1.1", Float64, f64(0x3ff0000000000000), f64(0x3ff199999999999a), 0.01, false},
		{"1 and -1", Float64, f64(0x3ff0000000000000), f64(0xbff0000000000000), 0.01, false},
		{"infinity and 1", Float64, f64(0x7ff0000000000000), f64(0x3ff0000000000000), 0.01, false},
		{"NaN and itself", Float64, f64(0x7ff8000000000000), f64(0x7ff8000000000000), 0.01, true},
		{"NaN and another", Float64, f64(0x7ff8000000000000), f64(0x7ff8000000000001), 0.01, false},
		{"float32, halves", Float32, f64(0x3f8000003f800000), f64(0x3f8000003f810000), 0.01, true},
		{"float32, one half differs", Float32, f64(0x3f8000003f800000), f64(0x400000003f810000), 0.01, false},
		{"80 bits", Float80, f64(1<<63, 0x3fff), f64(1<<63+1<<50, 0x3fff), 0.01, true},
		{"80 bits, exponents", Float80, f64(1<<63, 0x3fff), f64(1<<63, 0x4000), 0.01, false},
	} {
		if got := Same(row.e, row.before, row.after, row.tolerance); got != row.want {
			t.Errorf("%s: %v", row.name, got)
		}
	}
}

func TestParseSet(t *testing.T) {
	for list, want := range map[string]Set{"": All, "all": All, "dead": Of(DeadStore),
		"dead,loads": Of(DeadStore, SilentLoad), "silent-store": Of(SilentStore)} {
		if got, err := ParseSet(list); err != nil || got != want {
			t.Errorf("%q: %b, %v, want %b", list, got, err, want)
		}
	}
	if _, err := ParseSet("dead,alive"); err == nil {
		t.Error("alive is no kind")
	}
}

func BenchmarkDetector(b *testing.B) {
	for _, kinds := range []Set{Of(DeadStore), Of(DeadStore, SilentStore), Of(SilentLoad), Of(DeadStore, SilentStore, SilentLoad)} {
		b.Run(fmt.Sprint(kinds), func(b *testing.B) {
			d := newDetector(b, kinds)
			c := d.Add(0, 8)
			d.Run(0)
			for i := range b.N {
				a := uint64(i) * 8 % (1 << 20)
				d.Load(c, a, 8)
				d.Store(c+1, a, 8, false)
			}
		})
	}
}
