// Reading the parts of a profile by several readers, and joining what they have read, in little more
// memory than the parts take.

package view

import (
	"fmt"
	"runtime/debug"
	"unsafe"

	"lime/internal/profile"
)

// share is what one reader has of the parts.
type share struct {
	lanes    []growing
	sections []sectionIndex // of the index: each instance is of one share
	from, to uint64
	parts    int
}

// growing is a lane while it is read: its cells in blocks, as an array that grows is copied again
// and again, and has room that is never used.
type growing struct {
	blocks       [][]cell
	n            int
	reach, until uint64 // as lane's
}

// Blocks hold twice as many cells each as the one before, between these: small profiles take little
// memory, of large ones half a block (8 kB) for each thread and reader is not used.
const (
	leastBlock = 8
	mostBlock  = 512
)

// joinedAtOnce is how many bytes of cells are joined before the memory of their blocks is given
// back to the system: so much more than the parts is needed at most.
const joinedAtOnce = 32 << 20

func (g *growing) append(c cell) {
	k := len(g.blocks) - 1
	if k < 0 || len(g.blocks[k]) == cap(g.blocks[k]) {
		g.blocks = append(g.blocks, make([]cell, 0, min(mostBlock, max(leastBlock, g.n))))
		k++
	}
	g.blocks[k] = append(g.blocks[k], c)
	g.n++
	g.reach, g.until = max(g.reach, c.end()-c.start+1), max(g.until, c.end())
}

// add puts an instance's parts into the lanes of their threads.
func (s *share) add(in *profile.Instance) error {
	if int(in.Section) >= len(s.sections) || in.Seq >= len(s.sections[in.Section].longest) {
		return fmt.Errorf("section %d, instance %d: it was not there when the profile was opened", in.Section, in.Seq)
	}
	most, arrived, last := float32(0), uint64(0), int32(-1)
	for i := range in.Parts {
		p := &in.Parts[i]
		if p.Thread < 0 || int(p.Thread) >= len(s.lanes) || p.Arrive < p.Start {
			return fmt.Errorf("section %d, instance %d, part %d: its thread or its times cannot be", in.Section, in.Seq, i)
		}
		c := cell{start: p.Start, work: float32(p.Time()), lock: float32(p.LockWait), off: float32(p.OffCPU),
			section: int32(in.Section), seq: int32(in.Seq)}
		if p.Release > p.Arrive {
			c.wait = float32(p.Release - p.Arrive)
		}
		most = max(most, c.work)
		if last < 0 || p.Arrive > arrived {
			arrived, last = p.Arrive, int32(p.Thread)
		}
		s.lanes[p.Thread].append(c)
		s.from, s.to = min(s.from, p.Start), max(s.to, p.Arrive, p.Release)
		s.parts++
	}
	s.sections[in.Section].longest[in.Seq], s.sections[in.Section].last[in.Seq] = most, last
	return nil
}

// unite takes the lanes of the shares, each in an array of its length; the shares' own go.
func (x *index) unite(shares []*share) {
	joined := 0
	for i := range x.lanes {
		l, n := &x.lanes[i], 0
		for _, s := range shares {
			n += s.lanes[i].n
		}
		l.cells = make([]cell, 0, n)
		for _, s := range shares {
			own := &s.lanes[i]
			for _, block := range own.blocks {
				l.cells = append(l.cells, block...)
			}
			l.reach, l.until = max(l.reach, own.reach), max(l.until, own.until)
			*own = growing{}
		}
		if joined += n * int(unsafe.Sizeof(cell{})); joined >= joinedAtOnce {
			debug.FreeOSMemory()
			joined = 0
		}
	}
	for _, s := range shares {
		x.from, x.to, x.parts = min(x.from, s.from), max(x.to, s.to), x.parts+s.parts
	}
}
