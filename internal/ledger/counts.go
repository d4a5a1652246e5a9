package ledger

import (
	"cmp"
	"maps"
	"slices"

	"lime/internal/profile"
)

// counts keeps how often each way of a decision was taken, by thread, summed over the instances, and
// what the way was worth.
type counts struct {
	tab    *profile.Tables
	choice []bool     // by edge: its node has several ways out
	n      [][]uint64 // by edge
	value  []float64
	times  []float64
	given  map[profile.NodeID][]uint64 // by first block of a task's function
	spent  map[profile.NodeID]float64  // by the same: the time that the tasks took

	used    []bool // by edge
	started []bool // by node: parts start there
}

func newCounts(tab *profile.Tables) *counts {
	c := &counts{tab: tab, choice: make([]bool, len(tab.Edges)), n: make([][]uint64, len(tab.Edges)),
		value: make([]float64, len(tab.Edges)), times: make([]float64, len(tab.Edges)), given: map[profile.NodeID][]uint64{},
		spent: map[profile.NodeID]float64{}, used: make([]bool, len(tab.Edges)), started: make([]bool, len(tab.Nodes))}
	degree := make([]int32, len(tab.Nodes))
	for i := range tab.Edges {
		if from := tab.Edges[i].From; valid(from, len(degree)) {
			degree[from]++
		}
	}
	for i := range tab.Edges {
		from := tab.Edges[i].From
		c.choice[i] = valid(from, len(degree)) && degree[from] > 1
	}
	return c
}

func (c *counts) enter(r *result, cols []int) {
	width := len(cols)
	for _, col := range cols {
		width = max(width, col+1)
	}
	for _, s := range r.flow.starts {
		c.started[r.flow.nodes[s.node]] = true
	}
	for _, s := range r.flow.broken {
		c.started[r.flow.nodes[s.node]] = true
	}
	for i := range r.flow.edges {
		e := &r.flow.edges[i]
		if e.id < 0 {
			continue
		}
		c.used[e.id] = true
		if !c.choice[e.id] {
			continue
		}
		hi, _ := r.values.at(e.to)
		c.value[e.id] += hi
		c.times[e.id]++
		c.n[e.id] = grown(c.n[e.id], width)
		row := c.n[e.id]
		for _, x := range e.cells {
			row[cols[x.Part]] += x.N
		}
	}
	for i, x := range r.flow.broken {
		if r.tasks[i] {
			id := r.flow.nodes[x.node]
			c.given[id] = grown(c.given[id], width)
			c.given[id][cols[x.part]] += x.n
			c.spent[id] += float64(x.n) * r.values.hi[x.node]
		}
	}
}

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
	for _, m := range e.members {
		if x := &b.members[m]; x.class == classTasks {
			n = grown(n, len(b.ids))
			for p, k := range c.given[profile.NodeID(x.id)] {
				n[p] += k
			}
		}
	}
	return n
}

// of returns the ways of each row's nodes.
func (c *counts) of(b *book, rows []*entry, perm []int) ([][]EdgeCount, error) {
	rowOf := map[profile.NodeID]int{}
	for i, e := range rows {
		if e.homed {
			continue // the ways of its decisions are the library's
		}
		for _, m := range e.members {
			if b.members[m].class == classDecision {
				rowOf[profile.NodeID(b.members[m].id)] = i
			}
		}
	}
	out := make([][]EdgeCount, len(rows))
	for id := range c.tab.Edges {
		i, ok := rowOf[c.tab.Edges[id].From]
		if !ok || c.times[id] == 0 {
			continue
		}
		out[i] = append(out[i], c.edge(b, profile.EdgeID(id), perm))
	}
	return out, nil
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
