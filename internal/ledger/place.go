package ledger

import (
	"strings"

	"lime/internal/profile"
)

// group is what may be merged on one source line: whether a loop's test stands at its top or at its
// bottom, it is the same decision.
type group uint8

const (
	groupTest group = iota // branches and loops
	groupCall
	groupCallInd
	groupJumpInd
	groupPrice
	groupEntry
	groupBroken
	groupVisits
	groupLock
	groupOff
	groupUnaccounted
	groupFirstCall
	groupTasks
	groupLoading
	groupDealt
)

// rowKey says which charges are one row: those of one spot.
type rowKey struct {
	group group
	kind  int32 // of events
	spot  int32 // -1 = none
}

// spot is a source line, or an instruction where lines are unknown.
type spot struct {
	file     profile.FileID
	line     int32
	function string
	image    profile.ImageID
	addr     uint64
}

// guide knows what does not depend on the instance: the place and kind of every node.
type guide struct {
	tab    *profile.Tables
	exits  []bool            // the node decides about a loop
	rounds map[int32][]int32 // and leads here if the loop goes round once more
	group  []group           // of the node's decision

	spots  map[spot]int32  // their numbers, while they are given
	nodes  []int32         // by node: the number of its spot
	events []int32         // by event
	heads  map[int32]int32 // by node that begins a task: the number of the spot of its first instruction, if that has a line

	regions *regions
	copies  []int32 // by node: tests that are copies of one another

	overlaps map[profile.NodeID][]profile.NodeID // nodes that have instructions in common

	recursion []int32          // by node: what calls itself
	library   []bool           // by node: library code
	split     [][2]int32       // library blocks that begin at the same address
	calls     []profile.NodeID // by node: what a call there enters
	lots      []bool           // by node: it tests whether a runtime has chosen the thread
	deals     deals
	nests     func() *nests
	bound     map[int32][]int32 // by edge of the dynamic linker's: the stubs for which it goes on to a function
}

func newGuide(tab *profile.Tables) *guide {
	g := &guide{tab: tab, group: make([]group, len(tab.Nodes)),
		regions: newRegions(tab)}
	g.exits, g.rounds = loopExits(tab)
	g.numberSpots()
	for i := range tab.Edges {
		e := &tab.Edges[i]
		if !valid(e.From, len(g.group)) {
			continue
		}
		if k := edgeGroup(e.Kind); k > g.group[e.From] {
			g.group[e.From] = k
		}
	}
	for v := range g.group {
		if g.group[v] == groupJumpInd && stub(tab, profile.NodeID(v)) {
			g.group[v] = groupFirstCall
		}
	}
	g.copies, g.recursion, g.library, g.calls = testGroups(g), recursions(tab), library(tab), callTargets(tab)
	g.nests, g.bound = lazyNests(tab), bindings(tab)
	g.split, g.overlaps, g.lots = splits(tab, g.library), overlapping(tab), lots(tab)
	g.deals = newDeals(tab, g.library)
	g.dealtParts()
	return g
}

// stub says whether a node is that of a procedure linkage table: it jumps into the dynamic linker
// the first time, and to the function from then on. Whoever calls a library function first pays for
// all.
func stub(tab *profile.Tables, id profile.NodeID) bool {
	f := tab.Nodes[id].Function
	return f >= 0 && int(f) < len(tab.Functions) && strings.HasSuffix(tab.Functions[f].Name, "@plt")
}

func edgeGroup(k profile.EdgeKind) group {
	switch k {
	case profile.EdgeCall:
		return groupCall
	case profile.EdgeCallInd:
		return groupCallInd
	case profile.EdgeJumpInd:
		return groupJumpInd
	}
	return groupTest
}

// classGroup is the group of the classes that do not depend on the node.
var classGroup = [...]group{
	classBroken: groupBroken, classTasks: groupTasks, classEntry: groupEntry, classVisits: groupVisits, classPrice: groupPrice,
	classEvent: groupPrice, classLock: groupLock, classOff: groupOff, classUnaccounted: groupUnaccounted,
}

// key returns the row that a charge belongs to.
func (g *guide) key(c class, id int32) rowKey {
	k := rowKey{group: classGroup[c], kind: -1, spot: -1}
	switch c {
	case classDecision:
		if loop, ok := g.deals.tested[profile.NodeID(id)]; ok { // whatever else stands on its line
			k.group, k.spot = groupDealt, loop
		} else if k.group = g.group[id]; k.group != groupFirstCall {
			k.spot = g.nodes[id]
		}
	case classEvent:
		k.kind, k.spot = g.tab.Events[id].Kind, g.events[id]
	case classLock, classOff, classUnaccounted:
	case classTasks:
		at, ok := g.heads[id]
		if !ok {
			at = g.nodes[id]
		}
		k.spot = at
	default:
		k.spot = g.nodes[id]
	}
	return k
}

// numberSpots gives every node and every event the number of its spot.
func (g *guide) numberSpots() {
	g.spots = make(map[spot]int32, len(g.tab.Nodes))
	g.heads = map[int32]int32{}
	g.nodes, g.events = make([]int32, len(g.tab.Nodes)), make([]int32, len(g.tab.Events))
	for v := range g.nodes {
		n := &g.tab.Nodes[v]
		g.nodes[v] = g.number(n.Frames, spot{file: profile.None, image: n.Image, addr: n.LastAddr})
	}
	for i := range g.tab.Edges { // tasks
		e := &g.tab.Edges[i]
		if valid(e.From, len(g.nodes)) || !valid(e.To, len(g.nodes)) || !isCall(e.Kind) {
			continue
		}
		if n := &g.tab.Nodes[e.To]; len(n.First) > 0 && n.First[0].Line > 0 {
			g.heads[int32(e.To)] = g.number(n.First, spot{})
		}
	}
	for i := range g.events {
		e := &g.tab.Events[i]
		at := spot{file: profile.None, addr: e.Addr}
		if valid(e.Node, len(g.tab.Nodes)) {
			at.image = g.tab.Nodes[e.Node].Image
		}
		g.events[i] = g.number(e.Frames, at)
	}
	g.spots = nil
}

// number is that of the innermost frame's line, or of an instruction if there is none.
func (g *guide) number(frames []profile.Frame, at spot) int32 {
	if len(frames) > 0 && frames[0].Line > 0 {
		at = spot{file: frames[0].File, line: frames[0].Line, function: frames[0].Function}
	}
	i, ok := g.spots[at]
	if !ok {
		i = int32(len(g.spots))
		g.spots[at] = i
	}
	return i
}

// kind returns the kind of row for a node's decision.
func (g *guide) kind(k rowKey, id profile.NodeID) Kind {
	if k.group == groupTest && valid(id, len(g.exits)) && g.exits[id] {
		return Loop
	}
	return groupKinds[k.group]
}

var groupKinds = [...]Kind{
	groupTest: Branch, groupCall: Call, groupCallInd: IndirectCall, groupJumpInd: IndirectJump, groupPrice: Price,
	groupEntry: Entry, groupBroken: BrokenFlow, groupVisits: Visits, groupLock: LockWait, groupOff: OffCPU,
	groupUnaccounted: Unaccounted, groupFirstCall: FirstCalls, groupTasks: Tasks, groupLoading: Loading, groupDealt: Dealt,
}

// startsFunction says whether a node is the first block of a function.
func startsFunction(tab *profile.Tables, id profile.NodeID) bool {
	if !valid(id, len(tab.Nodes)) {
		return false
	}
	n := &tab.Nodes[id]
	return n.Function >= 0 && int(n.Function) < len(tab.Functions) && tab.Functions[n.Function].Entry == n.Addr
}

// place describes a node.
func (g *guide) place(id profile.NodeID) Place {
	if !valid(id, len(g.tab.Nodes)) {
		return Place{Node: profile.None}
	}
	n := &g.tab.Nodes[id]
	return g.placeOf(n, id, n.LastAddr, n.Frames)
}

// head describes the first instruction of a node.
func (g *guide) head(id profile.NodeID) Place {
	if !valid(id, len(g.tab.Nodes)) {
		return Place{Node: profile.None}
	}
	n := &g.tab.Nodes[id]
	return g.placeOf(n, id, n.Addr, n.First)
}

func (g *guide) placeOf(n *profile.Node, id profile.NodeID, addr uint64, frames []profile.Frame) Place {
	p := Place{Node: id, Addr: addr}
	if n.Image >= 0 && int(n.Image) < len(g.tab.Images) {
		p.Image = g.tab.Images[n.Image].Path
	}
	for _, f := range frames {
		p.Frames = append(p.Frames, Frame{File: g.file(f.File), Line: f.Line, Column: f.Column, Function: f.Name()})
	}
	if len(p.Frames) > 0 {
		p.File, p.Line, p.Function = p.Frames[0].File, p.Frames[0].Line, p.Frames[0].Function
	}
	if p.Function == "" && n.Function >= 0 && int(n.Function) < len(g.tab.Functions) {
		p.Function = g.tab.Functions[n.Function].Name
	}
	return p
}

func (g *guide) file(id profile.FileID) string {
	if id < 0 || int(id) >= len(g.tab.Files) {
		return ""
	}
	return g.tab.Files[id].Path
}

// eventPlace describes an event's instruction.
func (g *guide) eventPlace(e *profile.Event) Place {
	if !valid(e.Node, len(g.tab.Nodes)) {
		return Place{Node: profile.None, Addr: e.Addr}
	}
	n := &g.tab.Nodes[e.Node]
	if len(e.Frames) > 0 {
		return g.placeOf(n, e.Node, e.Addr, e.Frames)
	}
	p := g.placeOf(n, e.Node, e.Addr, nil)
	return p
}
