package callgrind

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lime/internal/profile"
)

// ErrThreads marks data of fewer than two threads.
var ErrThreads = errors.New("fewer than two threads")

// Convert fills sink with the dumps of one run.
func Convert(dumps []*Dump, sink profile.Sink, o Options) error {
	threads := choose(dumps, o)
	if len(threads) < 2 {
		return fmt.Errorf("%w to compare; give the files of all threads, written with --separate-threads=yes", ErrThreads)
	}
	c := &converter{sink: sink, threads: threads, source: o.Source, files: map[string]profile.FileID{},
		functions: map[function]profile.FunctionID{},
		images:    map[string]profile.ImageID{}, edges: map[edge]profile.EdgeID{}, events: map[eventKey]profile.EventID{}}
	c.alone = dropAlone(dumps, threads)
	c.dumps = slices.DeleteFunc(slices.Clone(dumps), func(d *Dump) bool { return !slices.Contains(threads, d.Thread) })
	if err := c.sameEvents(); err != nil {
		return err
	}
	if !o.Parts {
		c.dumps = merge(c.dumps)
	}
	c.code = newCode(c.dumps)
	c.tables(dumps)
	return c.write()
}

// converter fills a profile.
type converter struct {
	sink      profile.Sink
	dumps     []*Dump
	threads   []int // by ThreadID
	alone     bool  // work of the first thread was left out
	code      *code
	files     map[string]profile.FileID
	functions map[function]profile.FunctionID
	images    map[string]profile.ImageID
	base      []uint64 // by ImageID
	edges     map[edge]profile.EdgeID
	kinds     []hardware
	events    map[eventKey]profile.EventID
	section   profile.SectionID
	meta      profile.Meta
	source    func(path string) []string
}

// eventKey is one kind of event at one instruction.
type eventKey struct {
	kind  int
	instr int
}

// sameEvents refuses files that count different things.
func (c *converter) sameEvents() error {
	for _, d := range c.dumps {
		if !slices.Equal(d.Events, c.dumps[0].Events) {
			return fmt.Errorf("%s counts %v, and %s %v: they are not of one run", d.File, d.Events, c.dumps[0].File, c.dumps[0].Events)
		}
	}
	if c.dumps[0].Events[0] != "Ir" {
		return fmt.Errorf("%s: its first kind of event is %q and not Ir", c.dumps[0].File, c.dumps[0].Events[0])
	}
	return nil
}

// merge sums the parts of each thread.
func merge(dumps []*Dump) []*Dump {
	byThread := map[int]*Dump{}
	for _, d := range dumps {
		sum := byThread[d.Thread]
		if sum == nil {
			byThread[d.Thread] = d
			continue
		}
		for k, in := range d.Instrs {
			sum.absorb(k, in)
		}
	}
	var out []*Dump
	for _, t := range slices.Sorted(maps.Keys(byThread)) {
		byThread[t].Part = 1
		out = append(out, byThread[t])
	}
	return out
}

// absorb adds what an instruction did in a later part.
func (d *Dump) absorb(k Key, in *Instr) {
	have := d.Instrs[k]
	if have == nil {
		d.Instrs[k] = in
		return
	}
	if have.Costs == nil {
		have.Costs = make([]uint64, len(d.Events))
	}
	for i, n := range in.Costs {
		have.Costs[i] = saturate(have.Costs[i], n)
	}
	for _, j := range in.Jumps {
		have.addJump(j)
	}
	for _, call := range in.Calls {
		have.addCall(call)
	}
}

// tables fills in everything but the instances.
func (c *converter) tables(all []*Dump) {
	c.meta = profile.Meta{
		Tool: "callgrind", Collector: "import callgrind", Model: "callgrind", Command: strings.Fields(all[0].Cmd),
		Cores: len(c.threads), ClockUnit: "instructions", NodeTime: "visits", EndState: "exited", Complete: true, Resolved: true,
		Notes: c.notes(),
	}
	c.addImages()
	for b := range c.code.blocks {
		c.addNode(b)
	}
	for _, t := range c.threads {
		c.sink.AddThread(profile.Thread{Name: fmt.Sprintf("thread %d", t), Parent: profile.None, TID: int32(t), Entry: profile.None})
	}
	c.addKinds()
	c.section = c.sink.AddSection(c.end())
}

func (c *converter) notes() []profile.Note {
	out := []profile.Note{{Code: "no-waits", N: 1,
		Text: "Callgrind gives no times of waiting: a thread's time is the instructions that it ran. Threads that " +
			"spin look busy (OMP_WAIT_POLICY=passive helps)."}}
	if c.alone {
		out = append(out, profile.Note{Code: "main-alone", N: 1,
			Text: "Functions that only the first thread ran were left out: callgrind does not tell what it did while the others worked."})
	}
	return out
}

// addImages gives every object its own range of addresses: callgrind's are
// relative to the object.
func (c *converter) addImages() {
	top := map[string]uint64{}
	for _, k := range c.code.keys {
		top[k.Object] = max(top[k.Object], k.Addr)
	}
	next := uint64(0)
	for _, object := range slices.Sorted(maps.Keys(top)) {
		size := (top[object] | 0xfff) + 1
		c.images[object] = c.sink.AddImage(profile.Image{Path: strings.TrimPrefix(object, "???"), Base: next, Lo: next, Hi: next + size})
		c.base = append(c.base, next)
		next += (size | 0xffffff) + 1
	}
}

// addr is the address of an instruction in the profile.
func (c *converter) addr(i int) uint64 {
	k := c.code.keys[i]
	return c.base[c.images[k.Object]] + k.Addr
}

func (c *converter) file(path string) profile.FileID {
	if path == "" || path == "???" {
		return profile.None
	}
	if id, ok := c.files[path]; ok {
		return id
	}
	c.files[path] = c.sink.AddFile(profile.File{Path: path, Lines: c.text(path)})
	return c.files[path]
}

// around is the number of source lines kept on either side of one that ran.
const around = 3

// text returns the source lines of a file that ran, and those around them, if
// the source is at hand.
func (c *converter) text(path string) map[int32]string {
	if c.source == nil {
		return nil
	}
	source := c.source(path)
	if len(source) == 0 {
		return nil
	}
	lines := map[int32]string{}
	for _, in := range c.code.info {
		if in.File != path {
			continue
		}
		for n := max(in.Line-around, 1); n <= min(in.Line+around, len(source)); n++ {
			lines[int32(n)] = source[n-1]
		}
	}
	return lines
}

func (c *converter) function(i int) profile.FunctionID {
	in := c.code.info[i]
	f := function{in.Object, in.Function}
	if id, ok := c.functions[f]; ok {
		return id
	}
	c.functions[f] = c.sink.AddFunction(profile.Function{Image: c.images[in.Object], Name: in.Function, Link: in.Function,
		Entry: c.addr(i), File: c.file(in.File), Line: int32(in.Line)})
	return c.functions[f]
}

// frame is the source position of an instruction.
func (c *converter) frame(i int) []profile.Frame {
	in := c.code.info[i]
	file := c.file(in.File)
	if file < 0 || in.Line <= 0 {
		return nil
	}
	return []profile.Frame{{File: file, Line: int32(in.Line), Function: in.Function}}
}

func (c *converter) addNode(b int) {
	bl := c.code.blocks[b]
	lo, hi := c.addr(bl.first), c.addr(bl.last)
	c.sink.AddNode(profile.Node{Image: c.images[c.code.keys[bl.first].Object], Addr: lo, Size: uint32(min(hi-lo+1, 1<<30)),
		Instrs: uint32(bl.last - bl.first + 1), LastAddr: hi, Kind: c.nodeKind(b), Function: c.function(bl.first),
		Frames: c.frame(bl.last), First: c.frame(bl.first)})
}

// nodeKind tells how a block ends, from what any thread did there.
func (c *converter) nodeKind(b int) profile.NodeKind {
	kind := profile.EndFall
	key := c.code.keys[c.code.blocks[b].last]
	for _, d := range c.dumps {
		in := d.Instrs[key]
		if in == nil {
			continue
		}
		for _, j := range in.Jumps {
			switch {
			case j.Conditional:
				return profile.EndCond
			case len(in.Jumps) > 1:
				return profile.EndJumpInd
			}
			kind = profile.EndJump
		}
		if len(in.Calls) > 1 {
			return profile.EndCallInd
		}
		if len(in.Calls) == 1 {
			kind = profile.EndCall
		}
	}
	return kind
}

// hardware is a kind of event made of callgrind's costs.
type hardware struct {
	name  string
	costs []string
	index []int
}

func hardwareKinds() []hardware {
	return []hardware{
		{name: "l1d-miss", costs: []string{"D1mr", "D1mw"}},
		{name: "llc-miss", costs: []string{"DLmr", "DLmw"}},
		{name: "l1i-miss", costs: []string{"I1mr"}},
		{name: "branch-miss", costs: []string{"Bcm", "Bim"}},
	}
}

// addKinds adds the kinds of event that the files hold.
func (c *converter) addKinds() {
	var names []string
	for _, h := range hardwareKinds() {
		for _, cost := range h.costs {
			if i := slices.Index(c.dumps[0].Events, cost); i >= 0 {
				h.index = append(h.index, i)
			}
		}
		if len(h.index) == 0 {
			continue
		}
		c.kinds, names = append(c.kinds, h), append(names, h.name)
	}
	for _, k := range profile.NewKinds(profile.Modelled, names...) {
		c.sink.AddKind(k)
	}
}

// end is the section: all that the threads did, which ends with the function
// that they share.
func (c *converter) end() profile.Section {
	s := profile.Section{Kind: profile.SectionTail, EndNode: profile.None}
	f, _ := shared(c.dumps)
	last := -1
	for i, in := range c.code.info {
		if in.Object == f.object && in.Function == f.name && (last < 0 || c.code.info[last].Line < in.Line || c.frame(last) == nil) {
			last = i
		}
	}
	if last >= 0 {
		s.EndAddr, s.EndNode, s.Frames = c.addr(last), profile.NodeID(c.code.block[last]), c.frame(last)
	}
	return s
}

// write writes an instance for each part, and the description of the run.
func (c *converter) write() error {
	parts := map[int][]int{}
	for i, d := range c.dumps {
		parts[d.Part] = append(parts[d.Part], i)
	}
	var clock uint64
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		dumps := parts[part]
		slices.SortStableFunc(dumps, func(a, b int) int { return cmp.Compare(c.dumps[a].Thread, c.dumps[b].Thread) })
		in := c.instance(dumps, clock)
		if clock = in.Parts[0].Release; clock > maxCount {
			return fmt.Errorf("%s: %w: counts too large", c.dumps[0].File, ErrFormat)
		}
		if err := c.sink.WriteInstance(in); err != nil {
			return err
		}
	}
	c.meta.RunTime = clock
	return c.sink.UpdateMeta(c.meta)
}

// instance makes an instance of one part's dumps.
func (c *converter) instance(dumps []int, clock uint64) *profile.Instance {
	in := &profile.Instance{Section: c.section}
	var longest uint64
	for part, d := range dumps {
		var time uint64
		for i := range c.code.keys {
			time = saturate(time, c.code.counts[i][d])
		}
		longest = max(longest, time)
		c.meta.CoreTime = saturate(c.meta.CoreTime, time)
		in.Parts = append(in.Parts, profile.Part{Thread: c.threadID(c.dumps[d].Thread), Start: clock,
			Arrive: clock + time, Entry: profile.None, Exit: profile.None})
		c.count(in, part, d)
	}
	for i := range in.Parts {
		in.Parts[i].Release = clock + longest
	}
	return in
}

func (c *converter) threadID(thread int) profile.ThreadID {
	return profile.ThreadID(slices.Index(c.threads, thread))
}

// count adds a dump's edges and events.
func (c *converter) count(in *profile.Instance, part, dump int) {
	flow := c.code.flow(c.dumps, dump)
	for _, e := range slices.SortedFunc(maps.Keys(flow), compareEdges) {
		in.Edges = append(in.Edges, profile.Count{Row: int32(c.edge(e)), Part: int32(part), N: flow[e]})
	}
	for i, key := range c.code.keys {
		instr := c.dumps[dump].Instrs[key]
		if instr == nil {
			continue
		}
		for k := range c.kinds {
			if n := c.kinds[k].count(instr); n > 0 {
				in.Events = append(in.Events, profile.Count{Row: int32(c.event(k, i)), Part: int32(part), N: n})
			}
		}
	}
}

func compareEdges(a, b edge) int {
	return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.kind, b.kind), cmp.Compare(a.to, b.to))
}

func (h *hardware) count(in *Instr) uint64 {
	var n uint64
	for _, i := range h.index {
		if i < len(in.Costs) {
			n = saturate(n, in.Costs[i])
		}
	}
	return n
}

// edgeKinds are the profile's names of our kinds of edge.
var edgeKinds = [...]profile.EdgeKind{
	taken: profile.EdgeTaken, fall: profile.EdgeFall, jump: profile.EdgeJump, jumpInd: profile.EdgeJumpInd,
	call: profile.EdgeCall, callInd: profile.EdgeCallInd, ret: profile.EdgeReturn, end: profile.EdgeEnd,
}

func (c *converter) edge(e edge) profile.EdgeID {
	if id, ok := c.edges[e]; ok {
		return id
	}
	to := profile.NodeID(profile.None)
	if e.to >= 0 {
		to = profile.NodeID(e.to)
	}
	c.edges[e] = c.sink.AddEdge(profile.Edge{From: profile.NodeID(e.from), To: to, Kind: edgeKinds[e.kind]})
	return c.edges[e]
}

func (c *converter) event(kind, instr int) profile.EventID {
	key := eventKey{kind, instr}
	if id, ok := c.events[key]; ok {
		return id
	}
	c.events[key] = c.sink.AddEvent(profile.Event{Kind: int32(kind), Node: profile.NodeID(c.code.block[instr]),
		Addr: c.addr(instr), Frames: c.frame(instr)})
	return c.events[key]
}
