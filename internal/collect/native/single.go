// Barriers behind what one thread does alone (OpenMP's single): whoever comes first does it, and there
// is nothing that another one could take.

package native

import (
	"sort"
	"strings"

	"lime/internal/x86"
)

// singles are calls, of barriers, by address: whether they end a single.
type singles map[uint64]bool

// end reports whether a call does: from where a single begins it is come to without another call of the
// runtime in between.
func (s singles) end(c *code, call uint64) bool {
	is, known := s[call]
	if !known {
		is = endsSingle(c, call)
		s[call] = is
	}
	return is
}

func endsSingle(c *code, call uint64) bool {
	p := c.look(call)
	if p.fn == nil || p.b == nil {
		return false
	}
	for _, b := range p.fn.blocks {
		if beginsSingle(c, b) && leads(c, p.fn, b, p.b) {
			return true
		}
	}
	return false
}

// leads reports whether there is a way from the end of one block to another, without a call of the
// runtime but for those of a single itself.
func leads(c *code, f *function, from, to *block) bool {
	seen, list := map[*block]bool{}, f.behind(from)
	for len(list) > 0 {
		b := list[len(list)-1]
		list = list[:len(list)-1]
		switch name := calledBy(c, b); {
		case b == to:
			return true
		case seen[b] || name != "__kmpc_end_single" && (strings.HasPrefix(name, "GOMP_") || strings.HasPrefix(name, "__kmpc_")):
		default:
			seen[b] = true
			list = append(list, f.behind(b)...)
		}
	}
	return false
}

// beginsSingle reports whether a block asks whether its thread does a single.
func beginsSingle(c *code, b *block) bool {
	name := calledBy(c, b)
	return strings.HasPrefix(name, "GOMP_single") || name == "__kmpc_single"
}

// calledBy is the name of the function that a block calls in its end, "" if that is not known.
func calledBy(c *code, b *block) string {
	if b.branch != x86.BranchCall && b.branch != x86.BranchCallInd {
		return ""
	}
	to := c.goesTo(b)
	if to == 0 {
		return ""
	}
	_, s, _ := c.images.symbol(to)
	return s.Name
}

// behind are the blocks of a function that may come next, as far as its code says.
func (f *function) behind(b *block) (next []*block) {
	at := func(addr uint64) {
		i := sort.Search(len(f.blocks), func(i int) bool { return f.blocks[i].addr >= addr })
		if i < len(f.blocks) && f.blocks[i].addr == addr {
			next = append(next, f.blocks[i])
		}
	}
	switch b.branch {
	case x86.BranchCond, x86.BranchLoop:
		at(b.target)
		at(b.end)
	case x86.BranchJump:
		at(b.target)
	case x86.BranchNone, x86.BranchCall, x86.BranchCallInd:
		at(b.end)
	}
	return next
}
