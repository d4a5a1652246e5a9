package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lime/internal/origin"
	"lime/internal/profile"
	"lime/internal/unit"
)

// Paths reads the call paths of a profile: functions, also inlined ones, the loops that the calls
// stand in, and whether a runtime's own code ran.
type Paths struct {
	tab      *profile.Tables
	ps       *procs
	prog     *program
	runtimes *runtimes
	levels   map[profile.NodeID][]Level
	overhead map[profile.PathID]bool
}

// Level is a level of a call path: a function, or a loop in it.
type Level struct {
	Name string
	Loop bool
}

// NewPaths returns a reader of a profile's call paths.
func NewPaths(tab *profile.Tables) *Paths {
	return &Paths{tab: tab, ps: newProcs(tab), prog: newProgram(tab), runtimes: newRuntimes(tab),
		levels: map[profile.NodeID][]Level{}, overhead: map[profile.PathID]bool{}}
}

// Levels lists a path, innermost level first.
func (p *Paths) Levels(id profile.PathID) []Level { return p.levelsUpTo(id, profile.None) }

// Own lists a path without what the system has around the program's outermost function.
func (p *Paths) Own(id profile.PathID) []Level {
	outer := profile.PathID(profile.None)
	for at := id; at >= 0; at = p.tab.Paths[at].Parent {
		v := p.tab.Paths[at].Node
		if v < 0 {
			continue
		}
		if o := p.runtimes.owners(v)[0]; o != origin.System && !o.Runtime() {
			outer = at
		}
	}
	return p.levelsUpTo(id, outer)
}

// Roots names the functions in which created threads begin.
func (p *Paths) Roots() (names []string) {
	for f, is := range p.ps.findRoots() {
		if is {
			names = append(names, p.tab.Functions[f].Name)
		}
	}
	slices.Sort(names)
	return names
}

// levelsUpTo lists a path up to one of its nodes; None: all of it.
func (p *Paths) levelsUpTo(id, last profile.PathID) []Level {
	var out []Level
	for ; id >= 0; id = p.tab.Paths[id].Parent {
		v := p.tab.Paths[id].Node
		l, ok := p.levels[v]
		if !ok {
			l = p.node(v)
			p.levels[v] = l
		}
		out = append(out, l...)
		if id == last {
			break
		}
	}
	return out
}

// Overhead reports whether a path ends in a runtime's own code, as Effort counts it.
func (p *Paths) Overhead(id profile.PathID) bool {
	over, ok := p.overhead[id]
	if !ok {
		over = p.runtimes.site(id).owner.Runtime()
		p.overhead[id] = over
	}
	return over
}

// node lists the levels of a block. A loop stands inside of the function, perhaps an inlined one,
// that its test is in.
func (p *Paths) node(v profile.NodeID) []Level {
	names := p.functions(v)
	depth := len(names)
	loops := make([][]Level, depth+1)
	if v >= 0 {
		for _, b := range p.ps.chain(v) {
			if b.kind == boundLoop {
				at := max(1, min(depth, len(p.tab.Nodes[b.node].Frames)))
				loops[at] = append(loops[at], Level{Name: p.loop(b.node), Loop: true})
			}
		}
	}
	var out []Level
	for at := 1; at <= depth; at++ {
		out = append(append(out, Level{Name: names[depth-at]}), loops[at]...)
	}
	slices.Reverse(out)
	return out
}

func (p *Paths) loop(test profile.NodeID) string {
	pl := p.prog.nodePlace(test)
	switch {
	case pl.File == "" && strings.Contains(pl.Function, "+0x"): // how far into it: no two loops are there
		return "loop at " + pl.Function
	case pl.File == "":
		return "loop at " + pl.Address
	}
	return fmt.Sprintf("loop at %s:%d", baseName(pl.File), pl.Line)
}

// functions names the functions of a block, the innermost inlined one first.
func (p *Paths) functions(v profile.NodeID) []string {
	const unknown = "[unknown]"
	if v < 0 {
		return []string{unknown}
	}
	n := &p.tab.Nodes[v]
	var out []string
	for _, f := range n.Frames {
		if f.Line > 0 || n.Function < 0 {
			out = append(out, cmp.Or(f.Name(), unknown))
		}
	}
	switch {
	case len(out) > 0:
	case n.Function >= 0: // without lines a frame's name is that of an address: symbol + offset
		out = append(out, cmp.Or(p.tab.Functions[n.Function].Name, unknown))
	default:
		out = append(out, unit.Addr(n.Addr).String())
	}
	return out
}
