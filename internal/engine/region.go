package engine

import (
	"slices"

	"lime/internal/cpu"
	"lime/internal/x86"
)

// A region is the hot part of the code around a block, translated as a whole: a graph of copies of
// blocks (nodes), with loops, branches and the functions that are called there. It is entered at its
// head and left by any of its arcs to the outside. Blocks that lie behind each other in it need no
// jumps, and hardly any of its arcs needs a counter (flow.go). The budget is checked where a loop
// comes round, for the longest way from there to the next check; with less left the blocks
// themselves run, so slices end where they would end without regions.

// Limits of a region.
const (
	regionInsts = 500 // that make no new nodes any more
	regionDepth = 8   // calls open
	regionRare  = 200 // an arc taken once in so many rounds of the most frequent one is a way out
	regionHeat  = 2   // samples that make a block hot
)

// region is a graph of nodes, of which node 0 is the outside and node 1 the head.
type region struct {
	head  *block
	nodes []*node
	arcs  []*arc
	sums  sums

	pcs  []uint64 // guest PC of each instruction
	code *block   // where the host code is
	id   int32    // from 1 on: what its code tells Engine.sample
	base int      // its first counter, among the hidden ones, but for that of the passages begun
	dead bool

	looks int    // how often it was looked at
	begun uint64 // passages begun, when it was last judged
	gone  uint64 // passages that have left it unforeseen, then
}

// The nodes that every region has.
const (
	outside  = 0
	headNode = 1
)

// node is a block in a region, with the calls that are open there.
type node struct {
	b     *block
	open  *frame
	in    []*arc
	out   []*arc
	check bool // the budget is checked before it
	ahead int32
	phi   int32 // the budget is larger by this than what memory holds, before the node
	first int   // index of its first instruction
	at    uint64
}

// n returns the instructions of the node.
func (n *node) n() int32 {
	if n.b == nil {
		return 0
	}
	return int32(n.b.n)
}

// frame is a call that is open in a region.
type frame struct {
	ret  uint64
	up   *frame
	deep int
}

// arc is a way from node to node.
type arc struct {
	from, to int
	kind     EdgeKind
	target   uint64   // guest PC
	often    uint64   // how often it was taken, about
	unseen   bool     // it leads out because nobody had taken it
	own      bool     // by an indirect branch, or one that the region does not follow, to anywhere
	ids      []EdgeID // the edges that it is
	counter  int      // which of the region's it has, or derived, or begun
	delta    int32    // is added to the budget in memory
	b        *block   // where it leads, if that is known
}

// sample is told where slices end. Blocks that are met again and again become the heads of
// regions. Samples depend on budgets only, so runs stay repeatable.
func (e *Engine) sample(ctx *cpu.Context, pc uint64) bool {
	if id := ctx.Scratch[slotRegion]; id != 0 {
		return e.regions.judge(e, ctx, e.regions.all[id-1])
	}
	b := e.blocks[pc]
	if b != nil && b.region != nil {
		return e.regions.judge(e, ctx, b.region)
	}
	if b == nil || b.heat >= regionHeat+4 || e.cfg.Mode == Trace || e.cfg.Mode == Log || e.noRegions {
		return false
	}
	if b.heat++; b.heat < regionHeat {
		return false
	}
	if e.cfg.Mode != Plain && b.heat == regionHeat {
		e.regions.fold(e, ctx)
	}
	return e.buildRegion(ctx, b, nil)
}

// buildRegion makes the region around b. old is the one that it replaces, if there is one.
func (e *Engine) buildRegion(ctx *cpu.Context, b *block, old *region) bool {
	g := grower{e: e, ctx: ctx, old: old.totals()}
	if b = g.headNear(b); b == nil || b.region != nil {
		return false
	}
	r := g.grow(b)
	if r == nil {
		return false
	}
	t := &regionEmit{r: r, translation: translation{e: e, avoid: x86.NoReg}}
	return t.build()
}

// totals returns how often the ways out of r and its arcs were taken, by their edges; r may be nil.
func (r *region) totals() map[wayKey]uint64 {
	if r == nil {
		return nil
	}
	got := map[wayKey]uint64{}
	for i, a := range r.arcs[1:] {
		got[wayKey{r.nodes[a.from].b, a.kind, a.target}] += r.sums.total[i+1]
	}
	return got
}

// regions are all regions that were ever built. Their counters are hidden: they lie behind those of
// the edges, first those of the passages begun, which say what there is to fold.
type regions struct {
	all    []*region
	used   int              // hidden counters, but for those of the passages begun
	summed map[BlockID]bool // blocks with edges that hidden counters stand for
}

// maxRegions is the room for regions, maxHidden that for hidden counters, in a context.
const (
	maxRegions = 1 << 14
	maxHidden  = 1 << 20
)

// room reports whether one more region fits, with n counters.
func (rs *regions) room(n int) bool {
	return len(rs.all) < maxRegions && maxRegions+rs.used+n <= maxHidden
}

// add gives r a number and counters.
func (rs *regions) add(r *region) {
	rs.all = append(rs.all, r)
	r.id, r.base = int32(len(rs.all)), maxRegions+rs.used
	r.sums.set(r)
	rs.used += len(r.sums.chords) - 1
}

// hidden returns the hidden counters of ctx.
func (e *Engine) hidden(ctx *cpu.Context) []uint64 {
	return ctx.Counters(e.cfg.MaxEdges + maxHidden)[e.cfg.MaxEdges:]
}

// note notes the blocks between which the edges lie that the counters of r stand for.
func (rs *regions) note(e *Engine, r *region) {
	for _, a := range r.arcs {
		for _, id := range a.ids {
			rs.summed[e.edges[id].From], rs.summed[e.edges[id].To] = true, true
		}
	}
}

// fold moves what hidden counters hold to the edges that they stand for.
func (rs *regions) fold(e *Engine, ctx *cpu.Context) {
	hidden := e.hidden(ctx)
	begun := hidden[:len(rs.all)]
	for i := nextCount(begun, 0); i < len(begun); i = nextCount(begun, i+1) {
		rs.all[i].sums.fold(ctx.Counters(len(e.edges)), hidden, outside)
	}
}

// Limits of judging a region.
const (
	judgeEvery = 8    // samples
	judgeMin   = 2000 // passages begun since it was last judged
	maxRebuilt = 10   // times that a head's region is replaced
)

// judge looks whether r is still the hot part. If most passages leave it by ways that nobody had
// taken before, it is built again with these: programs change their ways.
func (rs *regions) judge(e *Engine, ctx *cpu.Context, r *region) bool {
	if r.looks++; r.looks%judgeEvery != 0 || r.dead || e.cfg.Mode == Plain || r.head.rebuilt >= maxRebuilt {
		return false
	}
	r.sums.fold(ctx.Counters(len(e.edges)), e.hidden(ctx), outside)
	passed, stray := r.sums.total[0], uint64(0)
	for i, a := range r.arcs {
		if a.unseen {
			stray += r.sums.total[i]
		}
	}
	if passed-r.begun < judgeMin<<r.head.rebuilt {
		return false
	}
	most := stray-r.gone > (passed-r.begun)/2
	if r.begun, r.gone = passed, stray; !most {
		return false
	}
	rs.fold(e, ctx)
	b := r.head
	e.dropRegion(r)
	b.rebuilt++
	return e.buildRegion(ctx, b, r)
}

// dropRegion lets the head run by itself again.
func (e *Engine) dropRegion(r *region) {
	if r.dead {
		return
	}
	r.dead = true
	r.head.region = nil
	r.head.heat = 0
	e.cache.replace(r.head.body, nop5[:])
}

// leave makes the state of ctx that before instruction i, at a fault in it.
func (r *region) leave(e *Engine, ctx *cpu.Context, i int) {
	at := slices.IndexFunc(r.nodes, func(n *node) bool { return n.first <= i && i < n.first+int(n.n()) })
	n := r.nodes[at]
	ctx.Budget += int64(n.phi) - int64(i-n.first)
	ctx.RIP = r.pcs[i]
	if e.cfg.Mode != Plain {
		r.sums.fold(ctx.Counters(len(e.edges)), e.hidden(ctx), at)
	}
}
