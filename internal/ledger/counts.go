package ledger

import (
	"cmp"
	"maps"
	"slices"

	"lime/internal/origin"
	"lime/internal/profile"
)

// counts keeps how often each way of a decision was taken, by thread, summed over the instances,
// and what the way was worth.
type counts struct {
	tab       *profile.Tables
	choice    []bool     // by edge: its node has several ways out, or it counts pieces that are dealt out
	n         [][]uint64 // by edge
	value     []float64
	times     []float64
	sum       []uint64                    // of all threads
	given     map[profile.NodeID][]uint64 // by first block of a task's function
	spent     map[profile.NodeID]float64  // by the same: the time that the tasks took
	used      []bool                      // by edge
	started   []bool                      // by node: parts start there
	instances int
	lone      *tally // the only instance so far: its counts are not copied before there is another one, or they are asked for
}

// tally are the edges of one instance, and the column of each of its parts.
type tally struct {
	edges []edge
	cols  []int
	width int
}

func newCounts(tab *profile.Tables, d *deals) *counts {
	c := &counts{tab: tab, choice: make([]bool, len(tab.Edges)), n: make([][]uint64, len(tab.Edges)),
		value: make([]float64, len(tab.Edges)), times: make([]float64, len(tab.Edges)),
		sum: make([]uint64, len(tab.Edges)), given: map[profile.NodeID][]uint64{},
		spent: map[profile.NodeID]float64{}, used: make([]bool, len(tab.Edges)), started: make([]bool, len(tab.Nodes))}
	degree := make([]int32, len(tab.Nodes))
	for i := range tab.Edges {
		if from := tab.Edges[i].From; valid(from, len(degree)) {
			degree[from]++
		}
	}
	for i := range tab.Edges {
		from := tab.Edges[i].From
		c.choice[i] = valid(from, len(degree)) && (degree[from] > 1 || d.calls[profile.EdgeID(i)] != origin.DealsNot)
	}
	return c
}

func (c *counts) enter(r *result, cols []int) {
	t := &tally{edges: r.flow.edges, cols: cols, width: len(cols)}
	for _, col := range cols {
		t.width = max(t.width, col+1)
	}
	for _, v := range r.started {
		c.started[r.flow.nodes[v]] = true
	}
	for i := range t.edges {
		e := &t.edges[i]
		if e.id < 0 {
			continue
		}
		c.used[e.id] = true
		if c.choice[e.id] {
			hi, _ := r.values.at(e.to)
			c.value[e.id] += hi
			c.times[e.id]++
			c.sum[e.id] += e.total
		}
	}
	c.addTasks(r, t)
	if c.instances++; c.instances == 1 {
		c.lone = t
		return
	}
	c.settle(c.choice)
	c.add(t, c.choice)
}

// addTasks adds the tasks that the parts were given.
func (c *counts) addTasks(r *result, t *tally) {
	for _, x := range r.given {
		id := r.flow.nodes[x.node]
		c.given[id] = grown(c.given[id], t.width)
		c.given[id][t.cols[x.part]] += x.n
		c.spent[id] += float64(x.n) * r.values.hi[x.node]
	}
}

// settle adds what is still to be added of some edges; the others' counts are not to be had after
// that.
func (c *counts) settle(wanted []bool) {
	if c.lone != nil {
		c.add(c.lone, wanted)
		c.lone = nil
	}
}

func (c *counts) add(t *tally, wanted []bool) {
	inOrder := isIdentity(t.cols)
	for i := range t.edges {
		e := &t.edges[i]
		if e.id < 0 || !c.choice[e.id] || !wanted[e.id] {
			continue
		}
		row := grown(c.n[e.id], t.width)
		c.n[e.id] = row
		switch {
		case !inOrder:
			for k := range e.cells {
				row[t.cols[e.cells[k].Part]] += e.cells[k].N
			}
		case e.dense:
			row = row[:len(e.cells)]
			for p := range e.cells {
				row[p] += e.cells[p].N
			}
		default:
			for k := range e.cells {
				row[e.cells[k].Part] += e.cells[k].N
			}
		}
	}
}

// loopTests lists the tests of loops. The values know the time of a round: who stays goes round
// once more, and is then where he was.
func (c *counts) loopTests(g *guide, perm []int) (out []LoopTest) {
	ways := map[profile.NodeID][]profile.EdgeID{}
	for i := range c.tab.Edges {
		e := &c.tab.Edges[i]
		if c.times[i] > 0 && valid(e.From, len(g.exits)) && (e.Kind == profile.EdgeTaken || e.Kind == profile.EdgeFall) && g.exits[e.From] {
			ways[e.From] = append(ways[e.From], profile.EdgeID(i))
		}
	}
	for _, v := range slices.Sorted(maps.Keys(ways)) {
		if len(ways[v]) != 2 {
			continue
		}
		stay, leave := ways[v][0], ways[v][1]
		if c.worth(stay) < c.worth(leave) {
			stay, leave = leave, stay
		}
		t := LoopTest{Place: g.place(v), DealtLoop: g.dealtLoop(v), Stay: stay, Stayed: c.sum[stay], Left: c.sum[leave]}
		if t.Left > 0 {
			t.Round = float64(t.Left) / float64(t.Stayed+t.Left) * (c.worth(stay) - c.worth(leave))
			t.Rounds = permuted(c.n[stay], perm)
			out = append(out, t)
		}
	}
	return out
}

func (c *counts) worth(e profile.EdgeID) float64 { return c.value[e] / c.times[e] }

// taskTotals lists the tasks of every function.
func (c *counts) taskTotals(g *guide) []TaskTotal {
	var out []TaskTotal
	for _, id := range slices.Sorted(maps.Keys(c.given)) {
		t := TaskTotal{Place: g.head(id), Time: c.spent[id]}
		for _, n := range c.given[id] {
			t.Count += n
		}
		out = append(out, t)
	}
	slices.SortStableFunc(out, func(a, b TaskTotal) int { return cmp.Compare(b.Time, a.Time) })
	return out
}

// tasks returns the numbers of tasks that a row counts, nil if it counts none.
func (c *counts) tasks(b *book, e *entry) (n []uint64) {
	for x := range b.membersOf(e) {
		if x.class == classTasks {
			n = grown(n, len(b.ids))
			for p, k := range c.given[profile.NodeID(x.id)] {
				n[p] += k
			}
		}
	}
	return n
}

// total is how often an edge was taken.
func (c *counts) total(id profile.EdgeID) uint64 {
	c.settle(c.choice)
	var sum uint64
	for _, n := range c.n[id] {
		sum += n
	}
	return sum
}

// of returns the ways of each row's nodes.
func (c *counts) of(b *book, rows []*entry, perm []int) [][]EdgeCount {
	rowOf := make([]int32, len(c.tab.Nodes)) // + 1
	for i, e := range rows {
		if e.homed {
			continue // the ways of its decisions are the library's
		}
		for m := range b.membersOf(e) {
			if m.class == classDecision {
				rowOf[m.id] = int32(i) + 1
			}
		}
	}
	wanted := make([]bool, len(c.tab.Edges))
	for id := range wanted {
		from := c.tab.Edges[id].From
		wanted[id] = valid(from, len(rowOf)) && (rowOf[from] > 0 || b.l.guide.exits[from] || b.l.guide.deals.calls[profile.EdgeID(id)] != origin.DealsNot) &&
			c.times[id] > 0 // the rounds of loops and the pieces that are dealt out are told, too
	}
	c.settle(wanted)
	out := make([][]EdgeCount, len(rows))
	for id, want := range wanted {
		if i := rowOfEdge(c.tab, rowOf, id); want && i >= 0 {
			out[i] = append(out[i], c.edge(b, profile.EdgeID(id), perm))
		}
	}
	return out
}

// rowOfEdge is the row of the block that an edge leaves, -1 if it has none.
func rowOfEdge(tab *profile.Tables, rowOf []int32, edge int) int32 {
	from := tab.Edges[edge].From
	if !valid(from, len(rowOf)) {
		return -1
	}
	return rowOf[from] - 1
}

func (c *counts) edge(b *book, id profile.EdgeID, perm []int) EdgeCount {
	e := &c.tab.Edges[id]
	return EdgeCount{Edge: id, Way: wayNames[e.Kind], To: b.l.guide.head(e.To), Value: c.value[id] / c.times[id],
		Counts: permuted(c.n[id], perm)}
}

var wayNames = [...]string{
	profile.EdgeTaken: "taken", profile.EdgeFall: "fall-through", profile.EdgeJump: "jump",
	profile.EdgeJumpInd: "indirect-jump", profile.EdgeCall: "call", profile.EdgeCallInd: "indirect-call",
	profile.EdgeReturn: "return", profile.EdgeEnd: "end", profile.EdgeVisit: "visit", profile.EdgeOdd: "odd",
}
