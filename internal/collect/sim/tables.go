// The rows of the profile to which instances refer.

package sim

import (
	"lime/internal/collect/image"
	"lime/internal/collect/mpi"
	"lime/internal/engine"
	"lime/internal/profile"
	"lime/internal/section"
	"lime/internal/unit"
)

// tables is the tables of the profile that grow as they are needed.
type tables struct {
	sink     profile.Sink
	eng      *engine.Engine
	meter    Meter
	blocks   *blockIndex
	files    *images
	images   map[*image.File]profile.ImageID
	nodes    []profile.NodeID // by BlockID; None: not there yet
	edges    []profile.EdgeID // by EdgeID
	sections map[sectionKey]profile.SectionID
	events   map[eventKey]profile.EventID
	outside  map[profile.Edge]profile.EdgeID // calls of tasks
	kinds    [waitEvents]int32
}

type sectionKey struct {
	kind  section.Kind
	place unit.Addr
}

type eventKey struct {
	kind int32
	addr uint64
}

func (tb *tables) image(im *image.File) {
	tb.images[im] = tb.sink.AddImage(profile.Image{Path: im.Path, BuildID: im.BuildID(), Base: im.Bias,
		Lo: im.Lo, Hi: im.Hi})
}

func (tb *tables) section(in section.Instance) profile.SectionID {
	key := sectionKey{in.Kind, in.Place}
	if id, ok := tb.sections[key]; ok {
		return id
	}
	row := profile.Section{Kind: mpi.Kind(kinds()[in.Kind], in.Meeting), EndAddr: uint64(in.Place),
		EndNode: tb.nodeOf(uint64(in.Place))}
	id := tb.sink.AddSection(row)
	tb.sections[key] = id
	return id
}

// kinds maps the words of section to those of the profile.
func kinds() map[section.Kind]profile.SectionKind {
	return map[section.Kind]profile.SectionKind{
		section.Barrier: profile.SectionBarrier, section.Join: profile.SectionJoin, section.Region: profile.SectionRegion,
		section.Built: profile.SectionBuilt, section.Custom: profile.SectionCustom, section.Serial: profile.SectionSerial,
		section.Tail: profile.SectionTail, section.Meeting: profile.SectionMeeting,
	}
}

// nodeOf finds the block whose last instruction, or any, is at an address.
func (tb *tables) nodeOf(addr uint64) profile.NodeID { return tb.node(tb.blocks.holding(addr)) }

// node gives a block its row.
func (tb *tables) node(id engine.BlockID) profile.NodeID {
	if id < 0 {
		return profile.None
	}
	for len(tb.nodes) <= int(id) {
		tb.nodes = append(tb.nodes, profile.None)
	}
	if tb.nodes[id] == profile.None {
		tb.nodes[id] = tb.addNode(&tb.eng.Blocks()[id])
	}
	return tb.nodes[id]
}

// last is the row of a block's last part.
func (tb *tables) last(id engine.BlockID) profile.NodeID {
	if !tb.whole() {
		id = tb.eng.Last(id)
	}
	return tb.node(id)
}

func (tb *tables) addNode(b *engine.Block) profile.NodeID {
	row := profile.Node{
		Image: profile.None, Addr: b.PC, Size: b.Size, Instrs: b.Instrs, LastAddr: b.LastPC,
		Kind: nodeKinds()[b.End], Function: profile.None,
	}
	if im := tb.files.at(b.PC); im != nil {
		row.Image = tb.images[im]
	}
	return tb.sink.AddNode(row)
}

func nodeKinds() [9]profile.NodeKind {
	return [9]profile.NodeKind{
		engine.EndFall: profile.EndFall, engine.EndCond: profile.EndCond, engine.EndJump: profile.EndJump,
		engine.EndCall: profile.EndCall, engine.EndRet: profile.EndRet, engine.EndJumpInd: profile.EndJumpInd,
		engine.EndCallInd: profile.EndCallInd, engine.EndSyscall: profile.EndSyscall, engine.EndOther: profile.EndOther,
	}
}

// edge gives an edge its row. The block it leads to may not have been run yet.
func (tb *tables) edge(id engine.EdgeID) profile.EdgeID {
	for len(tb.edges) <= int(id) {
		tb.edges = append(tb.edges, profile.None)
	}
	if tb.edges[id] != profile.None {
		return tb.edges[id]
	}
	e := tb.eng.Edges()[id]
	to := e.To
	if to < 0 && e.Kind != engine.EdgeEnd {
		if b, ok := tb.blocks.startingAt(e.Target); ok {
			to = b
		}
	}
	row := profile.Edge{From: tb.node(e.From), To: tb.node(to), Kind: edgeKinds()[e.Kind]}
	if row.From != profile.None || row.To != profile.None {
		tb.edges[id] = tb.sink.AddEdge(row)
	}
	return tb.edges[id]
}

func edgeKinds() [9]profile.EdgeKind {
	return [9]profile.EdgeKind{
		engine.EdgeTaken: profile.EdgeTaken, engine.EdgeFall: profile.EdgeFall, engine.EdgeJump: profile.EdgeJump,
		engine.EdgeJumpInd: profile.EdgeJumpInd, engine.EdgeCall: profile.EdgeCall, engine.EdgeCallInd: profile.EdgeCallInd,
		engine.EdgeReturn: profile.EdgeReturn, engine.EdgeEnd: profile.EdgeEnd, engine.EdgeOdd: profile.EdgeOdd,
	}
}

// fromOutside is the edge by which a task's function is called, from code that is not counted.
func (tb *tables) fromOutside(pc uint64) int32 {
	id, ok := tb.blocks.startingAt(pc)
	if !ok {
		return profile.None
	}
	if !tb.whole() {
		id = tb.eng.First(id)
	}
	e := profile.Edge{From: profile.None, To: tb.node(id), Kind: profile.EdgeCallInd}
	row, ok := tb.outside[e]
	if !ok {
		row = tb.sink.AddEdge(e)
		tb.outside[e] = row
	}
	return int32(row)
}

// whole reports whether blocks that have been split count as what they were: their times are known
// for the whole only.
func (tb *tables) whole() bool { return tb.meter.Mode() == engine.Trace }

// calls turns a stack into the nodes of the calls, outermost first.
func (tb *tables) calls(stack []frameRef) []profile.NodeID {
	out := make([]profile.NodeID, 0, len(stack))
	for i := len(stack) - 1; i >= 0; i-- {
		if id, ok := tb.blocks.endingAt(stack[i].ret); ok {
			out = append(out, tb.last(id))
		}
	}
	return out
}

// kind gives a kind of event its row.
func (tb *tables) kind(k waitEvent) int32 {
	if tb.kinds[k] == profile.None {
		tb.kinds[k] = tb.sink.AddKind(waitKinds()[k])
	}
	return tb.kinds[k]
}

// noKinds are the rows of kinds of which there is no event yet.
func noKinds() (rows [waitEvents]int32) {
	for k := range rows {
		rows[k] = profile.None
	}
	return rows
}

func (tb *tables) event(kind int32, addr uint64) profile.EventID {
	key := eventKey{kind, addr}
	id, ok := tb.events[key]
	if !ok {
		id = tb.sink.AddEvent(profile.Event{Kind: kind, Node: tb.nodeOf(addr), Addr: addr})
		tb.events[key] = id
	}
	return id
}
