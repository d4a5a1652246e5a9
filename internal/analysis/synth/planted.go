package synth

import (
	"fmt"
	"math/rand/v2"

	"lime/internal/profile"
)

// Planted is a profile of a program that loads alone for some time and then runs sections, each
// with one decision that makes some threads late, behind random calls, in the program's own code or
// because it has a library do more.
type Planted struct {
	Profile *profile.Profile
	Lines   []int32  // by section that Names tells: the line of its decision
	Names   []string // what was planted there
	First   profile.SectionID
}

// Plant makes one, by a seed. Every section loses another part of the run, from nearly all to one
// part in millions.
func Plant(seed uint64) *Planted {
	r := rand.New(rand.NewPCG(seed, 79))
	p := profile.New(profile.Meta{Tool: "synth", Collector: "synth", Model: "count", ClockUnit: "instructions", NodeTime: "visits",
		Complete: true, EndState: "exited", TimeLabel: profile.Measured, CountLabel: profile.Measured})
	g := &grower{r: r, p: p, threads: 4 + r.IntN(13), ids: map[profile.Edge]profile.EdgeID{}, line: 100,
		file: p.AddFile(profile.File{Path: "/src/app.c"}), own: p.AddImage(profile.Image{Path: "/src/app"}),
		libc: p.AddImage(profile.Image{Path: "/lib/x86_64-linux-gnu/libc.so.6"})}
	for range g.threads {
		p.AddThread(profile.Thread{})
	}
	out := &Planted{Profile: p}
	g.serial(uint64(1000 * pow10(r.IntN(6))))
	out.First = 1
	for range 1 + r.IntN(4) {
		line, name := g.section(uint64(pow10(r.IntN(5))))
		out.Lines, out.Names = append(out.Lines, line), append(out.Names, name)
	}
	p.Meta().RunTime = g.clock
	return out
}

func pow10(n int) int {
	x := 1
	for range n {
		x *= 10
	}
	return x
}

// grower grows a program and runs it.
type grower struct {
	r         *rand.Rand
	p         *profile.Profile
	threads   int
	file      profile.FileID
	own, libc profile.ImageID
	line      int32
	clock     uint64
	ids       map[profile.Edge]profile.EdgeID
	addr      uint64
	loopLine  int32 // of the loop grown last
}

// block makes a block on a new line, or of the library.
func (g *grower) block(instrs uint32, kind profile.NodeKind, library bool) profile.NodeID {
	g.addr += 64
	n := profile.Node{Image: g.own, Addr: 0x1000 + g.addr, LastAddr: 0x1000 + g.addr + 32, Instrs: instrs, Kind: kind, Function: profile.None}
	if library {
		n.Image = g.libc
	} else {
		g.line++
		n.Frames = []profile.Frame{{File: g.file, Line: g.line, Function: fmt.Sprintf("f%d", g.line/100)}}
		n.First = n.Frames
	}
	return g.p.AddNode(n)
}

func (g *grower) lineOf(v profile.NodeID) int32 { return g.p.Nodes[v].Frames[0].Line }

// serial is the load.
func (g *grower) serial(time uint64) {
	v := g.block(1, profile.EndCond, false)
	id := g.p.AddSection(profile.Section{Kind: profile.SectionSerial, EndNode: v, Frames: g.p.Nodes[v].Frames})
	w := &walk{g: g, counts: map[profile.EdgeID]uint64{}, back: profile.None, at: v, times: 1}
	w.time = 1
	w.repeat(time, func() { w.to(v, profile.EdgeTaken) })
	g.write(id, []*walk{w}, v, v)
}

// piece is code that a thread runs.
type piece func(w *walk)

// section grows a section and runs it; scale is how much more there is to do than in the smallest
// one.
func (g *grower) section(scale uint64) (line int32, name string) {
	start, end := g.block(3, profile.EndFall, false), profile.NodeID(0)
	late := g.lateness()
	decision, line, name := g.decision(late)
	body := decision
	for range g.r.IntN(5) {
		body = g.around(body)
	}
	var extra piece
	if g.r.IntN(2) == 0 { // another one, next to which it matters little
		small := make([]uint64, g.threads)
		small[g.r.IntN(g.threads)] = 1
		extra = g.loop(func(w *walk) uint64 { return 1 + small[w.part] }, nil, 2)
	}
	end = g.block(1, profile.EndCond, false)
	id := g.p.AddSection(profile.Section{Kind: profile.SectionBarrier, EndNode: end, EndAddr: g.p.Nodes[end].LastAddr,
		Frames: g.p.Nodes[end].Frames})
	for range 1 + g.r.IntN(3) {
		var ws []*walk
		for part := range g.threads {
			w := &walk{g: g, part: part, counts: map[profile.EdgeID]uint64{}, back: profile.None, at: start, times: 1, scale: scale}
			w.spend()
			body(w)
			if extra != nil {
				extra(w)
			}
			w.to(end, profile.EdgeFall)
			ws = append(ws, w)
		}
		g.write(id, ws, start, end)
	}
	return line, name
}

// lateness is how many times more than the least a thread has to do.
func (g *grower) lateness() []uint64 {
	out := make([]uint64, g.threads)
	for i := range out {
		out[i] = uint64(g.r.IntN(3))
	}
	out[g.r.IntN(g.threads)] += 5 + uint64(g.r.IntN(20))
	return out
}

// decision grows what is planted.
func (g *grower) decision(late []uint64) (piece, int32, string) {
	more := func(w *walk) uint64 { return (10 + late[w.part]*4) * w.scale }
	switch g.r.IntN(4) {
	case 0:
		loop := g.loop(more, g.work(), 5)
		return loop, g.lastLoop(), "a loop of unequal length"
	case 1:
		call := g.block(2, profile.EndCall, false)
		return g.library(call, more), g.lineOf(call), "a call of a library with unequal amounts"
	case 2:
		test, then, after := g.block(2, profile.EndCond, false), g.work(), g.block(1, profile.EndFall, false)
		latest := argmaxOf(late)
		return func(w *walk) {
			w.to(test, profile.EdgeFall)
			if w.part == latest {
				w.repeatLoop(then, 30*w.scale)
			}
			w.to(after, profile.EdgeTaken)
		}, g.lineOf(test), "a branch that one thread goes another way at"
	}
	test, call, after := g.block(2, profile.EndCond, false), g.block(2, profile.EndCall, false), g.block(1, profile.EndFall, false)
	sort, latest := g.library(call, func(w *walk) uint64 { return 40 * w.scale }), argmaxOf(late)
	return func(w *walk) {
		w.to(test, profile.EdgeFall)
		if w.part == latest {
			sort(w)
		}
		w.to(after, profile.EdgeTaken)
	}, g.lineOf(test), "a branch to a call of a library"
}

func argmaxOf(xs []uint64) int {
	best := 0
	for i, x := range xs {
		if x > xs[best] {
			best = i
		}
	}
	return best
}

// lastLoop is the line of the test of the loop grown last.
func (g *grower) lastLoop() int32 { return g.loopLine }

// around puts a body behind something that all threads do alike: a call, a loop that goes round as
// often, a branch that all take.
func (g *grower) around(body piece) piece {
	switch g.r.IntN(3) {
	case 0:
		return g.call(body)
	case 1:
		even := g.loop(func(w *walk) uint64 { return 20 * w.scale }, nil, 3)
		return func(w *walk) { even(w); body(w) }
	}
	test, after := g.block(2, profile.EndCond, false), g.block(1, profile.EndFall, false)
	return func(w *walk) {
		w.to(test, profile.EdgeFall)
		body(w)
		w.to(after, profile.EdgeTaken)
	}
}

// call puts a body into a function of its own.
func (g *grower) call(body piece) piece {
	site, entry := g.block(1, profile.EndCall, false), g.block(1, profile.EndFall, false)
	ret, next := g.block(1, profile.EndRet, false), g.block(1, profile.EndFall, false)
	return func(w *walk) {
		w.to(site, profile.EdgeFall)
		w.call(site, entry, func() { body(w); w.to(ret, profile.EdgeFall) })
		w.to(next, profile.EdgeFall)
	}
}

// library calls a loop of the library at a call site.
func (g *grower) library(site profile.NodeID, rounds func(*walk) uint64) piece {
	entry, turn := g.block(4, profile.EndFall, true), g.block(6, profile.EndCond, true)
	ret, next := g.block(1, profile.EndRet, true), g.block(1, profile.EndFall, false)
	return func(w *walk) {
		w.to(site, profile.EdgeFall)
		w.call(site, entry, func() {
			w.to(turn, profile.EdgeFall)
			w.repeat(rounds(w), func() { w.to(turn, profile.EdgeTaken) })
			w.to(ret, profile.EdgeFall)
		})
		w.to(next, profile.EdgeFall)
	}
}

// loop is tested at its top.
func (g *grower) loop(rounds func(*walk) uint64, body piece, instrs uint32) piece {
	test, inside, after := g.block(2, profile.EndCond, false), g.block(instrs, profile.EndJump, false), g.block(1, profile.EndFall, false)
	g.loopLine = g.lineOf(test)
	return func(w *walk) {
		w.to(test, profile.EdgeFall)
		w.repeat(rounds(w), func() {
			if body != nil {
				body(w)
			}
			w.to(inside, profile.EdgeFall)
			w.to(test, profile.EdgeJump)
		})
		w.to(after, profile.EdgeTaken)
	}
}

// work is done in a round.
func (g *grower) work() piece {
	v := g.block(uint32(4+g.r.IntN(20)), profile.EndFall, false)
	plain := func(w *walk) { w.to(v, profile.EdgeFall) }
	if g.r.IntN(2) == 0 {
		return g.call(plain)
	}
	return plain
}

// walk is a thread's way through a section.
type walk struct {
	g      *grower
	part   int
	scale  uint64
	times  uint64 // what is done now counts so many times
	counts map[profile.EdgeID]uint64
	at     profile.NodeID
	back   profile.NodeID // the call that has just returned
	time   uint64
}

func (w *walk) spend() { w.time += uint64(w.g.p.Nodes[w.at].Instrs) * w.times }

func (w *walk) to(v profile.NodeID, kind profile.EdgeKind) {
	from := w.at
	if w.back != profile.None {
		from, kind, w.back = w.back, profile.EdgeReturn, profile.None
	}
	w.count(profile.Edge{From: from, To: v, Kind: kind})
	w.at = v
	w.spend()
}

func (w *walk) count(e profile.Edge) {
	id, ok := w.g.ids[e]
	if !ok {
		id = w.g.p.AddEdge(e)
		w.g.ids[e] = id
	}
	w.counts[id] += w.times
}

func (w *walk) call(site, entry profile.NodeID, body func()) {
	w.to(entry, profile.EdgeCall)
	body()
	w.count(profile.Edge{From: w.at, To: profile.None, Kind: profile.EdgeEnd})
	w.back = site
}

// repeat does the same n times over. What body begins with must follow from what it ends with, as
// in a loop.
func (w *walk) repeat(n uint64, body func()) {
	if n == 0 {
		return
	}
	body()
	times := w.times
	if w.times *= n - 1; n > 1 {
		body()
	}
	w.times = times
}

// repeatLoop does a piece n times over: a loop without a test.
func (w *walk) repeatLoop(body piece, n uint64) { w.repeat(n, func() { body(w) }) }

// write stores an instance in which the walks were side by side.
func (g *grower) write(id profile.SectionID, ws []*walk, entry, exit profile.NodeID) {
	in := &profile.Instance{Section: id}
	var last uint64
	for _, w := range ws {
		last = max(last, w.time)
	}
	for i, w := range ws {
		in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(w.part), Start: g.clock,
			Arrive: g.clock + w.time, Release: g.clock + last,
			Entry: entry, Exit: exit, EntryStack: []profile.NodeID{}, ExitStack: []profile.NodeID{}})
		for e, n := range w.counts {
			in.Edges = append(in.Edges, profile.Count{Row: int32(e), Part: int32(i), N: n})
		}
	}
	g.clock += last
	if err := g.p.WriteInstance(in); err != nil {
		panic(err) // memory only
	}
}
