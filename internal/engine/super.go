package engine

import (
	"lime/internal/cpu"
	"lime/internal/x86"
)

// A superblock is a hot path of blocks, copied one behind the other: a loop that
// comes back to its head, or a straight path. It checks the budget once for all of its
// instructions, keeps it in a register where one is free, and counts
// edges with one hidden counter for the whole path and one for each way out of it.
// With less budget left than the path needs, the blocks themselves run, so slices end where they
// would end without superblocks.

// Limits of a superblock.
const (
	superBlocks = 48
	superInsts  = 400
	superHeat   = 2 // samples that make a block hot
)

type super struct {
	head  *block
	path  []*block
	tail  *block     // where a straight path goes; nil: it ends with the last block's own last instruction
	kinds []EdgeKind // how path[i] is left
	loop  bool
	cut   bool    // a path led to the loop, and its calls may be open in it
	reg   x86.Reg // holds the budget; NoReg: it stays in memory

	pcs   []uint64 // guest PC of each instruction
	edges []step   // edges along the path
	total int      // hidden counter of the whole path
	outs  []out    // direct ways out of the path
	code  *block   // where the host code is
	dead  bool

	looks  int    // how often the path was looked at
	begun  uint64 // passages begun, when it was last judged
	misses []uint64
}

// out is a direct way out of a path: it was expected to be taken rarely.
type out struct {
	own     *exit
	at      int
	counter int // hidden
}

// step is an edge that is taken by instruction at of the path.
type step struct {
	at int
	id EdgeID
}

// n returns the instructions of the path.
func (s *super) n() int { return len(s.pcs) }

// sample is told where slices end. Blocks that are met again and again become
// superblocks. Samples depend on budgets only, so runs stay repeatable.
func (e *Engine) sample(ctx *cpu.Context, pc uint64) bool {
	b := e.blocks[pc]
	if b != nil && b.super != nil {
		return e.judge(ctx, b.super)
	}
	if b == nil || b.heat >= superHeat+4 || e.cfg.Mode == Trace || e.cfg.Mode == Log || e.noSuper {
		return false
	}
	b.heat++
	if b.heat < superHeat {
		return false
	}
	if e.cfg.Mode != Plain && b.heat == superHeat {
		e.fold(ctx)
	}
	s := e.findPath(ctx, b)
	return s != nil && e.buildSuper(s)
}

// Limits of judging a superblock.
const (
	judgeEvery = 8    // samples
	judgeMin   = 2000 // passages begun since it was last judged
	maxRebuilt = 10   // times that a head's path is replaced
)

// judge looks whether the path of s is still the likely one. If most passages leave it early,
// it is built again along the way that they go: programs change their ways.
func (e *Engine) judge(ctx *cpu.Context, s *super) bool {
	if s.looks++; s.looks%judgeEvery != 0 || s.total < 0 || s.head.rebuilt >= maxRebuilt {
		return false
	}
	e.foldSuper(ctx, s)
	begun := e.hidden[s.total].folded
	if begun-s.begun < judgeMin<<s.head.rebuilt {
		return false
	}
	stray := e.strays(s, begun-s.begun)
	s.begun = begun
	if len(stray) == 0 {
		return false
	}
	e.fold(ctx)
	b := s.head
	e.dropSuper(s)
	b.rebuilt++
	e.stray = stray
	next := e.findPath(ctx, b)
	e.stray = nil
	return next != nil && e.buildSuper(next)
}

// strays returns the exits by which most passages that got there have left the path since
// it was last judged, if most of all those begun have left it so.
func (e *Engine) strays(s *super, begun uint64) map[*block]*exit {
	if s.misses == nil {
		s.misses = make([]uint64, len(s.outs))
	}
	left := begun
	found := map[*block]*exit{}
	for i, o := range s.outs {
		n := e.hidden[o.counter].folded
		gone := min(n-s.misses[i], left)
		s.misses[i] = n
		last := s.loop && o.at == s.n()-1
		if gone > left/2 && !last {
			found[o.own.from] = o.own
		}
		left -= gone
	}
	if left > begun/2 {
		return nil
	}
	return found
}

// findPath follows the most frequent edges from b.
func (e *Engine) findPath(ctx *cpu.Context, b *block) *super {
	s := e.follow1(ctx, b)
	if s != nil && s.loop && s.head != b {
		s = e.follow1(ctx, s.head)
	}
	if s != nil && s.cut {
		return nil
	}
	if s != nil && s.loop && s.head.live != 0 {
		s = e.rotate(ctx, s)
	}
	if s == nil || s.head.live != 0 || s.head.super != nil || !s.loop && len(s.path) < 2 {
		return nil
	}
	return s
}

// rotate looks for another head of the loop, at which no flags are live.
func (e *Engine) rotate(ctx *cpu.Context, s *super) *super {
	for _, b := range s.path[1:] {
		if b.live != 0 {
			continue
		}
		if r := e.follow1(ctx, b); r != nil && r.loop && !r.cut {
			return r
		}
	}
	return nil
}

// follow1 builds the path from b: a loop if it comes back to one of its blocks.
func (e *Engine) follow1(ctx *cpu.Context, b *block) *super {
	s := &super{reg: x86.NoReg}
	at := map[*block]int{}
	var calls []uint64
	insts := 0
	for {
		if i, ok := at[b]; ok {
			s.path, s.kinds, s.loop = s.path[i:], s.kinds[i:], true
			s.cut = i > 0
			break
		}
		insts += int(b.n)
		if !e.traceable(b) || insts > superInsts || len(s.path) == superBlocks || b.super != nil {
			s.tail = b
			break
		}
		at[b] = len(s.path)
		s.path = append(s.path, b)
		kind, next := e.likely(ctx, b, &calls)
		s.kinds = append(s.kinds, kind)
		if next == nil {
			break
		}
		b = next
	}
	if len(s.path) == 0 {
		return nil
	}
	s.head = s.path[0]
	return s
}

// traceable reports whether a superblock may hold b.
func (e *Engine) traceable(b *block) bool {
	switch e.table[b.id].End {
	case EndSyscall, EndOther:
		return false
	}
	return !b.stale && !e.probes[b.pc]
}

// likely returns the edge by which b is mostly left, and the next block; nil if
// that is not known.
func (e *Engine) likely(ctx *cpu.Context, b *block, calls *[]uint64) (EdgeKind, *block) {
	switch b.branch {
	case x86.BranchRet:
		n := len(*calls)
		if n == 0 {
			return EdgeEnd, nil
		}
		ret := (*calls)[n-1]
		*calls = (*calls)[:n-1]
		if e.blocks[ret] == nil { // never returned there so far
			return EdgeEnd, nil
		}
		return EdgeReturn, e.blocks[ret]
	case x86.BranchNone, x86.BranchCond, x86.BranchJump:
	case x86.BranchCall:
		*calls = append(*calls, b.end())
	default:
		return EdgeEnd, nil
	}
	x := e.likelyExit(ctx, b)
	if x == nil || e.blocks[x.target] == nil {
		return EdgeEnd, nil
	}
	return x.edge, e.blocks[x.target]
}

// likelyExit returns the direct exit of b that was taken most, among those taken at all.
func (e *Engine) likelyExit(ctx *cpu.Context, b *block) *exit {
	if x := e.stray[b]; x != nil {
		return x
	}
	var best *exit
	most := uint64(0)
	for _, x := range b.exits {
		if n := e.taken(ctx, x); n > most {
			best, most = x, n
		}
	}
	return best
}

// taken returns how often x was taken, or a guess where edges are not counted.
func (e *Engine) taken(ctx *cpu.Context, x *exit) uint64 {
	to := e.blocks[x.target]
	switch {
	case to == nil:
		return 0
	case e.cfg.Mode != Plain:
		id, ok := e.edgeIDs[edgeKey{x.from.id, x.edge, to.id, to.pc}]
		if !ok {
			return 0
		}
		return ctx.Counters(int(id) + 1)[id]
	case x.to == nil:
		return 0
	case x.target <= x.from.pc:
		return 2
	}
	return 1
}

// dropSuper lets the head run by itself again.
func (e *Engine) dropSuper(s *super) {
	if s.dead {
		return
	}
	s.dead = true
	s.head.super = nil
	s.head.heat = 0
	e.cache.replace(s.head.body, nop5[:])
}

// leaveSuper makes the state of ctx that before instruction i of the path, at a fault in it.
func (e *Engine) leaveSuper(ctx *cpu.Context, s *super, i int) {
	n := int64(s.n())
	counters := ctx.Counters(e.counterRoom())
	if s.reg != x86.NoReg {
		used := int64(ctx.GPR[s.reg])
		ctx.GPR[s.reg] = ctx.Scratch[slotReg]
		ctx.Budget -= used
		if s.total >= 0 {
			counters[e.hiddenIndex(s.total)] += uint64(used)
		}
	}
	ctx.Budget += n - int64(i)
	for _, st := range s.edges {
		if st.at >= i {
			counters[st.id]-- // the hidden counter stands for the whole path
		}
	}
}
