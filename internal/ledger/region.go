package ledger

import "lime/internal/profile"

// regions are the functions of a program as its graph shows them, whatever symbols say: what can be
// reached from the target of a call without a call. Code that several of them jump into (tail
// calls, stubs) is a region of its own, and the jumps are its call sites. Regions that call one
// another (recursion) are one group.
type regions struct {
	group []int32            // by node; -1 = unknown
	sites [][]profile.EdgeID // by group: edges into it from outside
}

const (
	noOwner   = -1
	anyOwner  = -2 // reached from several regions
	maxRounds = 32 // of splitting shared code
)

// carver finds the regions.
type carver struct {
	*loops  // the graph without calls
	tab     *profile.Tables
	entry   []bool
	entered []bool // some edge without a call leads there
	owner   []int32
}

func newRegions(tab *profile.Tables) *regions {
	c := &carver{loops: newLoops(tab), tab: tab}
	c.entry, c.entered = make([]bool, c.n), make([]bool, c.n)
	for _, t := range c.all {
		c.entered[t] = true
	}
	for v := range c.n {
		c.entry[v] = !c.entered[v]
	}
	for i := range tab.Edges {
		e := &tab.Edges[i]
		if (e.Kind == profile.EdgeCall || e.Kind == profile.EdgeCallInd) && valid(e.To, c.n) {
			c.entry[e.To] = true
		}
	}
	c.label()
	for round := 0; round < maxRounds && c.split(); round++ {
		c.label() // also after the last round: an entry without an owner belongs to no group
	}
	return c.groups()
}

// label gives every node the entry from which it can be reached.
func (c *carver) label() {
	c.owner = make([]int32, c.n)
	same := map[uint64]int32{} // entries by address: blocks of one function that were cut differently
	var work []int32
	for v := range c.owner {
		c.owner[v] = noOwner
		if c.entry[v] {
			c.owner[v] = int32(v)
			if at := c.tab.Nodes[v].Addr; at != 0 {
				if first, ok := same[at]; ok {
					c.owner[v] = first
				} else {
					same[at] = int32(v)
				}
			}
			work = append(work, int32(v))
		}
	}
	for len(work) > 0 {
		v := work[len(work)-1]
		work = work[:len(work)-1]
		for _, t := range c.all[c.off[v]:c.off[v+1]] {
			switch was := c.owner[t]; {
			case c.entry[t] || was == c.owner[v] || was == anyOwner:
				continue
			case was == noOwner:
				c.owner[t] = c.owner[v]
			default:
				c.owner[t] = anyOwner
			}
			work = append(work, t)
		}
	}
}

// split makes entries of the nodes at which the ways from two regions meet. It reports whether
// there are any.
func (c *carver) split() bool {
	first := make([]int32, c.n)
	for v := range first {
		first[v] = noOwner
	}
	found := false
	for v := range c.n {
		o := c.owner[v]
		if o < 0 {
			continue
		}
		for _, t := range c.all[c.off[v]:c.off[v+1]] {
			switch {
			case c.owner[t] != anyOwner || c.entry[t]:
			case first[t] == noOwner:
				first[t] = o
			case first[t] != o:
				c.entry[t], found = true, true
			}
		}
	}
	return found
}

// groups puts regions that call one another together.
func (c *carver) groups() *regions {
	n := len(c.tab.Edges)
	from, to := make([]int32, 0, n), make([]int32, 0, n)
	ids := make([]profile.EdgeID, 0, n)
	for i := range c.tab.Edges {
		e := &c.tab.Edges[i]
		if !valid(e.To, c.n) || !c.entry[e.To] || !calls(e.Kind) {
			continue
		}
		ids, to = append(ids, profile.EdgeID(i)), append(to, c.owner[e.To])
		from = append(from, c.ownerOf(e.From))
	}
	off, heads := rows(c.n, from, to)
	comps, comp := components(c.n, off, heads)
	r := &regions{group: make([]int32, c.n), sites: make([][]profile.EdgeID, len(comps))}
	for v := range r.group {
		r.group[v] = -1
		if o := c.owner[v]; o >= 0 {
			r.group[v] = comp[o]
		}
	}
	for i, id := range ids {
		k := comp[to[i]]
		if from[i] < 0 || comp[from[i]] != k {
			r.sites[k] = append(r.sites[k], id)
		}
	}
	return r
}

func (c *carver) ownerOf(v profile.NodeID) int32 {
	if !valid(v, c.n) {
		return noOwner
	}
	return c.owner[v]
}

// calls says whether an edge can lead into another region.
func calls(k profile.EdgeKind) bool {
	switch k {
	case profile.EdgeTaken, profile.EdgeFall, profile.EdgeJump, profile.EdgeJumpInd, profile.EdgeCall, profile.EdgeCallInd:
		return true
	}
	return false
}

// rows brings edges into compressed rows; those from nowhere are left out.
func rows(n int, from, to []int32) (off, heads []int32) {
	off = make([]int32, n+1)
	for _, v := range from {
		if v >= 0 {
			off[v+1]++
		}
	}
	for v := range n {
		off[v+1] += off[v]
	}
	heads = make([]int32, off[n])
	next := append([]int32(nil), off...)
	for i, v := range from {
		if v >= 0 {
			heads[next[v]] = to[i]
			next[v]++
		}
	}
	return off, heads
}
