package ledger

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"

	"lime/internal/profile"
)

// book adds the accounts of the instances up.
type book struct {
	l       *Ledger
	acc     *Account
	rows    []*entry
	byKey   map[rowKey]int32
	free    []entry          // to hand out
	places  [classes][]int32 // by class: id -> member + 1
	members []memberWeight
	touched []*entry
	threads map[profile.ThreadID]int
	ids     []profile.ThreadID
	counts  *counts
	runtime []float64 // time in a runtime's own code
	inOrder bool      // the parts of the instance at hand are the columns

	surplus []float64 // by node
	others  []bool    // by node: threads have been there that did not come last
	homes   *homes
	ways    *usedWays // once they are asked for

	repairs, repaired int // starts that had to be invented, and in how many instances
}

// member is a place that belongs to a row.
type member struct {
	class class
	id    int32
}

type memberWeight struct {
	member
	row    int32
	next   int32   // of the row's members
	weight float64 // sum of |cycles|
}

// entry is a row in the making.
type entry struct {
	key     rowKey
	class   class
	threads []float64
	cycles  dd
	passed  float64
	luck    []float64 // by other placement of pages: of cycles, what would not be there
	now     float64   // cycles in the instance at hand
	hit     bool
	worst   InstanceShare
	course  []Course
	with    []Net // rows that were taken in
	first   int32 // member; the others follow it
	last    int32
	members int32
	netted  bool // it was taken in itself
	shown   bool
	homed   bool // it is library code's, and stands at the call home
	home    profile.NodeID
}

func newBook(l *Ledger, id profile.SectionID) *book {
	return &book{l: l, acc: &Account{Section: id}, byKey: map[rowKey]int32{}, threads: map[profile.ThreadID]int{}, counts: newCounts(l.tab, &l.guide.deals)}
}

// courseShare is the share of an instance's imbalance from which a row's part of it is kept.
const courseShare = 0.001

// enter books one instance.
func (b *book) enter(r *result) {
	inst := r.flow.inst
	cols := b.columns(inst.Parts)
	b.inOrder = isIdentity(cols)
	for i := range r.charges {
		b.charge(r, &r.charges[i], cols)
	}
	for _, c := range r.passed {
		e := b.rows[b.members[b.member(&c)].row]
		e.threads = grown(e.threads, len(b.ids))
		e.passed += c.dev[r.last]
	}
	for _, e := range b.touched {
		if e.worst.Seq < 0 || math.Abs(e.now) > math.Abs(e.worst.Cycles) {
			e.worst = InstanceShare{inst.Seq, e.now}
		}
		if math.Abs(e.now) >= courseShare*r.total() {
			e.course = append(e.course, Course{len(b.acc.Instances), e.now})
		}
		e.now, e.hit = 0, false
	}
	b.touched = b.touched[:0]
	for i := range r.dealt {
		r.dealt[i].enter(b)
	}
	b.counts.enter(r, cols)
	for p, x := range r.runtime {
		b.runtime = grown(b.runtime, len(b.ids))
		b.runtime[cols[p]] += x
	}
	b.total(r, cols)
	b.addSurplus(r)
}

func (b *book) charge(r *result, c *charge, cols []int) {
	m := &b.members[b.member(c)]
	e := b.rows[m.row]
	x := c.dev[r.last]
	m.weight += math.Abs(x)
	e.cycles.add(x)
	e.now += x
	if !e.hit {
		e.hit = true
		b.touched = append(b.touched, e)
	}
	if e.threads == nil && b.inOrder {
		e.threads, r.kept = c.dev, true // nobody else needs it any more
		return
	}
	e.threads = grown(e.threads, len(b.ids))
	for p, x := range c.dev {
		e.threads[cols[p]] += x
	}
}

func isIdentity(cols []int) bool {
	for i, c := range cols {
		if i != c {
			return false
		}
	}
	return true
}

func grown[T any](xs []T, n int) []T {
	if len(xs) < n {
		xs = append(xs, make([]T, n-len(xs))...)
	}
	return xs
}

// columns returns the column of every part's thread.
func (b *book) columns(parts []profile.Part) []int {
	cols := make([]int, len(parts))
	for p := range parts {
		t := parts[p].Thread
		c, ok := b.threads[t]
		if !ok {
			c = len(b.ids)
			b.threads[t] = c
			b.ids = append(b.ids, t)
		}
		cols[p] = c
	}
	return cols
}

// member returns the index of the charge's place among the members.
func (b *book) member(c *charge) int {
	at := b.place(c.class, c.id)
	if *at > 0 {
		return int(*at - 1)
	}
	m := member{c.class, c.id}
	i := int32(len(b.members))
	b.members = append(b.members, memberWeight{member: m, row: b.row(m)})
	*at = i + 1
	e := b.rows[b.members[i].row]
	if e.members == 0 {
		e.first = i
	} else {
		b.members[e.last].next = i
	}
	e.last = i
	e.members++
	return int(i)
}

// membersOf yields a row's members in the order in which they came.
func (b *book) membersOf(e *entry) iter.Seq[*memberWeight] {
	return func(yield func(*memberWeight) bool) {
		i := e.first
		for range e.members {
			m := &b.members[i]
			if !yield(m) {
				return
			}
			i = m.next
		}
	}
}

// place is where the number of a place's member stands; places without an id have that of -1.
func (b *book) place(c class, id int32) *int32 {
	b.places[c] = grown(b.places[c], 1+max(int(id)+1, b.l.ids(c)))
	return &b.places[c][id+1]
}

// ids is the number of ids of a class.
func (l *Ledger) ids(c class) int {
	switch c {
	case classEvent:
		return len(l.tab.Events)
	case classLock, classOff, classUnaccounted:
		return 0
	}
	return len(l.tab.Nodes)
}

func (b *book) row(m member) int32 {
	k := b.l.guide.key(m.class, m.id)
	i, ok := b.byKey[k]
	if !ok {
		i = int32(len(b.rows))
		b.byKey[k] = i
		if len(b.free) == 0 {
			b.free = make([]entry, entryBlock)
		}
		e := &b.free[0]
		b.free = b.free[1:]
		e.key, e.class, e.worst = k, m.class, InstanceShare{Seq: -1}
		b.rows = append(b.rows, e)
	}
	return i
}

// entryBlock is the number of rows that are made at a time.
const entryBlock = 256

func (b *book) total(r *result, cols []int) {
	inst, a := r.flow.inst, b.acc
	t := InstanceTotal{Seq: inst.Seq, Last: inst.Parts[r.last].Thread, TMax: r.times[r.last], Mean: r.mean,
		Total: r.total(), Residual: r.residual(r.last)}
	a.Instances = append(a.Instances, t)
	a.Total += t.Total
	a.TMax += t.TMax
	a.Mean += t.Mean
	a.Residual += t.Residual
	for p := range inst.Parts {
		if t.TMax > 0 {
			a.RelResidual = max(a.RelResidual, math.Abs(r.residual(p))/t.TMax)
		}
	}
	a.Deviation = grown(a.Deviation, len(b.ids))
	for p, x := range r.times {
		a.Deviation[cols[p]] += x - r.mean
	}
	if n := len(r.flow.invented); n > 0 {
		b.repairs += n
		b.repaired++
	}
}

// arrange puts the rows in their final places when all has been entered: each member's row is known
// from then on.
func (b *book) arrange() {
	b.home()
	b.acc.Spent = b.l.guide.busiest(b.surplus, b.homes, b.acc.Total)
	b.net()
}

// close makes the account of what has been entered and arranged.
func (b *book) close(opts Options) *Account {
	a := b.acc
	perm := b.sortThreads()
	a.Deviation = permuted(a.Deviation, perm)
	shown := b.fold(opts)
	edges := b.counts.of(b, shown, perm)
	for i, e := range shown {
		row := b.finish(e, perm)
		row.Edges = edges[i]
		if n := b.counts.tasks(b, e); n != nil {
			row.Tasks = permuted(n, perm)
		}
		if row.DealtLoop > 0 {
			b.counts.deal(b.l.guide, &row, perm)
		}
		for _, n := range e.with {
			n.Place, n.Kind, n.Share = b.finish(n.member, perm).Place, b.finish(n.member, perm).Kind, share(n.Cycles, a.Total)
			row.With = append(row.With, n)
		}
		a.Rows = append(a.Rows, row)
	}
	if b.repairs > 0 {
		a.Notes = append(a.Notes, fmt.Sprintf("in %d of %d instances, no way is known into %d of the places that threads have been at; "+
			"a start was assumed there (kind broken-flow)", b.repaired, len(a.Instances), b.repairs))
	}
	a.Tests = b.counts.loopTests(b.l.guide, perm)
	a.Tasks, a.Passed = b.counts.taskTotals(b.l.guide), b.passedOn(perm)
	if b.runtime != nil {
		a.Runtime = permuted(b.runtime, perm)
	}
	a.Exact = b.exact()
	return a
}

// deal says how many pieces of the row's loop each thread was given. Where that is not known, its test is
// a branch like others.
func (c *counts) deal(g *guide, row *Row, perm []int) {
	given, ok := c.dealt(g, int32(row.DealtLoop-1), perm)
	if row.Dealt = given; !ok {
		row.Kind, row.Place, row.Test, row.DealtLoop = Branch, *row.Test, nil, 0
	}
}

// passedOn describes the rows that have passed something on.
func (b *book) passedOn(perm []int) []Row {
	var rows []Row
	for _, e := range b.rows {
		if math.Abs(e.passed) >= defaultMinShare*b.acc.Total && math.Abs(e.passed) > noise*b.acc.TMax {
			rows = append(rows, b.finish(e, perm))
		}
	}
	slices.SortStableFunc(rows, func(x, y Row) int { return cmp.Compare(math.Abs(y.PassedOn), math.Abs(x.PassedOn)) })
	return rows
}

func (b *book) sortThreads() []int {
	perm := make([]int, len(b.ids))
	for i := range perm {
		perm[i] = i
	}
	slices.SortFunc(perm, func(i, j int) int { return cmp.Compare(b.ids[i], b.ids[j]) })
	b.acc.Threads = permuted(b.ids, perm)
	return perm
}

func permuted[T any](xs []T, perm []int) []T {
	xs = grown(xs, len(perm))
	out := make([]T, len(perm))
	for i, p := range perm {
		out[i] = xs[p]
	}
	return out
}

func (b *book) exact() bool {
	m, lost := b.l.meta, 0.0
	for _, e := range b.rows {
		switch e.class {
		case classVisits:
			return false
		case classBroken:
			lost += math.Abs(e.cycles.hi)
		}
	}
	if lost > mostBroken*b.acc.Total {
		return false
	}
	good := func(l profile.Label) bool { return l == profile.Measured || l == profile.Modelled }
	return good(m.TimeLabel) && good(m.CountLabel)
}

// Defaults of Options, and what counts as rounding.
const (
	defaultMinShare = 0.001
	defaultMaxRows  = 200
	noise           = 1e-12 // of the sum of TMax
)

// fold sorts the rows, returns those to show and folds the others into the rest.
func (b *book) fold(opts Options) []*entry {
	a := b.acc
	if opts.MinShare == 0 {
		opts.MinShare = defaultMinShare
	}
	if opts.MaxRows == 0 {
		opts.MaxRows = defaultMaxRows
	}
	shown := b.largest(opts)
	for _, e := range shown {
		e.shown = true
	}
	for _, e := range b.rows {
		if e.netted {
			continue
		}
		x := e.cycles.hi
		a.Positive += max(x, 0)
		a.Negative += min(x, 0)
		if !e.shown {
			a.Rest.add(x, e.exceeds(noise*a.TMax))
		}
	}
	a.Rest.Share = share(a.Rest.Cycles, a.Total)
	return shown
}

// largest returns the rows to show, the largest first.
func (b *book) largest(opts Options) []*entry {
	var big []*entry
	for _, e := range b.rows {
		if !e.netted && math.Abs(e.cycles.hi) >= opts.MinShare*b.acc.Total && e.exceeds(noise*b.acc.TMax) {
			big = append(big, e)
		}
	}
	most := len(big)
	if opts.MaxRows >= 0 {
		most = opts.MaxRows
	}
	return first(big, most, func(x, y *entry) int { return cmp.Or(compareSizes(y, x), cmp.Compare(x.first, y.first)) })
}

// exceeds reports whether the row put more than a limit on a thread, or took more off it.
func (e *entry) exceeds(limit float64) bool {
	if math.Abs(e.cycles.hi) > limit {
		return true
	}
	return slices.ContainsFunc(e.threads, func(t float64) bool { return math.Abs(t) > limit })
}

func (r *Rest) add(x float64, big bool) {
	if big {
		r.Rows++
	}
	r.Cycles += x
	r.Positive += max(x, 0)
	r.Negative += min(x, 0)
}

func share(x, total float64) float64 {
	if total <= 0 {
		return 0
	}
	return x / total
}

// top is a row's heaviest member.
func (b *book) top(e *entry) *memberWeight {
	top := &b.members[e.first]
	for m := range b.membersOf(e) {
		if m.weight > top.weight {
			top = m
		}
	}
	return top
}

// finish describes a row by its heaviest member.
func (b *book) finish(e *entry, perm []int) Row {
	top := b.top(e)
	row := Row{Cycles: e.cycles.hi, Share: share(e.cycles.hi, b.acc.Total), Threads: permuted(e.threads, perm), PassedOn: e.passed, Luck: e.luck,
		Worst: e.worst, Course: e.course, Nodes: int(e.members)}
	describer{b}.describe(&row, e, top)
	return row
}
