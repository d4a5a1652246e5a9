package engine

import (
	"encoding/binary"

	"lime/internal/x86/enc"
)

// patchIn makes the rel32 at address at, in code still being assembled, reach target.
func patchIn(a *enc.Asm, at, target uint64) {
	binary.LittleEndian.PutUint32(a.Code[at-a.PC:], uint32(int64(target)-int64(at)-4))
}

// link lets x run on to b without leaving: the branch reaches code that counts the
// edge and jumps to b. It returns where to enter so that this passage counts too.
func (e *Engine) link(x *exit, b *block) uint64 {
	if x.from.stale || !e.cache.room(roomFixed) {
		return e.countOnce(x, b)
	}
	to := b.entry
	if e.cfg.Mode != Plain && !x.done {
		to = e.edgeCode(x, b)
	}
	e.cache.patch(x.patch, to)
	x.to = b
	b.in = append(b.in, x)
	return to
}

// edgeCode emits the counter of an edge and the jump to its block.
func (e *Engine) edgeCode(x *exit, b *block) uint64 {
	a := &enc.Asm{PC: e.cache.next}
	countEdge(a, e.cfg.Mode, e.edgeBetween(x.from.id, x.edge, b), b.live)
	a.Jmp(b.entry)
	e.cache.put(a.Code)
	return a.PC
}

// countOnce counts the edge here, for a passage that cannot be linked.
func (e *Engine) countOnce(x *exit, b *block) uint64 {
	if e.cfg.Mode != Plain && !x.done {
		id := e.edgeBetween(e.leftBy(x.from), x.edge, b)
		e.running.Counters(len(e.edges))[id]++
	}
	return b.entry
}

// unlink lets x leave again.
func (e *Engine) unlink(x *exit) {
	e.cache.patch(x.patch, x.stub)
	x.to = nil
}
