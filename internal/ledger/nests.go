package ledger

import (
	"sync"

	"lime/internal/profile"
)

// nests are the loops of a program as its source has them: which are around a block, and where each
// begins.
type nests struct {
	around [][]int32 // by block: its loops, the outermost first
	loops  []nest    // by number
}

// nest is a loop. Its blocks have the outermost frames in common, up to where it stands.
type nest struct {
	depth int // so many of them
	file  profile.FileID
	line  int32 // the first line of its blocks in that function
	node  profile.NodeID
	lines int // how many of its own; what is on one line needs no loop to hold it together
}

// lazyNests finds a program's loops when they are asked for.
func lazyNests(tab *profile.Tables) func() *nests {
	return sync.OnceValue(func() *nests { return findNests(tab) })
}

func findNests(tab *profile.Tables) *nests {
	n := &nests{around: make([][]int32, len(tab.Nodes))}
	l, exits := newLoops(tab), make([]bool, len(tab.Nodes))
	for range maxNesting {
		if !l.peel(exits) {
			break
		}
		ids := map[int32]int32{}
		members := [][]profile.NodeID{}
		for v, r := range l.region {
			if r < 0 {
				continue
			}
			id, ok := ids[r]
			if !ok {
				id = int32(len(members))
				ids[r], members = id, append(members, nil)
			}
			members[id] = append(members[id], profile.NodeID(v))
			n.around[v] = append(n.around[v], int32(len(n.loops))+id)
		}
		for _, m := range members {
			n.loops = append(n.loops, nestOf(tab, m))
		}
	}
	return n
}

// nestOf finds where a loop of so many blocks stands.
func nestOf(tab *profile.Tables, blocks []profile.NodeID) nest {
	common := tab.Nodes[blocks[0]].Frames
	for _, v := range blocks {
		common = commonOuter(common, tab.Nodes[v].Frames)
	}
	out, lines := nest{depth: len(common), node: profile.None}, map[int32]bool{}
	for _, v := range blocks {
		fs := tab.Nodes[v].Frames
		k := len(fs) - 1 - out.depth
		if k < 0 || fs[k].Line <= 0 || out.node != profile.None && fs[k].File != out.file {
			continue
		}
		lines[fs[k].Line] = true
		if out.node == profile.None || fs[k].Line < out.line {
			out.file, out.line, out.node = fs[k].File, fs[k].Line, v
		}
	}
	out.lines = len(lines)
	return out
}

// commonOuter are the outermost frames that two blocks have in common.
func commonOuter(a, b []profile.Frame) []profile.Frame {
	n := 0
	for n < len(a) && n < len(b) && lineOf(a[len(a)-1-n]) == lineOf(b[len(b)-1-n]) {
		n++
	}
	return a[len(a)-n:]
}
