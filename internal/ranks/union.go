package ranks

import (
	"fmt"
	"slices"

	"lime/internal/profile"
)

// The tables of many profiles as one. Processes map the same file at different places, so that rows
// are compared by where they are in the file: what is the same in all ranks is kept once.

// union collects the rows.
type union struct {
	t         profile.Tables
	images    map[imageKey]profile.ImageID
	bases     []uint64 // by union id
	files     map[string]profile.FileID
	functions map[functionKey]profile.FunctionID
	nodes     map[nodeKey]profile.NodeID
	edges     map[profile.Edge]profile.EdgeID
	kinds     map[string]int32
	events    map[eventKey]profile.EventID
	sections  map[sectionKey]profile.SectionID
	paths     map[profile.PathNode]profile.PathID
}

type imageKey struct{ path, build string }

// An address is where something is in a file; without a file, in the process.
type address struct {
	image profile.ImageID
	at    uint64
}

type functionKey struct {
	address
	name string
}

type nodeKey struct {
	address
	size uint32
	kind profile.NodeKind
}

type eventKey struct {
	kind int32
	node profile.NodeID
	address
	detail string
}

type sectionKey struct {
	kind  profile.SectionKind
	place string
}

func newUnion() *union {
	return &union{
		images: map[imageKey]profile.ImageID{}, files: map[string]profile.FileID{}, functions: map[functionKey]profile.FunctionID{},
		nodes: map[nodeKey]profile.NodeID{}, edges: map[profile.Edge]profile.EdgeID{}, kinds: map[string]int32{},
		events:   map[eventKey]profile.EventID{},
		sections: map[sectionKey]profile.SectionID{}, paths: map[profile.PathNode]profile.PathID{},
	}
}

// ids are the union's ids of one profile's rows, by its own.
type ids struct {
	u         *union
	t         *profile.Tables
	images    []profile.ImageID
	files     []profile.FileID
	functions []profile.FunctionID
	nodes     []profile.NodeID
	edges     []profile.EdgeID
	kinds     []int32
	events    []profile.EventID
	sections  []profile.SectionID
}

// add adds a profile's rows, but for threads and call paths, and says what they are called now.
func (u *union) add(t *profile.Tables) *ids {
	x := &ids{u: u, t: t}
	x.images = mapped(t.Images, x.image)
	x.files = mapped(t.Files, x.file)
	x.functions = mapped(t.Functions, x.function)
	x.nodes = mapped(t.Nodes, x.node)
	x.edges = mapped(t.Edges, x.edge)
	x.kinds = mapped(t.Kinds, x.kind)
	x.events = mapped(t.Events, x.event)
	x.sections = mapped(t.Sections, x.section)
	return x
}

func mapped[Row any, ID any](rows []Row, id func(*Row) ID) []ID {
	out := make([]ID, len(rows))
	for i := range rows {
		out[i] = id(&rows[i])
	}
	return out
}

// known returns the id of a key, or adds the row.
func known[K comparable, ID any](m map[K]ID, k K, add func() ID) ID {
	id, ok := m[k]
	if !ok {
		id = add()
		m[k] = id
	}
	return id
}

// of translates an id of the profile's; None stays.
func of[Old ~int32, New any](list []New, id Old, none New) New {
	if id < 0 || int(id) >= len(list) {
		return none
	}
	return list[id]
}

func (x *ids) image(r *profile.Image) profile.ImageID {
	return known(x.u.images, imageKey{r.Path, r.BuildID}, func() profile.ImageID {
		x.u.bases = append(x.u.bases, r.Base)
		return x.u.t.AddImage(*r)
	})
}

// place is where a run-time address of the profile's is in its file.
func (x *ids) place(image profile.ImageID, addr uint64) address {
	if image < 0 || int(image) >= len(x.images) {
		return address{profile.None, addr}
	}
	return address{x.images[image], addr - x.t.Images[image].Base}
}

// here is a run-time address in the union, whose files lie where the first rank had them.
func (x *ids) here(a address) uint64 {
	if a.image < 0 {
		return a.at
	}
	return a.at + x.u.bases[a.image]
}

// file adds a source file, or the text of those of its lines that no rank before had to tell of.
func (x *ids) file(r *profile.File) profile.FileID {
	id := known(x.u.files, r.Path, func() profile.FileID { return x.u.t.AddFile(profile.File{Path: r.Path, Lines: map[int32]string{}}) })
	lines := x.u.t.Files[id].Lines
	for n, text := range r.Lines {
		if _, ok := lines[n]; !ok {
			lines[n] = text
		}
	}
	return id
}

func (x *ids) function(r *profile.Function) profile.FunctionID {
	at := x.place(r.Image, r.Entry)
	return known(x.u.functions, functionKey{at, r.Link + "\x00" + r.Name}, func() profile.FunctionID {
		row := *r
		row.Image, row.Entry, row.File = at.image, x.here(at), of(x.files, r.File, profile.None)
		return x.u.t.AddFunction(row)
	})
}

func (x *ids) frames(fs []profile.Frame) []profile.Frame {
	out := slices.Clone(fs)
	for i := range out {
		out[i].File = of(x.files, fs[i].File, profile.None)
	}
	return out
}

func (x *ids) node(r *profile.Node) profile.NodeID {
	at := x.place(r.Image, r.Addr)
	return known(x.u.nodes, nodeKey{at, r.Size, r.Kind}, func() profile.NodeID {
		row := *r
		row.LastAddr = x.here(at) + (r.LastAddr - r.Addr)
		row.Image, row.Addr, row.Function = at.image, x.here(at), of(x.functions, r.Function, profile.None)
		row.Frames, row.First = x.frames(r.Frames), x.frames(r.First)
		return x.u.t.AddNode(row)
	})
}

func (x *ids) nodeOf(id profile.NodeID) profile.NodeID { return of(x.nodes, id, profile.None) }

func (x *ids) edge(r *profile.Edge) profile.EdgeID {
	row := profile.Edge{From: x.nodeOf(r.From), To: x.nodeOf(r.To), Kind: r.Kind}
	return known(x.u.edges, row, func() profile.EdgeID { return x.u.t.AddEdge(row) })
}

func (x *ids) kind(r *profile.EventKind) int32 {
	return known(x.u.kinds, r.Name, func() int32 { return x.u.t.AddKind(*r) })
}

// imageOf is the file of a node of the profile's.
func (x *ids) imageOf(id profile.NodeID) profile.ImageID {
	if id < 0 || int(id) >= len(x.t.Nodes) {
		return profile.None
	}
	return x.t.Nodes[id].Image
}

func (x *ids) event(r *profile.Event) profile.EventID {
	at := x.place(x.imageOf(r.Node), r.Addr)
	key := eventKey{of(x.kinds, r.Kind, 0), x.nodeOf(r.Node), at, r.Detail}
	return known(x.u.events, key, func() profile.EventID {
		row := *r
		row.Kind, row.Node, row.Addr, row.Frames = key.kind, key.node, x.here(at), x.frames(r.Frames)
		return x.u.t.AddEvent(row)
	})
}

// section unites sections that end on one line, as one profile's are: ranks may have come there by
// different copies of a call.
func (x *ids) section(r *profile.Section) profile.SectionID {
	at := x.place(x.imageAt(r.EndAddr), r.EndAddr)
	place := fmt.Sprintf("%d+%#x", at.image, at.at)
	if len(r.Frames) > 0 && r.Frames[0].Line > 0 {
		place = ""
		for _, f := range x.frames(r.Frames) {
			place += fmt.Sprintf(" %d:%d", f.File, f.Line)
		}
	}
	return known(x.u.sections, sectionKey{r.Kind, place}, func() profile.SectionID {
		row := *r
		row.EndAddr, row.EndNode, row.Frames, row.Starts = x.here(at), x.nodeOf(r.EndNode), x.frames(r.Frames), x.frames(r.Starts)
		return x.u.t.AddSection(row)
	})
}

// imageAt finds the file that is mapped at an address.
func (x *ids) imageAt(addr uint64) profile.ImageID {
	for i := range x.t.Images {
		if im := &x.t.Images[i]; addr >= im.Lo && addr < im.Hi {
			return profile.ImageID(i)
		}
	}
	return profile.None
}

func (x *ids) stack(s []profile.NodeID) []profile.NodeID {
	if s == nil {
		return nil
	}
	out := make([]profile.NodeID, len(s))
	for i, id := range s {
		out[i] = x.nodeOf(id)
	}
	return out
}

// callPaths adds the tree of call paths and what is known of each, for the threads that row names.
// held says which part of a thread's time in a section belongs to others as well. It returns the
// union's paths, by the profile's own.
func (x *ids) callPaths(
	row func(profile.ThreadID) profile.ThreadID, held func(profile.ThreadID, profile.SectionID) []share,
) []profile.PathID {
	paths := make([]profile.PathID, len(x.t.Paths))
	for i := range x.t.Paths {
		p := &x.t.Paths[i]
		at := x.place(x.imageOf(p.Node), p.Addr)
		key := profile.PathNode{Parent: of(paths[:i], p.Parent, profile.None), Node: x.nodeOf(p.Node), Addr: x.here(at)}
		paths[i] = known(x.u.paths, key, func() profile.PathID { return x.u.t.AddPath(key) })
	}
	for i := range x.t.PathSamples {
		s := x.t.PathSamples[i]
		own, thread := s.Section, s.Thread
		s.Path, s.Thread, s.Section = of(paths, s.Path, profile.None), row(s.Thread), of(x.sections, s.Section, profile.None)
		x.u.t.AddPathSample(s)
		if s.Metric == "time" {
			for _, h := range held(thread, own) {
				x.u.t.AddPathSample(profile.PathSample{Path: s.Path, Thread: s.Thread, Section: h.to,
					Metric: profile.MetricHeld, Value: s.Value * h.part})
			}
		}
	}
	x.wasted(paths, row)
	x.locks(paths, row)
	return paths
}

func (x *ids) wasted(paths []profile.PathID, row func(profile.ThreadID) profile.ThreadID) {
	side := func(s profile.WasteSide) profile.WasteSide { return x.side(paths, s) }
	for _, w := range x.t.WasteTotals {
		w.Thread = row(w.Thread)
		x.u.t.AddWasteTotal(w)
	}
	for _, w := range x.t.WastePairs {
		w.Thread, w.First, w.Second = row(w.Thread), side(w.First), side(w.Second)
		x.u.t.AddWastePair(w)
	}
}

// side is a place on a call path.
func (x *ids) side(paths []profile.PathID, s profile.WasteSide) profile.WasteSide {
	at := x.place(x.imageOf(s.Node), s.Addr)
	return profile.WasteSide{Path: of(paths, s.Path, profile.None), Node: x.nodeOf(s.Node), Addr: x.here(at), Frames: x.frames(s.Frames)}
}

// locks takes the locks over: each process has its own.
func (x *ids) locks(paths []profile.PathID, row func(profile.ThreadID) profile.ThreadID) {
	first := profile.LockID(len(x.u.t.Locks))
	for _, l := range x.t.Locks {
		x.u.t.AddLock(l)
	}
	for _, w := range x.t.LockWaits {
		w.Lock, w.Thread, w.At = first+w.Lock, row(w.Thread), x.side(paths, w.At)
		x.u.t.AddLockWait(w)
	}
	for _, h := range x.t.LockHolds {
		h.Lock, h.Thread, h.At = first+h.Lock, row(h.Thread), x.side(paths, h.At)
		x.u.t.AddLockHold(h)
	}
}

// write hands all rows out.
func (u *union) write(sink profile.Sink) {
	each(u.t.Images, sink.AddImage)
	each(u.t.Files, sink.AddFile)
	each(u.t.Functions, sink.AddFunction)
	each(u.t.Nodes, sink.AddNode)
	each(u.t.Edges, sink.AddEdge)
	each(u.t.Kinds, sink.AddKind)
	each(u.t.Events, sink.AddEvent)
	each(u.t.Sections, sink.AddSection)
	each(u.t.Threads, sink.AddThread)
	each(u.t.Paths, sink.AddPath)
	for _, s := range u.t.PathSamples {
		sink.AddPathSample(s)
	}
	for _, tr := range u.t.Traces {
		sink.AddTrace(tr)
	}
	for _, w := range u.t.WasteTotals {
		sink.AddWasteTotal(w)
	}
	for _, w := range u.t.WastePairs {
		sink.AddWastePair(w)
	}
	each(u.t.Locks, sink.AddLock)
	for _, w := range u.t.LockWaits {
		sink.AddLockWait(w)
	}
	for _, h := range u.t.LockHolds {
		sink.AddLockHold(h)
	}
}

func each[Row, ID any](rows []Row, add func(Row) ID) {
	for _, r := range rows {
		add(r)
	}
}
