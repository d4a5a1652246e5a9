package engine

import (
	"fmt"

	"lime/internal/cpu"
)

// defaultEdges is the room for counters in a context.
const defaultEdges = 4 << 20

type edgeKey struct {
	from   BlockID
	kind   EdgeKind
	to     BlockID // NoBlock while the target has not run
	target uint64
}

// fullError is what edge panics with: the table of edges is full, deep in a translation. Run
// recovers.
type fullError struct{ error }

// edge returns the id of an edge, a new one if it is new.
func (e *Engine) edge(k edgeKey) EdgeID {
	if id, ok := e.edgeIDs[k]; ok {
		return id
	}
	id := EdgeID(len(e.edges))
	if int(id) >= e.cfg.MaxEdges {
		panic(fullError{fmt.Errorf("engine: the program has more than %d control-flow edges, which is all there is room for; "+
			"raise Config.MaxEdges", e.cfg.MaxEdges)})
	}
	e.edgeIDs[k] = id
	e.edges = append(e.edges, Edge{From: k.from, To: k.to, Kind: k.kind, Target: k.target})
	if k.from != NoBlock {
		e.out[k.from] = append(e.out[k.from], id)
	}
	if k.to != NoBlock {
		e.in[k.to] = append(e.in[k.to], id)
	}
	return id
}

// edgeBetween returns the edge to a block that is translated.
func (e *Engine) edgeBetween(from BlockID, kind EdgeKind, to *block) EdgeID {
	return e.edge(edgeKey{from, kind, to.id, to.pc})
}

// edgeTo returns the edge to an address whose block may not be known yet; it is
// filled in once it runs.
func (e *Engine) edgeTo(from BlockID, kind EdgeKind, target uint64) EdgeID {
	if kind == EdgeEnd {
		return e.edge(edgeKey{from, kind, NoBlock, 0})
	}
	id := e.edge(edgeKey{from, kind, NoBlock, target})
	if b := e.blocks[target]; b != nil {
		e.setTarget(id, b)
	} else {
		e.open[target] = append(e.open[target], id)
	}
	return id
}

func (e *Engine) setTarget(id EdgeID, b *block) {
	e.edges[id].To = b.id
	e.in[b.id] = append(e.in[b.id], id)
}

// knownBlock fills b in as the target of edges that wait for it.
func (e *Engine) knownBlock(b *block) {
	for _, id := range e.open[b.pc] {
		e.setTarget(id, b)
	}
	delete(e.open, b.pc)
}

// Returned is the edge by which a return reaches pc, for one that is made by other means than a ret;
// false if pc has not run, or edges do not count.
func Returned(e *Engine, pc uint64) (EdgeID, bool) {
	b := e.blocks[pc]
	if b == nil || e.cfg.Mode == Plain {
		return 0, false
	}
	return returned(e, b), true
}

func returned(e *Engine, b *block) EdgeID {
	if call, ok := e.calls[b.pc]; ok {
		return e.edgeBetween(call, EdgeReturn, b)
	}
	return e.edgeBetween(NoBlock, EdgeOdd, b)
}

// Odd counts that ctx comes to where it goes on by no instruction.
func Odd(e *Engine, ctx *cpu.Context) {
	if e.cfg.Mode == Plain || e.cache == nil {
		return
	}
	defer full(&cpu.Exit{}) // Run will say so, too
	b, err := e.block(ctx.RIP)
	if err != nil {
		return // nor will it run there
	}
	id := e.edgeBetween(NoBlock, EdgeOdd, b)
	ctx.Counters(len(e.edges))[id]++
}

// Blocks returns the blocks, indexed by BlockID. The caller must not change them.
func (e *Engine) Blocks() []Block { return e.table }

// Edges returns the edges, indexed by EdgeID. The caller must not change them.
func (e *Engine) Edges() []Edge { return e.edges }

// Counters returns the counters of ctx, indexed by EdgeID. They are valid while ctx does not run.
func (e *Engine) Counters(ctx *cpu.Context) []uint64 {
	e.regions.fold(e, ctx)
	return ctx.Counters(len(e.edges))
}

// Drain calls f for every edge that ctx went along since the last Drain, in the
// order of their ids, and zeroes the counters.
func (e *Engine) Drain(ctx *cpu.Context, f func(EdgeID, uint64)) {
	c := e.Counters(ctx)
	for i := nextCount(c, 0); i < len(c); i = nextCount(c, i+1) {
		n := c[i]
		c[i] = 0
		f(EdgeID(i), n)
	}
}

// nextCount returns the index of the first counter from i on that is not nil, or
// len(c). Most are nil, and programs with many short sections drain often: look at eight at once.
func nextCount(c []uint64, i int) int {
	for ; i < len(c) && i%8 != 0; i++ {
		if c[i] != 0 {
			return i
		}
	}
	for ; i+8 <= len(c); i += 8 {
		if w := c[i : i+8 : i+8]; w[0]|w[1]|w[2]|w[3]|w[4]|w[5]|w[6]|w[7] != 0 {
			break
		}
	}
	for ; i < len(c) && c[i] == 0; i++ {
	}
	return i
}
