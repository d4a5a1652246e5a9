package waste

import (
	"errors"
	"unsafe"
)

// Context is a place in the program as one thread reached it by one call path. The collector
// numbers them, from 1 on, by Detector.Add.
type Context uint32

// Detector is the exhaustive form: every access is told to it, in the order in which they happen.
type Detector struct {
	kinds  Set
	memory memory
	stores *table
	loads  []*table // by thread
	fresh  uint32   // how a store marks its cell
	lines  map[uint64]*[linesOfPage]line
	thread uint32 // whose accesses are told now
	Order  Order
	sites  []site // by Context
	counters
	index  pairs    // what was found
	dirty  [][]Site // by thread: sites with something in since
	totals []Total  // by thread
	err    error
	Sample func(pair int, second Context, addr uint64)
}

// counters are what is counted and not summed up yet.
type counters struct {
	records []record // by Context
	spilled []spilled
	spills  []int32 // places in it that are taken, or were
}

// Total is what a thread stored and loaded, and the bytes of it that were wasted, by kind.
type Total struct {
	Stored, Loaded uint64
	Wasted         [Kinds]uint64
}

// Of is the bytes that the fraction of a kind is of.
func (t *Total) Of(k Kind) uint64 {
	switch k {
	case DeadStore, SilentStore:
		return t.Stored
	case SilentLoad:
		return t.Loaded
	}
	return t.Stored + t.Loaded
}

// Add adds what another thread has.
func (t *Total) Add(o *Total) {
	t.Stored += o.Stored
	t.Loaded += o.Loaded
	for k := range t.Wasted {
		t.Wasted[k] += o.Wasted[k]
	}
}

// site is what is known of a context.
type site struct {
	thread uint32
	recent [Kinds]int32  // 1 + the pair that was found here last
	since  [Kinds]uint32 // accesses of it that were found since Drain
}

// Site is how often a kind was found at a context.
type Site struct {
	Context Context
	Kind    Kind
	N       uint64
}

// NewDetector looks for some kinds of waste. Close gives its memory back.
func NewDetector(kinds Set) (*Detector, error) {
	d := &Detector{kinds: kinds, lines: map[uint64]*[linesOfPage]line{}, sites: make([]site, 1)}
	if kinds.Has(DeadStore) {
		d.fresh = Fresh
	}
	var err error
	if d.stores, err = d.memory.newTable(true); err != nil {
		return nil, err
	}
	records, err := d.memory.take(maxContexts * int(RecordSize))
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	d.records = unsafe.Slice((*record)(records), maxContexts)
	spills, err := d.memory.take(int(SpillSize) << SpillShift)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	d.spilled = unsafe.Slice((*spilled)(spills), 1<<SpillShift)
	return d, nil
}

// Close gives the memory back.
func (d *Detector) Close() error { return d.memory.free() }

// Err is why the detector has stopped to look.
func (d *Detector) Err() error { return d.err }

// Add makes n contexts of a thread, and returns the first.
func (d *Detector) Add(thread uint32, n int) Context {
	first := Context(len(d.sites))
	for range n {
		c := len(d.sites)
		d.sites = append(d.sites, site{thread: thread})
		d.records[c].me = uint64(c) * Twice
	}
	d.grow(thread)
	return first
}

// Run says whose accesses follow.
func (d *Detector) Run(thread uint32) {
	d.thread = thread
	d.Order.run(thread)
	d.grow(thread)
}

func (d *Detector) grow(thread uint32) {
	for len(d.totals) <= int(thread) {
		d.totals, d.dirty, d.loads = append(d.totals, Total{}), append(d.dirty, nil), append(d.loads, nil)
	}
	if d.kinds&loadKinds != 0 && d.loads[thread] == nil && d.err == nil {
		d.loads[thread], d.err = d.memory.newTable(false)
	}
}

// View is what code that works on the shadow itself has to know: where the tables of the running
// thread are, in which an address has the Chunk of its number, its bits from ChunkShift on, and the
// records of contexts, RecordSize bytes each. No loads: none are kept.
type View struct {
	Stores, Loads, Records unsafe.Pointer
	Spills                 unsafe.Pointer // pairs without room in their record, SpillSize bytes each
	Tag                    uint16         // of a line on which this thread alone has loads
	// where threads run beside each other: how the word of a line looks that this thread has loaded
	// from in its chunk, or several have, and below what are the words of chunks before
	Touch, Together, Low uint64
}

// View returns it; it is good until another thread runs.
func (d *Detector) View() View {
	v := View{Stores: unsafe.Pointer(&d.stores.rows[0]), Records: unsafe.Pointer(&d.records[0]),
		Spills: unsafe.Pointer(&d.spilled[0]), Tag: tagOf(d.thread)}
	v.Touch, v.Low = touchOf(d.Order.running.begin, d.thread), d.Order.low<<chunkShift
	v.Together = v.Touch | together
	if t := d.loads[d.thread]; t != nil {
		v.Loads = unsafe.Pointer(&t.rows[0])
	}
	return v
}

// Count adds bytes of the running thread, the accesses of which are told by LoadAt and StoreAt.
func (d *Detector) Count(loaded, stored uint64) {
	d.totals[d.thread].Loaded += loaded
	d.totals[d.thread].Stored += stored
}

// Kinds are those that are looked for.
func (d *Detector) Kinds() Set { return d.kinds }

// Kinds by what they need.
const (
	storeKinds = 1<<DeadStore | 1<<SilentStore
	loadKinds  = 1 << SilentLoad
)

// Totals are what each thread did.
func (d *Detector) Totals() []Total {
	d.settleAll()
	return d.totals
}

// Pairs are all pairs that were found, in the order in which they were.
func (d *Detector) Pairs() []Pair {
	d.settleAll()
	return d.index.list
}

// Drain tells what a thread has wasted since it was asked last, and where.
func (d *Detector) Drain(thread uint32) []Site {
	if int(thread) >= len(d.dirty) {
		return nil
	}
	d.unspillAll()
	out := d.dirty[thread]
	for i := range out {
		s := &d.sites[out[i].Context]
		d.settle(out[i].Kind, out[i].Context)
		out[i].N, s.since[out[i].Kind] = uint64(s.since[out[i].Kind]), 0
	}
	d.dirty[thread] = nil
	return out
}
