package ledger

import (
	"gonum.org/v1/gonum/floats"

	"lime/internal/profile"
)

// class says what a charge is about, and what its id means.
type class uint8

const (
	classDecision    class  = iota // id = node
	classBroken                    // id = node
	classTasks                     // id = node
	classEntry                     // id = node
	classVisits                    // id = node
	classPrice                     // id = node
	classEvent                     // id = event
	classLock                      // no id
	classOff                       // no id
	classUnaccounted               // no id
	classes          = iota        // their number
)

// charge is what one place is charged with in one instance: for every part, its time beyond the
// mean.
type charge struct {
	class class
	id    int32
	dev   []float64
}

// result is the account of one instance.
type result struct {
	flow    *flow
	values  values
	times   []float64 // by part
	last    int       // part with the longest time
	mean    float64
	charges []charge
	passed  []charge    // what charges have passed on
	runtime []float64   // by part: time in the blocks of a runtime, nil if it is not known which they are
	given   []lack      // starts of functions that were called from outside
	started []int32     // nodes in which parts start
	surplus []float64   // by node: the last part's time beyond the mean, if it entered at a place of its own
	others  []bool      // by node: parts other than the last one have been there
	sums    []dd        // by part: sum of its charges
	slabs   [][]float64 // what the charges' rows are of
	dealt   []dealt     // what is luck of where pages lie
	kept    bool        // somebody has kept one of them
}

func (r *result) total() float64 { return r.times[r.last] - r.mean }

func (r *result) residual(p int) float64 {
	d := r.sums[p]
	d.hi, d.lo = -d.hi, -d.lo
	d.add(r.times[p])
	d.add(-r.mean)
	return d.hi + d.lo
}

// account computes the charges of one instance.
func (l *Ledger) account(inst *profile.Instance, mem *scratch) (*result, error) {
	f, err := buildFlow(l.tab, inst, mem)
	if err != nil {
		return nil, err
	}
	c, err := newCosts(l.meta, f)
	if err != nil {
		return nil, err
	}
	a := &accountant{l: l, f: f, c: c, r: &result{flow: f}, contrasts: mem.contrasts[:0], chosen: mem.chosen[:0],
		scratch: make([]float64, f.parts), open: make([]float64, f.parts), left: make([]uint64, f.parts), cutOff: make([]float64, f.parts)}
	a.dealer = dealer{placed: &l.placed, counted: l.placed.countRows(inst)}
	a.times()
	a.lumps = f.findLumps(l.guide.copies)
	a.sys = f.lumped(a.lumps)
	a.fac = a.sys.factor()
	a.n = a.fac.visits
	a.cost = append(c.pooled(a.n), make([]float64, len(a.lumps.members))...)
	a.r.runtime = c.within(l.Runtime)
	a.tasks = f.tasks()
	a.holes, a.holed = f.holes(a.tasks)
	a.prices()
	a.waits()
	a.choices()
	a.r.values = a.sys.solve(a.fac, a.cost)
	a.passOn(l.guide.regions)
	a.chargeChoices()
	a.starts()
	a.broken()
	a.noteStarts()
	a.r.dealt = a.dealer.found
	a.r.surplus, a.r.others = a.surplus(), a.beenTo()
	clear(a.contrasts) // their rows are the book's
	mem.contrasts, mem.chosen = a.contrasts, a.chosen
	f.release()
	return a.r, nil
}

// accountant charges the places of one instance.
type accountant struct {
	l    *Ledger
	f    *flow
	c    *costs
	n    []float64 // pooled visits by node
	cost []float64 // pooled cost by node, with what its edges cost extra
	sys  *system
	fac  *factor

	lumps  *lumps
	tasks  []bool    // by node: what starts there was called from outside
	holes  []bool    // by number of flow.broken
	holed  []bool    // by part
	cutOff []float64 // what ends before holes have cut off, by part
	r      *result

	dealer dealer

	tiny float64 // charges below are rounding

	contrasts []contrast
	chosen    []choice // in the order in which they are charged

	free    []float64   // rows to hand out
	spare   [][]float64 // rows that were not used
	scratch []float64   // a row
	open    []float64   // another one
	left    []uint64    // and one of counts

	extra  []float64            // by edge: what the callee costs more than on average when called here
	passed map[member][]float64 // by charge: what it has passed on to the callers, by part
}

func (a *accountant) times() {
	parts := a.f.inst.Parts
	a.r.times = make([]float64, len(parts))
	a.r.sums = make([]dd, len(parts))
	var sum dd
	for p := range parts {
		t := float64(parts[p].Time())
		a.r.times[p] = t
		sum.add(t)
		if t > a.r.times[a.r.last] {
			a.r.last = p
		}
	}
	a.r.mean = (sum.hi + sum.lo) / float64(len(parts))
	a.tiny = 4e-16 * a.r.times[a.r.last]
}

// row returns a row of zeros, one figure per part.
func (a *accountant) row() []float64 {
	n := a.f.parts
	if k := len(a.spare) - 1; k >= 0 {
		row := a.spare[k]
		a.spare = a.spare[:k]
		return row
	}
	if len(a.free) < n {
		a.free = a.l.slab(rowsOfSlab * n)
		a.r.slabs = append(a.r.slabs, a.free)
	}
	row := a.free[:n:n]
	a.free = a.free[n:]
	clear(row)
	return row
}

// rowsOfSlab is the number of rows that are made at a time.
const rowsOfSlab = 256

// slab returns memory for rows, if there is some of an instance that has been entered.
func (l *Ledger) slab(n int) []float64 {
	if s, ok := l.slabs.Get().(*[]float64); ok && len(*s) >= n {
		return *s
	}
	return make([]float64, n)
}

// recycle takes back the rows of a result, if nobody has kept one.
func (l *Ledger) recycle(r *result) {
	for i := range r.slabs {
		if !r.kept {
			l.slabs.Put(&r.slabs[i])
		}
	}
}

// charge books a row, unless it is nil. The row is not the caller's any more.
func (a *accountant) charge(c class, id int32, dev []float64) {
	big := false
	for p, x := range dev {
		a.r.sums[p].gather(x)
		big = big || x > a.tiny || -x > a.tiny
	}
	if big {
		a.r.charges = append(a.r.charges, charge{c, id, dev})
	} else {
		a.putBack(dev)
	}
}

// putBack takes back a row that was not used.
func (a *accountant) putBack(row []float64) {
	clear(row)
	a.spare = append(a.spare, row)
}

// visits returns the visits of a node by part.
func (f *flow) visitsOf(v int32) []uint64 {
	return f.visits[int(v)*f.parts : (int(v)+1)*f.parts]
}

// system returns the equation of the values under the pooled behaviour.
func (f *flow) system() *system {
	s := &system{n: len(f.nodes), off: f.off, to: f.to, count: make([]float64, len(f.edges)),
		excess: make([]float64, len(f.nodes)), comps: f.comps, comp: f.comp}
	for i := range f.edges {
		s.count[i] = float64(f.edges[i].total)
	}
	for _, st := range f.starts {
		s.excess[st.node]++
	}
	for _, b := range f.broken {
		s.excess[b.node] += float64(b.n)
	}
	return s
}

// starts charges what the parts' starts are worth: where they enter, and what they return to. They
// are one row, at the start of the last part that is worth most, so that what is common to all
// never shows.
func (a *accountant) starts() {
	dev := a.row()
	top, most := int32(-1), 0.0
	for _, s := range a.f.starts {
		v := a.r.values.hi[s.node]
		dev[s.part] += v
		if int(s.part) == a.r.last && (top < 0 || v > most) {
			top, most = s.node, v
		}
	}
	for i, b := range a.f.broken {
		if a.holes[i] {
			dev[b.part] += float64(b.n) * a.r.values.hi[b.node]
		}
	}
	if !a.c.stored {
		for p, n := range a.f.early {
			dev[p] += float64(n)
		}
	}
	if top < 0 { // the last part has none
		for _, s := range a.f.starts {
			top = max(top, s.node)
		}
	}
	if top < 0 {
		top = 0
	}
	if len(a.f.nodes) == 0 {
		return
	}
	mean := sum(dev) / float64(len(dev))
	for p := range dev {
		dev[p] += a.cutOff[p] - mean
	}
	a.charge(classEntry, a.id(top), dev)
}

// chargeSpread charges every part with (count - mean count) * value.
func (a *accountant) chargeSpread(c class, v int32, counts []float64, value float64) {
	mean := sum(counts) / float64(len(counts))
	for p := range counts {
		counts[p] = (counts[p] - mean) * value
	}
	a.charge(c, a.id(v), counts)
}

// noteStarts keeps what others want to know of the starts.
func (a *accountant) noteStarts() {
	for _, s := range a.f.starts {
		a.r.started = append(a.r.started, s.node)
	}
	last := int32(-1)
	for _, b := range a.f.broken {
		if b.node != last {
			a.r.started, last = append(a.r.started, b.node), b.node
		}
		if a.tasks[b.node] {
			a.r.given = append(a.r.given, b)
		}
	}
}

func (a *accountant) id(v int32) int32 { return int32(a.f.nodes[v]) }

// broken charges visits that nothing led to.
func (a *accountant) broken() {
	rows := make([][]float64, len(a.f.nodes))
	var order []int32
	for i, b := range a.f.broken {
		if a.holes[i] {
			continue
		}
		if rows[b.node] == nil {
			rows[b.node] = a.row()
			order = append(order, b.node)
		}
		rows[b.node][b.part] += float64(b.n)
	}
	known := map[int32]bool{}
	for i := range a.f.edges {
		if a.f.edges[i].kind == profile.EdgeVisit {
			known[a.f.edges[i].from] = true
		}
	}
	entered := a.f.entered()
	for _, v := range order {
		c := classBroken
		switch {
		case known[v]:
			c = classVisits
		case a.tasks[v]:
			c = classTasks
		case entered[v]:
			c = classEntry
		}
		a.chargeSpread(c, v, rows[v], a.r.values.hi[v])
	}
}

func sum(xs []float64) float64 { return floats.Sum(xs) }
