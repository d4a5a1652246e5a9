// Call paths of two runs in one tree: what each has before, after, and by how much it changed.

package view

import (
	"slices"

	"lime/internal/profile"
)

// Columns that a metric has in a comparison.
const (
	suffixAfter  = " after"
	prefixChange = "change of "
)

// beside returns the call paths of two runs. What the first has of a section, the other has of the
// one that ends at the same place.
func (r *Run) beside(o *Run, k pathKey, at string) (*PathTable, error) {
	if a, b := r.src.Meta().ClockUnit, o.src.Meta().ClockUnit; a != b {
		return nil, missing("the clocks of the two runs differ (%s and %s): their call paths cannot be put beside each other", a, b)
	}
	other := k
	known := k.thread < len(o.tables().Threads)
	if k.section >= 0 {
		other.section = o.sectionLike(r.tables(), k.section)
		known = known && other.section >= 0
	}
	before, after := r.paths.tree(k, nil), &pathNode{all: make([]float64, len(o.paths.list))}
	if known {
		after = o.paths.tree(other, nil)
	}
	c := &comparison{}
	for i, name := range r.paths.list {
		c.names = append(c.names, name, name+suffixAfter, prefixChange+name)
		c.from = append(c.from, [2]int{i, slices.Index(o.paths.list, name)})
	}
	root := c.node(before, after, true)
	total := slices.Clone(root.all)
	for i := range c.from { // a change is a share of what there was
		total[3*i+2] = max(total[3*i], total[3*i+1])
	}
	return tableOf(root, c.names, total, at)
}

// sectionLike finds the section that ends as one of another profile does, -1 if there is none.
func (r *Run) sectionLike(t *profile.Tables, section int) int {
	s := &t.Sections[section]
	name := placeName(t, s.Frames, s.EndAddr)
	return slices.IndexFunc(r.tables().Sections, func(o profile.Section) bool {
		return o.Kind == s.Kind && placeName(r.tables(), o.Frames, o.EndAddr) == name
	})
}

// comparison makes a tree of two.
type comparison struct {
	names []string
	from  [][2]int // by metric: its column before, and after; -1 where it is not known
}

// node puts two rows together; one may be nil.
func (c *comparison) node(a, b *pathNode, top bool) *pathNode {
	some := a
	if some == nil {
		some = b
	}
	n := &pathNode{name: some.name, loop: some.loop, all: c.values(a, b, (*pathNode).ofAll), own: c.values(a, b, (*pathNode).ofOwn),
		kids: map[string]*pathNode{}}
	seen := map[string]bool{}
	for _, list := range [][]*pathNode{a.list(), b.list()} {
		for _, k := range list {
			if !seen[k.name] {
				seen[k.name] = true
				kid := c.node(a.find(k.name), b.find(k.name), false)
				n.kids[k.name], n.order = kid, append(n.order, kid)
			}
		}
	}
	if top {
		n.sort()
	}
	return n
}

func (c *comparison) values(a, b *pathNode, of func(*pathNode, int) float64) []float64 {
	out := make([]float64, 0, 3*len(c.from))
	for _, f := range c.from {
		before, after := of(a, f[0]), of(b, f[1])
		out = append(out, before, after, after-before)
	}
	return out
}

func (n *pathNode) list() []*pathNode {
	if n == nil {
		return nil
	}
	return n.order
}

func (n *pathNode) find(name string) *pathNode {
	if n == nil {
		return nil
	}
	return n.kids[name]
}

func (n *pathNode) ofAll(m int) float64 {
	return column(n, m, func(n *pathNode) []float64 { return n.all })
}

func (n *pathNode) ofOwn(m int) float64 {
	return column(n, m, func(n *pathNode) []float64 { return n.own })
}

func column(n *pathNode, m int, of func(*pathNode) []float64) float64 {
	if n == nil || m < 0 || m >= len(of(n)) {
		return 0
	}
	return of(n)[m]
}
