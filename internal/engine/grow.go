package engine

import (
	"lime/internal/cpu"
	"lime/internal/x86"
)

// grower finds the nodes of a region: from the head on along the arcs that are taken most, into the
// functions that are called, and back.
type grower struct {
	e     *Engine
	ctx   *cpu.Context
	old   map[wayKey]uint64 // how often ways were taken in a region before
	r     *region
	known map[nodeKey]int
	calls map[frame]*frame
	waits []*arc // where they lead is not decided
	opens map[*arc]*frame
	insts int
	most  uint64 // of the arc that is taken most
}

type nodeKey struct {
	b    *block
	open *frame
}

// wayKey names a way out of a block.
type wayKey struct {
	from   *block
	kind   EdgeKind
	target uint64
}

// headNear returns a block at which a region may begin: b, or one that mostly follows it, if flags
// are live at b.
func (g *grower) headNear(b *block) *block {
	for range regionDepth {
		if b == nil || !g.fits(b) {
			return nil
		}
		if b.live == 0 {
			return b
		}
		var next *block
		most := uint64(0)
		for _, x := range b.exits {
			if n := g.often(b, x.edge, x.target); n > most {
				most, next = n, g.e.blocks[x.target]
			}
		}
		b = next
	}
	return nil
}

// fits reports whether a region may hold b.
func (g *grower) fits(b *block) bool {
	switch g.e.table[b.id].End {
	case EndSyscall, EndOther:
		return false
	}
	return !b.stale && !g.e.probes[b.pc]
}

// grow returns the region of head; nil if there is none worth it.
func (g *grower) grow(head *block) *region {
	g.r = &region{head: head, nodes: []*node{{}}, arcs: []*arc{{to: headNode}}}
	g.known, g.calls, g.opens = map[nodeKey]int{}, map[frame]*frame{}, map[*arc]*frame{}
	g.add(head, nil)
	for a := g.next(); a != nil; a = g.next() {
		g.add(g.e.blocks[a.target], g.opens[a])
	}
	g.settle()
	if !g.r.inner() {
		return nil
	}
	g.r.unroll()
	g.r.setChecks()
	return g.r
}

// inner reports whether an arc stays in the region.
func (r *region) inner() bool {
	for _, a := range r.arcs {
		if a.from != outside && a.to != outside {
			return true
		}
	}
	return false
}

// next returns the waiting arc to a new node that is taken most; nil if that is enough.
func (g *grower) next() *arc {
	var best *arc
	for _, a := range g.waits {
		b := g.e.blocks[a.target]
		if a.often == 0 || b == nil || best != nil && a.often <= best.often {
			continue
		}
		if _, ok := g.known[nodeKey{b, g.opens[a]}]; !ok && g.fits(b) {
			best = a
		}
	}
	if best == nil || g.insts >= regionInsts || best.often < g.most/regionRare {
		return nil
	}
	return best
}

// add makes the node of b.
func (g *grower) add(b *block, open *frame) {
	r, at := g.r, len(g.r.nodes)
	g.known[nodeKey{b, open}] = at
	r.nodes = append(r.nodes, &node{b: b, open: open})
	g.insts += int(b.n)
	switch b.branch {
	case x86.BranchNone, x86.BranchCond, x86.BranchJump, x86.BranchCall:
		for _, x := range b.exits {
			g.wait(at, x.edge, x.target, g.behind(b, open))
		}
	case x86.BranchRet:
		g.own(at)
		if open != nil && g.e.blocks[open.ret] != nil {
			g.wait(at, EdgeReturn, open.ret, open.up)
		}
	default:
		g.own(at)
		g.foresee(at, open)
	}
}

// foresee adds the way that an indirect branch goes more often than not.
func (g *grower) foresee(at int, open *frame) {
	b := g.r.nodes[at].b
	all, most, best := uint64(0), uint64(0), Edge{To: NoBlock}
	for _, id := range g.e.out[b.id] {
		d := g.e.edges[id]
		if d.Kind != EdgeJumpInd && d.Kind != EdgeCallInd {
			continue
		}
		n := g.often(b, d.Kind, d.Target)
		if all += n; n > most {
			most, best = n, d
		}
	}
	if most > all/2 && b.near {
		g.wait(at, best.Kind, best.Target, g.behind(b, open))
	}
}

// behind returns the calls that are open behind b.
func (g *grower) behind(b *block, open *frame) *frame {
	if b.branch != x86.BranchCall && b.branch != x86.BranchCallInd {
		return open
	}
	f := frame{ret: b.end(), up: open, deep: 1}
	if open != nil {
		f.deep = open.deep + 1
	}
	if g.calls[f] == nil {
		g.calls[f] = &f
	}
	return g.calls[f]
}

// own adds the way out by the block's own last instruction.
func (g *grower) own(at int) {
	a := &arc{from: at, kind: EdgeEnd, own: true}
	a.often = g.often(g.r.nodes[at].b, EdgeEnd, 0)
	g.r.arcs = append(g.r.arcs, a)
}

// wait adds an arc.
func (g *grower) wait(at int, kind EdgeKind, target uint64, open *frame) {
	a := &arc{from: at, kind: kind, target: target, often: g.often(g.r.nodes[at].b, kind, target)}
	if open != nil && open.deep > regionDepth {
		a.often = 0
	}
	g.most = max(g.most, a.often)
	g.opens[a] = open
	g.r.arcs = append(g.r.arcs, a)
	g.waits = append(g.waits, a)
}

// often returns how often a way out of b was taken, or a guess where edges are not counted.
func (g *grower) often(b *block, kind EdgeKind, target uint64) uint64 {
	e, to := g.e, g.e.blocks[target]
	if e.cfg.Mode == Plain {
		return guess(b, target)
	}
	k := edgeKey{b.id, kind, NoBlock, 0}
	switch {
	case kind == EdgeEnd:
	case to == nil:
		return 0
	case kind == EdgeReturn:
		k = edgeKey{e.calls[target], EdgeReturn, to.id, target}
	default:
		k = edgeKey{b.id, kind, to.id, target}
	}
	n := g.old[wayKey{b, kind, target}]
	if id, ok := e.edgeIDs[k]; ok {
		n = max(n, g.ctx.Counters(int(id) + 1)[id])
	}
	return n
}

// guess says how often a way was taken if nothing is counted: not at all, perhaps, or in a loop.
func guess(b *block, target uint64) uint64 {
	for _, x := range b.exits {
		switch {
		case x.target != target || x.to == nil:
		case target <= b.pc:
			return 2
		default:
			return 1
		}
	}
	return 0
}

// settle decides where the arcs lead.
func (g *grower) settle() {
	for _, a := range g.waits {
		b := g.e.blocks[a.target]
		a.to = g.known[nodeKey{b, g.opens[a]}] // or the outside
		if a.to == outside {
			a.unseen = b == nil || a.often == 0
		}
		if !a.unseen {
			a.b = b
		}
	}
	g.r.arcs = dropArcs(g.r.arcs, (*arc).idle)
}
