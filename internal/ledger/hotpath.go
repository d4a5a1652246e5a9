package ledger

import (
	"slices"

	"lime/internal/graph"
	"lime/internal/origin"
	"lime/internal/profile"
)

// Where no line stands out, because many functions share the work, the way to it may: a call
// through which most of the time is come to, whatever it is spent in then.

// callWays is who leads to what: functions, lines in them, inlined functions' lines in those, and
// the functions that are called there.
type callWays struct {
	g     *guide
	ids   map[wayKey]int32
	lines []wayLine // by number
	succ  [][]int32
	calls map[[2]int32]float64 // how often one led to the other
	time  []float64
}

// wayKey is a function (above is None), or a line or a loop in one or in an inlined one.
type wayKey struct {
	above    int32
	function profile.FunctionID
	image    profile.ImageID // of code in no function
	file     profile.FileID
	line     int32
	loop     int32 // its number + 1; 0 for a line
}

// wayLine is a line of the program's own as one of its blocks tells it: a frame of the block's.
type wayLine struct {
	node  profile.NodeID // None: a function, or a line in a library's file
	frame int
}

// hotWay finds the innermost line of the program's own through which most of the time by node is
// come to; nil if there is none. It is one that all ways lead through, or else one through which
// most of the time is come to if a function costs the same from wherever it is called. outer says
// that it calls a function of the program's own, in which no line has so much.
func (g *guide) hotWay(time, count []float64, total float64) (s *Spent, outer bool) {
	w := &callWays{g: g, ids: map[wayKey]int32{}, calls: map[[2]int32]float64{}}
	for v, x := range time {
		if x != 0 {
			at := w.inner(profile.NodeID(v))
			w.time[at] += x
		}
	}
	for i := range g.tab.Edges {
		if e := &g.tab.Edges[i]; count[i] > 0 && valid(e.From, len(time)) && valid(e.To, len(time)) {
			w.leads(e, count[i])
			for _, v := range g.bound[int32(i)] {
				w.connect(w.inner(profile.NodeID(v)), w.function(e.To), count[i])
			}
		}
	}
	if s, outer = w.hottest(total); s == nil {
		s, outer = w.likeliest(total), true
	}
	return s, outer
}

// ownCall reports whether something calls a function of the program's own.
func (w *callWays) ownCall(v int32) bool {
	return slices.ContainsFunc(w.succ[v], func(f int32) bool {
		return w.lines[f].node == profile.None && slices.ContainsFunc(w.succ[f], func(l int32) bool { return w.lines[l].node != profile.None })
	})
}

// leads takes an edge from one function into another in. What the dynamic linker goes on to has
// been called from anywhere.
func (w *callWays) leads(e *profile.Edge, n float64) {
	if e.Kind == profile.EdgeReturn || linker(w.g.tab, e.From) {
		return
	}
	if isCall(e.Kind) || w.function(e.From) != w.function(e.To) {
		w.connect(w.inner(e.From), w.function(e.To), n)
	}
}

func (w *callWays) connect(from, to int32, n float64) {
	if from == to {
		return
	}
	k := [2]int32{from, to}
	if _, known := w.calls[k]; !known {
		w.succ[from] = append(w.succ[from], to)
	}
	w.calls[k] += n
}

func (w *callWays) number(k wayKey, line wayLine) int32 {
	id, ok := w.ids[k]
	if !ok {
		id = int32(len(w.lines))
		w.ids[k] = id
		w.lines, w.succ, w.time = append(w.lines, line), append(w.succ, nil), append(w.time, 0)
	}
	return id
}

// function is the number of a node's function.
func (w *callWays) function(id profile.NodeID) int32 {
	n := &w.g.tab.Nodes[id]
	k := wayKey{above: graph.None, function: n.Function}
	if n.Function < 0 {
		k.image = n.Image
	}
	return w.number(k, wayLine{node: profile.None})
}

// inner is the number of a node's innermost line, or of its function if it has none.
func (w *callWays) inner(id profile.NodeID) int32 {
	at := w.function(id)
	frames, foreign, nests := w.g.tab.Nodes[id].Frames, w.foreign(id), w.g.nests()
	around := nests.around[id]
	for k := len(frames) - 1; k >= 0; k-- {
		for len(around) > 0 && nests.loops[around[0]].depth <= len(frames)-1-k {
			at = w.loop(at, around[0], foreign)
			around = around[1:]
		}
		f := &frames[k]
		if f.Line <= 0 {
			continue
		}
		at = w.within(at, wayKey{file: f.File, line: f.Line}, wayLine{node: id, frame: k}, foreign)
	}
	return at
}

// loop is the number of a loop in what is around it; that itself where the loop is one line's.
func (w *callWays) loop(at, id int32, foreign bool) int32 {
	l := &w.g.nests().loops[id]
	if l.node == profile.None || l.lines < 2 {
		return at
	}
	frame := len(w.g.tab.Nodes[l.node].Frames) - 1 - l.depth
	return w.within(at, wayKey{file: l.file, line: l.line, loop: id + 1}, wayLine{node: l.node, frame: frame}, foreign)
}

// within is the number of what lies in something else.
func (w *callWays) within(at int32, k wayKey, line wayLine, foreign bool) int32 {
	if foreign || origin.LibraryFile(w.g.file(k.file)) {
		line.node = profile.None
	}
	k.above, k.function = at, profile.FunctionID(profile.None)
	next := w.number(k, line)
	w.connect(at, next, 1)
	return next
}

// foreign reports whether a node lies in a library, whose lines may be known, too.
func (w *callWays) foreign(id profile.NodeID) bool {
	image := w.g.tab.Nodes[id].Image
	return image >= 0 && int(image) < len(w.g.tab.Images) && origin.LibraryImage(w.g.tab.Images[image].Path)
}

// hottest follows what dominates most of the time, inwards.
func (w *callWays) hottest(total float64) (found *Spent, outer bool) {
	idom := graph.Dominators(w.succ)
	below, roots := make([][]int32, len(idom)), []int32(nil)
	for v, d := range idom {
		if d == graph.None {
			roots = append(roots, int32(v))
		} else {
			below[d] = append(below[d], int32(v))
		}
	}
	whole := append([]float64(nil), w.time...)
	for _, v := range postorder(roots, below) {
		if d := idom[v]; d != graph.None {
			whole[d] += whole[v]
		}
	}
	for next := roots; next != nil; {
		list := next
		next = nil
		for _, v := range list {
			if whole[v] <= hotShare*total {
				continue
			}
			if l := w.lines[v]; l.node != profile.None {
				found, outer = &Spent{Place: w.g.placeAt(l), Share: share(whole[v], total)}, w.ownCall(v)
			}
			next = below[v]
		}
	}
	return found, outer
}

// likeliest follows what most of the time is come to through, each function's time divided among
// those who call it by how often they do. Of two such lines one leads to the other: the innermost
// counts.
func (w *callWays) likeliest(total float64) (found *Spent) {
	off, to := []int32{0}, []int32(nil)
	for _, list := range w.succ {
		to = append(to, list...)
		off = append(off, int32(len(to)))
	}
	comps, comp := components(len(w.succ), off, to) // who is called before who calls
	into := make([]float64, len(comps))
	for k, n := range w.calls {
		if comp[k[0]] != comp[k[1]] {
			into[comp[k[1]]] += n
		}
	}
	whole := make([]float64, len(comps))
	for c, members := range comps {
		for _, v := range members {
			mine := w.time[v]
			for _, s := range w.succ[v] {
				if comp[s] != int32(c) {
					mine += whole[comp[s]] * w.calls[[2]int32{v, s}] / into[comp[s]]
				}
			}
			whole[c] += mine
			if l := w.lines[v]; found == nil && mine > hotShare*total && l.node != profile.None {
				found = &Spent{Place: w.g.placeAt(l), Share: share(mine, total), About: true}
			}
		}
	}
	return found
}

// postorder lists a forest, children first.
func postorder(roots []int32, below [][]int32) []int32 {
	order := append([]int32(nil), roots...)
	for i := 0; i < len(order); i++ {
		order = append(order, below[order[i]]...)
	}
	for i, k := 0, len(order)-1; i < k; i, k = i+1, k-1 {
		order[i], order[k] = order[k], order[i]
	}
	return order
}

// placeAt is the place of a line: what is inlined into it is left out.
func (g *guide) placeAt(l wayLine) Place {
	p := g.place(l.node)
	p.Frames = p.Frames[l.frame:]
	f := p.Frames[0]
	p.File, p.Line, p.Function = f.File, f.Line, f.Function
	return p
}
