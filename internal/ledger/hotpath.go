package ledger

import (
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
	known map[[2]int32]bool
	time  []float64
}

// wayKey is a function (above is None), or a line in one or in an inlined one.
type wayKey struct {
	above    int32
	function profile.FunctionID
	image    profile.ImageID // of code in no function
	file     profile.FileID
	line     int32
}

// wayLine is a line of the program's own as one of its blocks tells it: a frame of the block's.
type wayLine struct {
	node  profile.NodeID // None: a function, or a line in a library's file
	frame int
}

// hotWay finds the innermost line of the program's own through which most of the time by node is
// come to; nil if there is none.
func (g *guide) hotWay(time []float64, used []bool, total float64) *Spent {
	w := &callWays{g: g, ids: map[wayKey]int32{}, known: map[[2]int32]bool{}}
	for v, x := range time {
		if x != 0 {
			at := w.inner(profile.NodeID(v))
			w.time[at] += x
		}
	}
	for i := range g.tab.Edges {
		if e := &g.tab.Edges[i]; used[i] && valid(e.From, len(time)) && valid(e.To, len(time)) {
			w.leads(e)
		}
	}
	return w.hottest(total)
}

// leads takes an edge from one function into another in. What the dynamic linker goes on to has
// been called from anywhere.
func (w *callWays) leads(e *profile.Edge) {
	if e.Kind == profile.EdgeReturn || linker(w.g.tab, e.From) {
		return
	}
	if isCall(e.Kind) || w.function(e.From) != w.function(e.To) {
		w.connect(w.inner(e.From), w.function(e.To))
	}
}

func (w *callWays) connect(from, to int32) {
	if k := [2]int32{from, to}; from != to && !w.known[k] {
		w.known[k] = true
		w.succ[from] = append(w.succ[from], to)
	}
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
	frames, foreign := w.g.tab.Nodes[id].Frames, w.foreign(id)
	for k := len(frames) - 1; k >= 0; k-- {
		f := &frames[k]
		if f.Line <= 0 {
			continue
		}
		line := wayLine{node: id, frame: k}
		if foreign || origin.LibraryFile(w.g.file(f.File)) {
			line.node = profile.None
		}
		next := w.number(wayKey{above: at, function: profile.FunctionID(profile.None), file: f.File, line: f.Line}, line)
		w.connect(at, next)
		at = next
	}
	return at
}

// foreign reports whether a node lies in a library, whose lines may be known, too.
func (w *callWays) foreign(id profile.NodeID) bool {
	image := w.g.tab.Nodes[id].Image
	return image >= 0 && int(image) < len(w.g.tab.Images) && origin.LibraryImage(w.g.tab.Images[image].Path)
}

// hottest follows what dominates most of the time, inwards.
func (w *callWays) hottest(total float64) *Spent {
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
	var found *Spent
	for next := roots; next != nil; {
		list := next
		next = nil
		for _, v := range list {
			if whole[v] <= hotShare*total {
				continue
			}
			if l := w.lines[v]; l.node != profile.None {
				found = &Spent{w.g.placeAt(l), share(whole[v], total)}
			}
			next = below[v]
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
