package analysis

import (
	"cmp"
	"slices"

	"lime/internal/profile"
)

// A collector that finds blocks as they run meets a loop's first iteration before it knows that
// something jumps into the middle of the block: it reports a long block, and later a short one with
// the same end. To the graph that is a loop with two heads, which has no leader. So blocks with a
// common end become what a compiler calls basic blocks: the shortest keeps the end and all that
// leaves it; each longer one falls into the next shorter one.

// canon is that view of a profile's edges.
type canon struct {
	edges  []profile.Edge // the profile's, then those that had to be added
	to     []int32        // profile's edge -> the edge that counts it
	merged map[int32]bool // edges that count more, or other, than themselves
	next   map[profile.NodeID]profile.NodeID
	into   map[profile.NodeID]int32            // longer block -> its edge into the next shorter one
	group  map[profile.NodeID][]profile.NodeID // the blocks with the same end, shortest first
}

type endKey struct {
	image profile.ImageID
	last  uint64
}

type edgeKey struct {
	from, to profile.NodeID
	kind     profile.EdgeKind
}

func newCanon(tab *profile.Tables) *canon {
	c := &canon{edges: slices.Clone(tab.Edges), to: make([]int32, len(tab.Edges)), merged: map[int32]bool{},
		next: map[profile.NodeID]profile.NodeID{}, into: map[profile.NodeID]int32{}, group: map[profile.NodeID][]profile.NodeID{}}
	for i := range c.to {
		c.to[i] = int32(i)
	}
	c.findGroups(tab)
	if len(c.group) > 0 {
		c.redirect(tab)
	}
	return c
}

// findGroups finds the blocks that end at one instruction.
func (c *canon) findGroups(tab *profile.Tables) {
	ends := map[endKey]profile.NodeID{}
	byEnd := map[endKey][]profile.NodeID{}
	for v := range tab.Nodes {
		n, id := &tab.Nodes[v], profile.NodeID(v)
		if n.Kind == profile.NodePseudo || n.Size == 0 || n.LastAddr == 0 {
			continue
		}
		k := endKey{n.Image, n.LastAddr}
		if first, ok := ends[k]; ok {
			if byEnd[k] == nil {
				byEnd[k] = []profile.NodeID{first}
			}
			byEnd[k] = append(byEnd[k], id)
			continue
		}
		ends[k] = id
	}
	for _, g := range byEnd {
		slices.SortFunc(g, func(a, b profile.NodeID) int {
			return cmp.Or(cmp.Compare(tab.Nodes[b].Addr, tab.Nodes[a].Addr), cmp.Compare(a, b))
		})
		for k, v := range g {
			c.group[v] = g
			if k > 0 {
				c.next[v] = g[k-1]
			}
		}
	}
}

// redirect lets what leaves a longer block leave the shortest one.
func (c *canon) redirect(tab *profile.Tables) {
	known := map[edgeKey]int32{}
	for i, e := range tab.Edges {
		if _, long := c.next[e.From]; !long && c.group[e.From] != nil {
			known[edgeKey{e.From, e.To, e.Kind}] = int32(i)
		}
	}
	for i, e := range tab.Edges {
		if _, long := c.next[e.From]; long {
			k := edgeKey{c.group[e.From][0], e.To, e.Kind}
			id, ok := known[k]
			if !ok {
				id = c.append(profile.Edge{From: k.from, To: k.to, Kind: k.kind})
				known[k] = id
			}
			c.to[i], c.merged[id] = id, true
			c.edges[i] = profile.Edge{From: profile.None, To: profile.None, Kind: e.Kind}
		}
	}
	for v := range tab.Nodes {
		if next, long := c.next[profile.NodeID(v)]; long {
			id := c.append(profile.Edge{From: profile.NodeID(v), To: next, Kind: profile.EdgeFall})
			c.into[profile.NodeID(v)], c.merged[id] = id, true
		}
	}
}

func (c *canon) append(e profile.Edge) int32 {
	c.edges = append(c.edges, e)
	return int32(len(c.edges) - 1)
}

// falls calls f with the edges into the next shorter block that a visit of v passes.
func (c *canon) falls(v profile.NodeID, f func(edge int32)) {
	for {
		next, long := c.next[v]
		if !long {
			return
		}
		f(c.into[v])
		v = next
	}
}

// holding calls f with the blocks that contain an instruction of block v.
func (c *canon) holding(tab *profile.Tables, v profile.NodeID, addr uint64, f func(profile.NodeID)) {
	g := c.group[v]
	if g == nil {
		f(v)
		return
	}
	for _, u := range g {
		if tab.Nodes[u].Addr <= addr {
			f(u)
		}
	}
}
