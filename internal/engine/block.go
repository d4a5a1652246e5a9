package engine

import (
	"hash/fnv"
	"slices"

	"lime/internal/x86"
)

// block is a translation.
type block struct {
	id      BlockID
	pc      uint64
	size    uint32
	n       uint32 // instructions
	entry   uint64 // where links arrive: the probe exit, if there is one
	body    uint64 // behind the probe exit
	plain   uint64 // behind the jump to the region
	after   uint64 // behind the budget check
	term    uint64 // the last instruction
	host    uint64 // first and last+1 host address of everything emitted for the block
	hostHi  uint64
	live    x86.Flags // status flags that may be read before they are written
	marks   []mark
	in      []*exit // linked exits that come here
	stubs   []*stub // entries of indirect tables that come here
	starts  []uint16
	exits   []*exit   // its own direct exits
	regions []*region // that are built on it
	region  *region   // the region that starts here, or whose code this is
	heat    uint8
	rebuilt uint8 // times that its region was replaced by another

	branch  x86.Branch // of the last instruction
	near    bool       // its operand is not relative to a segment
	late    bool       // the last instruction, not the head, takes the block off the budget
	counted bool       // the head has counted endEdge
	endEdge EdgeID     // of a block that returns
	stale   bool
	past    bool // stale because the cache was emptied, or a front: it may yet be split
}

// end returns the guest address behind the block.
func (b *block) end() uint64 { return b.pc + uint64(b.size) }

// mark says what the host code from off on (up to the next mark) belongs to.
type mark struct {
	off  uint32 // from block.host
	inst uint16 // index of the guest instruction
	// Mode Log: the log's pointer is behind the block; the code reads where the instruction will
	// write.
	logged, ahead bool
	spill         [4]spill
}

// spill is a guest register that lies in a scratch slot.
type spill struct {
	reg  x86.Reg
	slot uint8
	used bool
}

type blockKey struct {
	pc   uint64
	size uint32
	hash uint64
}

// idOf returns the id of the block of these bytes, a new one if it is new.
func (e *Engine) idOf(b *block, code []byte, last uint64, end End) BlockID {
	h := fnv.New64a()
	h.Write(code)
	k := blockKey{b.pc, b.size, h.Sum64()}
	if id, ok := e.blockIDs[k]; ok {
		e.table[id].Stale = false
		return id
	}
	id := BlockID(len(e.table))
	e.table = append(e.table, Block{PC: b.pc, Size: b.size, Instrs: b.n, LastPC: last, End: end,
		Front: NoBlock, Tail: NoBlock})
	e.out, e.in = append(e.out, nil), append(e.in, nil)
	e.blockIDs[k] = id
	return id
}

// register makes b known as the translation of its pc.
func (e *Engine) register(b *block) {
	e.blocks[b.pc] = b
	e.order = append(e.order, b)
	e.addHead(b.pc)
	for p := b.pc / pageSize; p <= (b.end()-1)/pageSize; p++ {
		e.pages[p] = append(slices.DeleteFunc(e.pages[p], func(o *block) bool { return o.past && o.pc == b.pc }), b)
	}
}

// addHead notes that a block starts at pc.
func (e *Engine) addHead(pc uint64) {
	heads := e.heads[pc/pageSize]
	if heads == nil {
		heads = map[uint64]bool{}
		e.heads[pc/pageSize] = heads
	}
	heads[pc] = true
}

// forgetHeads forgets the starts of blocks on a page whose code is gone.
func (e *Engine) forgetHeads(page, lo, hi uint64) {
	for pc := range e.heads[page] {
		if lo <= pc && pc < hi {
			delete(e.heads[page], pc)
		}
	}
}

// drop forgets b: nothing jumps to it any more.
func (e *Engine) drop(b *block) {
	if b.past {
		b.past = false
		e.table[b.id].Stale = true
		e.unpage(b)
	}
	if b.stale {
		return
	}
	b.stale = true
	e.table[b.id].Stale = true
	for _, x := range b.in {
		e.unlink(x)
	}
	for _, s := range b.stubs {
		e.cache.setSlot(s.slot, s.miss)
	}
	for _, r := range b.regions {
		e.dropRegion(r)
	}
	b.in, b.stubs, b.regions = nil, nil, nil
	if e.blocks[b.pc] == b {
		delete(e.blocks, b.pc)
	}
	e.unpage(b)
}

// unpage takes b off the lists of its pages.
func (e *Engine) unpage(b *block) {
	for p := b.pc / pageSize; p <= (b.end()-1)/pageSize; p++ {
		e.pages[p] = unlist(e.pages[p], b)
	}
}

func unlist(list []*block, b *block) []*block {
	for i, x := range list {
		if x == b {
			list[i] = list[len(list)-1]
			return list[:len(list)-1]
		}
	}
	return list
}

// pagesIn returns the pages of m in [first, last], in order.
func pagesIn[V any](m map[uint64]V, first, last uint64) []uint64 {
	var got []uint64
	if last-first > uint64(len(m)) {
		for p := range m {
			if first <= p && p <= last {
				got = append(got, p)
			}
		}
		slices.Sort(got)
		return got
	}
	for p := first; p <= last; p++ {
		if _, ok := m[p]; ok {
			got = append(got, p)
		}
	}
	return got
}
