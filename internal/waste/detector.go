package waste

// Context is a place in the program as one thread reached it by one call path. The collector
// numbers them, from 1 on, by Detector.Add.
type Context uint32

// Detector is the exhaustive form: every access is told to it, in the order in which they happen.
type Detector struct {
	kinds     Set
	quick     uint8 // what the quick forms have to keep
	pages     map[uint64]*page
	recent    [recentPages]recentPage
	thread    uint32              // whose accesses are told now
	sites     []site              // by Context
	recurring [][Kinds]recurrence // by Context
	spare     spares              // of cells
	index     pairs               // what was found
	dirty     [][]Site            // by thread: sites with something in since
	totals    []Total             // by thread
	Sample    func(pair int, second Context, addr uint64)
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

// NewDetector looks for some kinds of waste.
func NewDetector(kinds Set) *Detector {
	return &Detector{kinds: kinds, quick: quickOf(kinds), pages: map[uint64]*page{}, sites: make([]site, 1),
		recurring: make([][Kinds]recurrence, 1), spare: spares{quads: make([]quad, 1)}}
}

// Add makes n contexts of a thread, and returns the first.
func (d *Detector) Add(thread uint32, n int) Context {
	first := Context(len(d.sites))
	for range n {
		d.sites = append(d.sites, site{thread: thread})
		d.recurring = append(d.recurring, [Kinds]recurrence{})
	}
	d.grow(thread)
	return first
}

func (d *Detector) grow(thread uint32) {
	for len(d.totals) <= int(thread) {
		d.totals, d.dirty = append(d.totals, Total{}), append(d.dirty, nil)
	}
}

// Run says whose accesses follow.
func (d *Detector) Run(thread uint32) {
	if thread != d.thread {
		d.thread, d.recent = thread, [recentPages]recentPage{}
	}
	d.grow(thread)
}

// Load tells of a load of n bytes.
func (d *Detector) Load(c Context, addr uint64, n int) {
	d.totals[d.thread].Loaded += uint64(n)
	d.slowLoad(c, addr, n)
}

func (d *Detector) slowLoad(c Context, addr uint64, n int) {
	if d.kinds.Has(FalseSharing) {
		d.line(c, addr, n, false)
		d.index.flush(d, c)
	}
	if whole(addr, n) && d.loadWords(c, addr, uint32(n)/cellBytes) {
		return
	}
	silent := d.kinds.Has(SilentLoad) && d.loadedBefore(addr, n)
	d.parts(addr, n, func(p *recentPage, lo, hi uint32) { d.load(p, c, lo, hi, silent) })
	d.index.flush(d, c)
}

// Store tells of a store of n bytes; same: it has changed nothing.
func (d *Detector) Store(c Context, addr uint64, n int, same bool) {
	d.totals[d.thread].Stored += uint64(n)
	d.slowStore(c, addr, n, same)
}

func (d *Detector) slowStore(c Context, addr uint64, n int, same bool) {
	if d.kinds.Has(FalseSharing) {
		d.line(c, addr, n, true)
		d.index.flush(d, c)
	}
	if whole(addr, n) && d.storeWords(c, addr, uint32(n)/cellBytes, same) {
		return
	}
	d.parts(addr, n, func(p *recentPage, lo, hi uint32) { d.store(p, c, lo, hi, same) })
	d.index.flush(d, c)
}

// Read says that the system has read n bytes.
func (d *Detector) Read(addr, n uint64) {
	d.known(addr, n, func(p *page, lo, hi uint32) {
		p.stores.each(&d.spare, lo, hi, func(c uint32) uint32 { return c | read })
	})
}

// Forget says that n bytes are new, or were written by somebody who is no thread of the program.
func (d *Detector) Forget(addr, n uint64) {
	d.known(addr, n, func(p *page, lo, hi uint32) { p.forget(&d.spare, lo, hi) })
}

// Push tells of a call's store of a return address.
func (d *Detector) Push(addr uint64) {
	r := &d.recent[addr>>pageShift%recentPages]
	if addr%8 == 0 && r.number == addr>>pageShift+1 && !r.shared {
		i := addr % pageBytes / cellBytes
		if r.stores[i]|r.stores[i+1] < mixed && (r.loads == nil || r.loads[i]|r.loads[i+1] < mixed) {
			r.stores[i], r.stores[i+1] = 0, 0
			if r.loads != nil {
				r.loads[i], r.loads[i+1] = 0, 0
			}
			return
		}
	}
	d.Forget(addr, 8)
}

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
	out := d.dirty[thread]
	for i := range out {
		s := &d.sites[out[i].Context]
		d.settle(out[i].Kind, out[i].Context)
		out[i].N, s.since[out[i].Kind] = uint64(s.since[out[i].Kind]), 0
	}
	d.dirty[thread] = nil
	return out
}
