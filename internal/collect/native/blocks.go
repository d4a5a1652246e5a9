package native

import (
	"encoding/binary"
	"sort"

	"lime/internal/binfile"
	"lime/internal/collect/busywait"
	"lime/internal/collect/image"
	"lime/internal/collect/known"
	"lime/internal/origin"
	"lime/internal/profile"
	"lime/internal/x86"
)

// block is a basic block of a function that was seen in a sample.
type block struct {
	addr, end, last uint64 // run-time; last = its last instruction
	instrs          uint32
	branch          x86.Branch
	kind            profile.NodeKind
	target          uint64 // of a direct branch or call, 0 if none
	slot            uint64 // where the target of an indirect one is read, if that is one word of the image
	id              profile.NodeID
	visit           profile.EdgeID // None until its first sample
	tests           []*loopTest    // of the loops around it, innermost first
	trips           [2]profile.EventID
	tripped         bool   // trips are there
	spins           bool   // it is in a loop that waits
	waitsAt         uint64 // where that is told
	saves           bool   // and something is on the stack meanwhile
	takes           bool   // and tries to take a lock
}

// waitsFrom is where a wait in the block is told: at what its loop waits for, or at its call.
func (b *block) waitsFrom() uint64 {
	if b.spins {
		return b.waitsAt
	}
	return b.last
}

// function is a function that was decoded; blocks stand by address.
type function struct {
	entry     uint64
	name      string
	spins     bool // a runtime's waiting
	passes    passing
	role      known.Role
	named     bool // the role is its own
	outermost bool // the last of its stack: beyond it is another one, or nothing
	im        *image.File
	blocks    []*block
	whole     bool // its blocks and edges are in the profile
}

// alone reports whether blocks of the function stand in the profile only where something happened
// in them: nobody looks for causes inside of a runtime's functions for threads.
func (f *function) alone() bool {
	return f.im != nil && f.im.Library && origin.RuntimeFunction(f.name)
}

// code decodes the functions that have samples into basic blocks with their static edges.
type code struct {
	images  *images
	sink    profile.Sink
	fns     map[uint64]*function // by entry
	heads   map[uint64]*block    // by first address
	waiting map[uint64][]pendingEdge
	places  map[uint64]place // cache by PC
	defs    map[string]uint64
	ids     map[*image.File]profile.ImageID
	book    *known.Book
	turned  func(slot uint64) (was uint64, ok bool) // references that lead to hooks; nil: there are none
	numbers map[uint64]int                          // of system calls, by where they go on
	kinds   [2]int32                                // of events that tell of loops
	told    bool                                    // kinds are there
}

// pendingEdge leads to an address that no decoded function has yet.
type pendingEdge struct {
	from profile.NodeID
	kind profile.EdgeKind
}

// place is what is known about a PC.
type place struct {
	fn *function
	b  *block
}

func newCode(m *images, sink profile.Sink) *code {
	return &code{images: m, sink: sink, fns: map[uint64]*function{}, heads: map[uint64]*block{},
		waiting: map[uint64][]pendingEdge{}, places: map[uint64]place{}, defs: map[string]uint64{},
		ids: map[*image.File]profile.ImageID{}, numbers: map[uint64]int{}, book: known.NewBook()}
}

// waits is what a thread waits for that is away within the function.
func (f *function) waits() known.WaitsFor {
	if !f.named {
		return known.Nothing
	}
	return f.role.Waits()
}

// unseen reports whether threads wait for others' work in the function, spinning, and no hook tells of
// it: where one of the program's own calls leads there, that call is like a loop of its own that waits.
func (f *function) unseen() bool { return f.named && f.role == known.After }

// reset forgets the code of a program that is gone; its rows stay.
func (c *code) reset() {
	c.fns, c.heads, c.waiting, c.places = map[uint64]*function{}, map[uint64]*block{}, map[uint64][]pendingEdge{}, map[uint64]place{}
	c.defs, c.numbers = map[string]uint64{}, map[uint64]int{}
}

const maxPlaces = 1 << 18

// at finds the block that holds a PC, for the profile: with all of its function.
func (c *code) at(pc uint64) place {
	p := c.look(pc)
	if !p.fn.whole && !p.fn.alone() {
		c.writeAll(p.fn)
	}
	c.write(p.fn.im, p.b)
	return p
}

// spot is at, but of a library's function only the block comes into the profile, as long as at does
// not ask for more: who asks tells of a place only.
func (c *code) spot(pc uint64) place {
	p := c.look(pc)
	if p.fn.im == nil || !p.fn.im.Library {
		return c.at(pc)
	}
	c.write(p.fn.im, p.b)
	return p
}

// look finds the block that holds a PC, decoding its function if need be, and leaves the profile as
// it is.
func (c *code) look(pc uint64) place {
	if p, ok := c.places[pc]; ok {
		return p
	}
	if len(c.places) >= maxPlaces {
		clear(c.places)
	}
	p := c.find(pc)
	c.places[pc] = p
	return p
}

func (c *code) find(pc uint64) place {
	im, lo, hi, name := c.bounds(pc)
	f := c.fns[lo]
	if f == nil || len(f.blocks) == 0 || pc >= f.blocks[len(f.blocks)-1].end && hi > f.blocks[len(f.blocks)-1].end {
		f = &function{entry: lo, name: name, im: im, spins: known.Waiting(name), outermost: im != nil &&
			(im.SwitchesStack(name) || im.BeginsStack(name))}
		row, ok := c.book.Find(name)
		f.role, f.named = row.Role, ok
		f.spins = f.spins || f.unseen()
		c.fns[lo] = f
		c.decode(f, lo, hi)
	}
	i := sort.Search(len(f.blocks), func(i int) bool { return f.blocks[i].addr > pc }) - 1
	if i < 0 || pc >= f.blocks[i].end {
		return place{f, &block{addr: pc, end: pc + 1, last: pc, instrs: 1, kind: profile.NodePseudo, id: profile.None, visit: profile.None}}
	}
	return place{f, f.blocks[i]}
}

// maxFunction bounds what is decoded at once.
const maxFunction = 1 << 20

// bounds finds the function around a PC: by symbols, else by frame information, else the PC itself.
func (c *code) bounds(pc uint64) (im *image.File, lo, hi uint64, name string) {
	im, s, ok := c.images.symbol(pc)
	switch {
	case im == nil:
		return nil, pc, pc, ""
	case ok && s.Size > 0:
		lo, hi, name = s.Addr+im.Bias, s.Addr+s.Size+im.Bias, s.Name
	case im.Frames() != nil:
		if a, b, found := im.Frames().Covers(pc - im.Bias); found {
			lo, hi, name = a+im.Bias, b+im.Bias, s.Name
		}
	case ok:
		lo, hi, name = s.Addr+im.Bias, im.Next(s)+im.Bias, s.Name
	}
	if pc < lo || pc >= hi || hi-lo > maxFunction {
		return im, pc, pc, name
	}
	return im, lo, hi, name
}

// decode reads the function's code and cuts it into blocks.
func (c *code) decode(f *function, lo, hi uint64) {
	im := f.im
	if im == nil || im.Bin == nil || hi <= lo {
		return
	}
	text := im.Bin.ReadAddr(lo-im.Bias, int(hi-lo))
	f.blocks = cut(text, lo)
	if !im.Library {
		c.failures(f)
		c.loops(f, text)
	}
}

// failures takes the calls that never return, as the program has failed, for traps: nothing comes behind.
func (c *code) failures(f *function) {
	for _, b := range f.blocks {
		if (b.kind == profile.EndCall || b.kind == profile.EndCallInd) && known.Fails(c.called(f.im, b)) {
			b.kind = profile.EndOther
		}
	}
}

// called is the symbol of the function that the call at a block's end leads to, by what the file says:
// compilers that make no procedure linkage table (Rust's; -fno-plt) call through words that the loader
// fills in, functions of the same file, too.
func (c *code) called(im *image.File, b *block) string {
	name, at := c.leadsTo(im, b)
	if name == "" {
		_, s, _ := c.images.symbol(at)
		name = s.Name
	}
	return name
}

// leadsTo is the function that the call at a block's end leads to: by the name that the loader looks
// up, or where it is; "" and 0 if the file does not say.
func (c *code) leadsTo(im *image.File, b *block) (name string, at uint64) {
	if b.slot == 0 {
		return "", b.target
	}
	if name, at = im.Bin.Refers(b.slot - im.Bias); at != 0 {
		at += im.Bias
	}
	return name, at
}

// writeAll puts the blocks of a function into the profile, and the edges between them.
func (c *code) writeAll(f *function) {
	f.whole = true
	for _, b := range f.blocks {
		c.write(f.im, b)
	}
	for i, b := range f.blocks {
		var next *block
		if i+1 < len(f.blocks) && f.blocks[i+1].addr == b.end {
			next = f.blocks[i+1]
		}
		c.link(b, next)
	}
}

// cut turns code into blocks.
func cut(text []byte, lo uint64) (out []*block) {
	for _, p := range busywait.Cut(text, lo) {
		out = append(out, &block{addr: p.Addr, end: p.End, last: p.Last, instrs: p.Instrs, target: p.Target, slot: p.Slot,
			branch: p.Branch, kind: blockKinds()[p.Branch], id: profile.None, visit: profile.None})
	}
	return out
}

// blockKinds has one row for every way in which an instruction can leave the straight line.
func blockKinds() [x86.BranchTxn + 1]profile.NodeKind {
	return [x86.BranchTxn + 1]profile.NodeKind{
		x86.BranchNone: profile.EndFall, x86.BranchCond: profile.EndCond, x86.BranchLoop: profile.EndCond, x86.BranchJump: profile.EndJump,
		x86.BranchCall: profile.EndCall, x86.BranchJumpInd: profile.EndJumpInd, x86.BranchCallInd: profile.EndCallInd,
		x86.BranchRet: profile.EndRet, x86.BranchSyscall: profile.EndSyscall, x86.BranchFar: profile.EndOther,
		x86.BranchTrap: profile.EndOther, x86.BranchTxn: profile.EndCond,
	}
}

// write puts a block into the profile, unless it is there.
func (c *code) write(im *image.File, b *block) {
	if b.id != profile.None {
		return
	}
	row := profile.Node{Image: profile.None, Addr: b.addr, Size: uint32(b.end - b.addr), Instrs: b.instrs, LastAddr: b.last,
		Kind: b.kind, Function: profile.None}
	if im != nil {
		row.Image = c.image(im)
	}
	b.id = c.sink.AddNode(row)
	c.heads[b.addr] = b
	for _, e := range c.waiting[b.addr] {
		c.sink.AddEdge(profile.Edge{From: e.from, To: b.id, Kind: e.kind})
	}
	delete(c.waiting, b.addr)
}

func (c *code) image(im *image.File) profile.ImageID {
	id, ok := c.ids[im]
	if !ok {
		id = c.sink.AddImage(profile.Image{Path: im.Path, Base: im.Bias, Lo: im.Lo, Hi: im.Hi, BuildID: im.BuildID()})
		c.ids[im] = id
	}
	return id
}

// link adds the static edges that leave a block; next is the block behind it.
func (c *code) link(b, next *block) {
	fall := profile.EdgeFall
	switch b.kind {
	case profile.EndCond:
		c.edge(b, b.target, profile.EdgeTaken)
	case profile.EndJump:
		c.edge(b, b.target, profile.EdgeJump)
		return
	case profile.EndCall, profile.EndCallInd:
		if b.target != 0 {
			c.edge(b, c.callee(b.target), profile.EdgeCall)
		}
		fall = profile.EdgeReturn
	case profile.EndRet:
		c.sink.AddEdge(profile.Edge{From: b.id, To: profile.None, Kind: profile.EdgeEnd})
		return
	case profile.EndJumpInd, profile.EndOther:
		return
	}
	if next != nil {
		c.sink.AddEdge(profile.Edge{From: b.id, To: next.id, Kind: fall})
	}
}

func (c *code) edge(b *block, target uint64, kind profile.EdgeKind) {
	if to := c.heads[target]; to != nil {
		c.sink.AddEdge(profile.Edge{From: b.id, To: to.id, Kind: kind})
		return
	}
	c.waiting[target] = append(c.waiting[target], pendingEdge{b.id, kind})
}

// callee follows a stub of the procedure linkage table to the function that it stands for.
func (c *code) callee(target uint64) uint64 {
	_, s, ok := c.images.symbol(target)
	if !ok || s.Kind != binfile.SymPLT {
		return target
	}
	if a := c.definition(s.Name); a != 0 {
		return a
	}
	return target
}

// goesTo is the function to which the branch or call at a block's end leads, 0 if that is not
// known: what a reference says that lime has turned was there before.
func (c *code) goesTo(b *block) uint64 {
	switch {
	case b.target != 0:
		return c.callee(b.target)
	case b.slot == 0:
		return 0
	case c.turned != nil:
		if was, ok := c.turned(b.slot); ok {
			return was
		}
	}
	var word [8]byte
	if peek(c.images.pid, b.slot, word[:]) < len(word) {
		return 0
	}
	return binary.LittleEndian.Uint64(word[:])
}

// definition is the address of a function by its name, 0 if it is not known: the one of the first
// image that has it.
func (c *code) definition(name string) uint64 {
	a, known := c.defs[name]
	if !known {
		for _, im := range c.images.List {
			if d, found := im.Definition(name); found {
				a = d + im.Bias
				break
			}
		}
		c.defs[name] = a
	}
	return a
}

// jump finds the jump at the end of the function that begins at entry that leads to another one,
// over at most so many others.
func (c *code) jump(entry, target uint64, most int) uint64 {
	f := c.look(entry).fn
	if f.entry != entry || most == 0 {
		return 0
	}
	for _, b := range f.blocks {
		if b.kind != profile.EndJump && b.kind != profile.EndJumpInd {
			continue
		}
		if to := c.goesTo(b); to == target || to != 0 && !f.holds(to) && c.jump(to, target, most-1) != 0 {
			return b.last
		}
	}
	return 0
}

// visit is the edge that counts a block's samples.
func (c *code) visit(b *block) profile.EdgeID {
	if b.visit == profile.None {
		b.visit = c.sink.AddEdge(profile.Edge{From: profile.None, To: b.id, Kind: profile.EdgeVisit})
	}
	return b.visit
}

// callBefore is the address of the call that returns to ret.
func (c *code) callBefore(ret uint64) uint64 {
	if p := c.look(ret - 1); p.b.end == ret {
		return p.b.last
	}
	return ret - 1
}

// tripEvents makes the pair of events that tell of a loop at its test.
func (c *code) tripEvents(b *block) {
	if b.tripped {
		return
	}
	if !c.told {
		c.told = true
		c.kinds[0] = c.sink.AddKind(profile.NewKind(profile.Sampled, profile.KindLoopSamples))
		c.kinds[1] = c.sink.AddKind(profile.NewKind(profile.Sampled, profile.KindLoopLeft))
	}
	b.tripped = true
	for i, k := range c.kinds {
		b.trips[i] = c.sink.AddEvent(profile.Event{Kind: k, Node: b.id, Addr: b.last})
	}
}
