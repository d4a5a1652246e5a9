package analysis

import (
	"cmp"
	"math"
	"slices"

	"lime/internal/profile"
)

// Balance is the closest balance point around a section's end: the innermost part of the program,
// around the place at which the threads wait, outside of which their times are even. Within it work
// and wait together are the same for all threads, so what the threads wait at its end was brought
// about inside of it.
type Balance struct {
	Context
	Around  []Context       `json:"around"` // the parts around it that hold the section's end too, outermost first
	Threads []BalanceThread `json:"threads"`
	Parts   []BalancePart   `json:"parts"` // what is uneven inside of it, the most first
}

// Context is a part of the program: a loop, one way of a branch, a call. Kind "thread" is all that
// the threads do.
type Context struct {
	Place
	Kind   string `json:"kind"`
	Callee string `json:"callee,omitempty"`
}

// ContextThread is the kind of a context that is all of the threads' work in the section.
const ContextThread = "thread"

// BalanceThread is a thread's work inside of a balance point, and its wait at the section's end.
type BalanceThread struct {
	Thread profile.ThreadID `json:"thread"`
	Name   string           `json:"name"`
	Time   float64          `json:"time"`
	Wait   float64          `json:"wait"`
}

// BalancePart is a part of the balance point.
type BalancePart struct {
	Context
	Share float64   `json:"share"` // of the section's unevenness
	Times []float64 `json:"times"` // by Balance.Threads
}

// Limits of the search for a balance point.
const (
	leastPart    = 0.05 // of the unevenness: a part worth a row
	balanceParts = 4
)

// balance finds the balance point of a section in the tree of its parts.
func (r *runner) balance(sec *Section, ps *procs, root *part, period float64) *Balance {
	end := r.tab.Sections[sec.ID].EndNode
	chain := []*part{root}
	point := 0
	for q := root; end >= 0 && int(end) < len(r.tab.Nodes); {
		if q = ps.towards(q, end); q == nil {
			break
		}
		chain = append(chain, q)
		if evenAround(root, q, sec.Threads, period) {
			point = len(chain) - 1
		}
	}
	q := chain[point]
	b := &Balance{Context: r.context(q), Around: []Context{}, Threads: []BalanceThread{}, Parts: []BalancePart{}}
	for _, c := range chain[:point] {
		if c != root {
			b.Around = append(b.Around, r.context(c))
		}
	}
	for _, t := range sec.Threads {
		b.Threads = append(b.Threads, BalanceThread{t.Thread, t.Name, q.threads[t.Thread], t.Wait})
	}
	b.parts(r, q, root.m.cov)
	return b
}

// towards is the heaviest part inside of q that holds the section's end.
func (ps *procs) towards(q *part, end profile.NodeID) (best *part) {
	for _, k := range q.kids {
		if ps.leadsTo(k, ps.tab.Nodes[end].Function, end) && (best == nil || sum(k.threads) > sum(best.threads)) {
			best = k
		}
	}
	return best
}

// leadsTo reports whether a part holds a place of a function: by a loop or branch around it, or by
// a call of the function.
func (ps *procs) leadsTo(k *part, f profile.FunctionID, end profile.NodeID) bool {
	called := (k.b.kind == boundCall || k.b.kind == boundRecursion) && k.b.callee == f
	return called || k.b.kind != boundLeaf && ps.holds(k, f, end) ||
		slices.ContainsFunc(k.kids, func(x *part) bool { return ps.leadsTo(x, f, end) })
}

// evenAround reports whether the threads' times outside of q are even: their spread is a small part
// of that of the whole, or no more than chance makes of so many samples.
func evenAround(root, q *part, threads []ThreadTotal, period float64) bool {
	var whole, outside valueRange
	for _, t := range threads {
		whole.add(root.threads[t.Thread])
		outside.add(root.threads[t.Thread] - q.threads[t.Thread])
	}
	chance := surelyZ * period * math.Sqrt(1+2*max(0, outside.hi)/max(period, 1e-300))
	return outside.width() <= max(evenOutside*whole.width(), chance)
}

// valueRange is the range of some values.
type valueRange struct {
	lo, hi float64
	any    bool
}

func (s *valueRange) add(x float64) {
	if !s.any {
		*s = valueRange{x, x, true}
	}
	s.lo, s.hi = min(s.lo, x), max(s.hi, x)
}

func (s *valueRange) width() float64 { return s.hi - s.lo }

// parts lists what is uneven inside of q.
func (b *Balance) parts(r *runner, q *part, all float64) {
	for _, k := range q.kids {
		share := ratio(k.m.cov, all)
		if share < leastPart {
			continue
		}
		row := BalancePart{Context: r.context(k), Share: min(1, share), Times: make([]float64, len(b.Threads))}
		for i := range b.Threads {
			row.Times[i] = k.threads[b.Threads[i].Thread]
		}
		b.Parts = append(b.Parts, row)
	}
	slices.SortStableFunc(b.Parts, func(x, y BalancePart) int {
		return cmp.Or(cmp.Compare(y.Share, x.Share), cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line))
	})
	b.Parts = b.Parts[:min(len(b.Parts), balanceParts)]
}

// context describes a part; the root of the tree is all that the threads do.
func (r *runner) context(q *part) Context {
	if q.up == nil {
		return Context{Kind: ContextThread}
	}
	c := Context{Kind: boundEvents[q.b.kind], Place: r.prog.nodePlace(q.b.node)}
	if (q.b.kind == boundCall || q.b.kind == boundRecursion) && q.b.callee >= 0 {
		c.Callee = r.tab.Functions[q.b.callee].Name
	}
	return c
}
