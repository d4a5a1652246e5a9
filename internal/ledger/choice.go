package ledger

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"lime/internal/profile"
)

// What the ways out of a node are worth depends on the values, which change when charges are passed
// on to callers. How the parts differ in going them does not: by how much a part went a way more
// often than its visits of the node did in the pool. A choice keeps that for every way but the one
// that the others are compared with.

// contrast is one way of a choice.
type contrast struct {
	edge, base int32     // what it is compared with; -1 = leads nowhere
	taken, of  float64   // how often it was gone in the pool, of so many visits
	row        []float64 // by part: what it went beyond its share, times of; whole numbers, as long as they are not too large
	size       float64   // norm of row
}

// usual are the regular ways of a node: what a flow would have gone had it not broken there.
type usual struct {
	base int32
	ways []contrast
}

// choice is a node at which the parts differ, or at which their flow broke.
type choice struct {
	class class
	id    int32 // NodeID
	ways  []contrast
	usual usual // of flow that broke
	cut   bool  // the flow goes on behind a hole: one row for all of those
}

// choose adds a choice among the ways that were added last.
func (a *accountant) choose(c choice, first int) {
	if c.ways = a.contrasts[first:]; len(c.ways) > 0 {
		a.chosen = append(a.chosen, c)
	}
}

// way adds how the parts differ in going along an edge.
func (a *accountant) way(i, base int32, visits []float64) {
	e := &a.f.edges[i]
	if i == base || e.total == 0 {
		return
	}
	c := a.contrast(i, base, float64(e.total), visits)
	if e.dense {
		c.fill(e.cells, visits)
	} else {
		c.lacks(visits)
		for k := range e.cells {
			c.row[e.cells[k].Part] += float64(e.cells[k].N) * c.of
		}
	}
	for _, s := range a.subsOf(i) {
		c.row[s.part] -= c.of
	}
	a.add(c)
}

// stop adds how the parts differ in not going on.
func (a *accountant) stop(n []float64, base int32, visits []float64) {
	c := a.contrast(-1, base, sum(n), visits)
	c.lacks(visits)
	floats.AddScaled(c.row, c.of, n)
	a.add(c)
}

// contrast returns a way whose row is still to be filled in.
func (a *accountant) contrast(i, base int32, taken float64, visits []float64) contrast {
	c := contrast{edge: i, base: base, taken: taken, of: sum(visits), row: a.row()}
	if c.of == 0 {
		c.taken, c.of = 0, 1
	}
	return c
}

// fill fills the row in from one cell for each part.
func (c *contrast) fill(cells []profile.Count, visits []float64) {
	row, visits := c.row[:len(cells)], visits[:len(cells)]
	for p := range cells {
		row[p] = float64(cells[p].N)*c.of - c.taken*visits[p]
	}
}

// lacks fills the row in as if no part had gone this way.
func (c *contrast) lacks(visits []float64) {
	for p, n := range visits {
		c.row[p] = -c.taken * n
	}
}

func (a *accountant) add(c contrast) {
	c.size = norm(c.row)
	a.contrasts = append(a.contrasts, c)
}

// worth is what a way of a choice is worth beyond the one that it is compared with.
func (a *accountant) worth(c *contrast) float64 { return a.better(c.edge, c.base) }

// mean is the value of regular ways in the pool.
func (a *accountant) mean(u *usual) float64 {
	sum := 0.0
	for i := range u.ways {
		sum += u.ways[i].taken / u.ways[i].of * a.worth(&u.ways[i])
	}
	return sum - a.better(-1, u.base)
}

// weigh writes into a row what a choice puts on every part. The row may be that of its first way.
func (a *accountant) weigh(c *choice, row []float64) []float64 {
	mean := a.mean(&c.usual)
	for k := range c.ways {
		w := &c.ways[k]
		x := (a.worth(w) - mean) / w.of
		if k == 0 {
			floats.ScaleTo(row, x, w.row)
		} else {
			floats.AddScaled(row, x, w.row)
		}
	}
	for p, x := range a.passed[member{c.class, c.id}] {
		row[p] -= x
	}
	return row
}

// sizeOf is the norm of what a choice puts on the parts.
func (a *accountant) sizeOf(c *choice) float64 {
	if w := &c.ways[0]; len(c.ways) == 1 && a.passed[member{c.class, c.id}] == nil {
		return math.Abs(a.worth(w)) / w.of * w.size
	}
	return norm(a.weigh(c, a.scratch))
}

// chargeChoices books all choices. Their ways are not known any more after that.
func (a *accountant) chargeChoices() {
	for i := range a.chosen {
		c := &a.chosen[i]
		row := a.weigh(c, c.ways[0].row)
		if !c.cut {
			a.charge(c.class, c.id, row)
			continue
		}
		for p, x := range row {
			a.cutOff[p] += x
		}
	}
}
