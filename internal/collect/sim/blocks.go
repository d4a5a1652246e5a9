// Arguments of calls, and the engine's blocks by address.

package sim

import (
	"lime/internal/engine"
)

// Numbers of registers in cpu.Context.GPR.
const (
	rax = 0
	rcx = 1
	rdx = 2
	rbx = 3
	rsp = 4
	rbp = 5
	rsi = 6
	rdi = 7
	r8  = 8
	r9  = 9
)

// argument is the n-th integer argument of a call (System V ABI AMD64, 3.2.3).
func argument(t *thread, n int) uint64 {
	return t.ctx.GPR[[...]int{rdi, rsi, rdx, rcx, r8, r9}[n]]
}

func isCall(k engine.EdgeKind) bool {
	return k == engine.EdgeCall || k == engine.EdgeCallInd
}

// blockIndex finds the engine's blocks by address.
type blockIndex struct {
	eng  *engine.Engine
	seen int
	head map[uint64]engine.BlockID   // by first address, the latest
	tail map[uint64]engine.BlockID   // by the address behind the last byte, the latest
	near map[uint64][]engine.BlockID // by the high bits of its addresses, in the order of their numbers
}

// nearBits is how many low bits of an address do not matter in blockIndex.near.
const nearBits = 8

func (x *blockIndex) init(eng *engine.Engine) {
	x.eng = eng
	x.head, x.tail, x.near = map[uint64]engine.BlockID{}, map[uint64]engine.BlockID{}, map[uint64][]engine.BlockID{}
}

// sync takes in the blocks that are new.
func (x *blockIndex) sync() []engine.Block {
	all := x.eng.Blocks()
	for ; x.seen < len(all); x.seen++ {
		b, id := &all[x.seen], engine.BlockID(x.seen)
		x.head[b.PC] = id
		x.tail[b.PC+uint64(b.Size)] = id
		for n := b.PC >> nearBits; n <= (b.PC+uint64(b.Size))>>nearBits; n++ {
			x.near[n] = append(x.near[n], id)
		}
	}
	return all
}

// holding is the block whose last instruction is at an address, the latest, or else the first that
// holds it. Blocks may have been cut since they were taken in, but do not grow.
func (x *blockIndex) holding(addr uint64) engine.BlockID {
	all, best := x.sync(), engine.NoBlock
	for _, id := range x.near[addr>>nearBits] {
		b := &all[id]
		if addr >= b.PC && addr < b.PC+uint64(b.Size) && (best < 0 || b.LastPC == addr) {
			best = id
		}
	}
	return best
}

// beginningIn lists the blocks that begin in a stretch of code.
func (x *blockIndex) beginningIn(lo, hi uint64) (ids []engine.BlockID) {
	all := x.sync()
	for n := lo >> nearBits; n <= hi>>nearBits; n++ {
		for _, id := range x.near[n] {
			if pc := all[id].PC; pc>>nearBits == n && lo <= pc && pc < hi {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// callBefore is the address of the call that returns to ret.
func (x *blockIndex) callBefore(ret uint64) uint64 {
	all := x.sync()
	if id, ok := x.tail[ret]; ok {
		if b := &all[id]; b.End == engine.EndCall || b.End == engine.EndCallInd {
			return b.LastPC
		}
	}
	return ret - 1
}

// endingAt is the block whose last byte is before pc.
func (x *blockIndex) endingAt(pc uint64) (engine.BlockID, bool) {
	x.sync()
	id, ok := x.tail[pc]
	return id, ok
}

// startingAt is the block at pc.
func (x *blockIndex) startingAt(pc uint64) (engine.BlockID, bool) {
	x.sync()
	id, ok := x.head[pc]
	return id, ok
}
