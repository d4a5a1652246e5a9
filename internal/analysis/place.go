package analysis

import (
	"slices"

	"lime/internal/graph"
	"lime/internal/profile"
	"lime/internal/unit"
)

// program is the static side of the profile: the graph, its structure, and places.
type program struct {
	*canon
	tab   *profile.Tables
	g     *graph.Graph
	s     *graph.Structure
	loops map[lineKey]bool // source lines that hold the test of a loop

	visits bool // there are places that were visited without an edge
}

// lineKey names a source line, or an address where there is no line.
type lineKey struct {
	file profile.FileID
	line int32
	addr uint64
}

func newProgram(tab *profile.Tables) *program {
	c := newCanon(tab)
	edges := make([]graph.Edge, len(c.edges))
	for i, e := range c.edges {
		edges[i] = graph.Edge{From: int32(e.From), To: int32(e.To), Call: isCall(e.Kind)}
	}
	p := &program{canon: c, tab: tab, g: graph.New(len(tab.Nodes), edges), loops: map[lineKey]bool{}}
	p.s = graph.Analyse(p.g)
	p.visits = slices.ContainsFunc(tab.Edges, func(e profile.Edge) bool { return e.Kind == profile.EdgeVisit })
	for v := range tab.Nodes {
		if tab.Nodes[v].Kind == profile.EndCond && p.s.LoopTest(int32(v)) {
			p.loops[p.nodeKey(profile.NodeID(v))] = true
		}
	}
	return p
}

func isCall(k profile.EdgeKind) bool { return k == profile.EdgeCall || k == profile.EdgeCallInd }

// nodeKey is the line of a node's last instruction: where it decides.
func (p *program) nodeKey(v profile.NodeID) lineKey {
	n := &p.tab.Nodes[v]
	return frameKey(n.Frames, n.LastAddr)
}

// visitKey is the line of a node's first instruction: where a sampled place stands.
func (p *program) visitKey(v profile.NodeID) lineKey {
	if n := &p.tab.Nodes[v]; len(n.First) > 0 {
		return frameKey(n.First, n.Addr)
	}
	return p.nodeKey(v)
}

func frameKey(fs []profile.Frame, addr uint64) lineKey {
	if len(fs) > 0 && fs[0].File >= 0 && fs[0].Line > 0 {
		return lineKey{file: fs[0].File, line: fs[0].Line}
	}
	return lineKey{file: profile.None, addr: addr}
}

func (p *program) sectionPlace(s *profile.Section) Place {
	pl := p.framesPlace(s.Frames)
	pl.Address = unit.Addr(s.EndAddr).String()
	if s.EndNode >= 0 && int(s.EndNode) < len(p.tab.Nodes) {
		p.complete(&pl, s.EndNode)
	}
	return pl
}

func (p *program) nodePlace(v profile.NodeID) Place {
	if v < 0 || int(v) >= len(p.tab.Nodes) {
		return Place{}
	}
	n := &p.tab.Nodes[v]
	pl := p.framesPlace(n.Frames)
	pl.Address = unit.Addr(n.LastAddr).String()
	p.complete(&pl, v)
	return pl
}

// visitPlace is the place of a node's first instruction.
func (p *program) visitPlace(v profile.NodeID) Place {
	if n := &p.tab.Nodes[v]; len(n.First) > 0 {
		pl := p.framesPlace(n.First)
		pl.Address = unit.Addr(n.Addr).String()
		p.complete(&pl, v)
		return pl
	}
	return p.nodePlace(v)
}

func (p *program) eventPlace(e *profile.Event) Place {
	pl := p.framesPlace(e.Frames)
	if e.Addr != 0 {
		pl.Address = unit.Addr(e.Addr).String()
	}
	if e.Node >= 0 && int(e.Node) < len(p.tab.Nodes) {
		p.complete(&pl, e.Node)
	}
	return pl
}

// complete fills in what the frames of a place do not say from its node.
func (p *program) complete(pl *Place, v profile.NodeID) {
	n := &p.tab.Nodes[v]
	if pl.Function == "" && n.Function >= 0 && int(n.Function) < len(p.tab.Functions) {
		pl.Function = p.tab.Functions[n.Function].Name
	}
	if n.Image >= 0 && int(n.Image) < len(p.tab.Images) {
		pl.Image = p.tab.Images[n.Image].Path
	}
}

// framesPlace makes a place of a stack of inlined frames, innermost first.
func (p *program) framesPlace(fs []profile.Frame) Place {
	if len(fs) == 0 {
		return Place{}
	}
	pl := Place{File: p.file(fs[0].File), Line: int(fs[0].Line), Column: int(fs[0].Column), Function: fs[0].Name()}
	if fs[0].File >= 0 && int(fs[0].File) < len(p.tab.Files) {
		pl.Text = p.tab.Files[fs[0].File].Lines[fs[0].Line]
	}
	for _, f := range fs[1:] {
		pl.Inlined = append(pl.Inlined, Frame{File: p.file(f.File), Line: int(f.Line), Function: f.Name()})
	}
	return pl
}

func (p *program) file(id profile.FileID) string {
	if id >= 0 && int(id) < len(p.tab.Files) {
		return p.tab.Files[id].Path
	}
	return ""
}
