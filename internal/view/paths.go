package view

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"lime/internal/analysis"
	"lime/internal/profile"
)

// The metric that is made from another one: the part of the time that a runtime's own code took.
const (
	metricPathTime = "time"
	metricOverhead = "overhead"
)

// pathTrees makes trees of call paths and keeps the last ones.
type pathTrees struct {
	mu    sync.Mutex
	tab   *profile.Tables
	ranks []int // by thread, if there are any
	names *analysis.Paths
	list  []string // metrics
	kept  map[pathKey]*pathNode
}

// pathKey says which samples a tree is made of, and how.
type pathKey struct {
	view            string
	section, thread int
	rank            int    // whose threads; -1: all
	from, to        uint64 // of the run, by the traces; both 0: all of it, by the sums
}

// windowed tells whether a stretch of time is meant.
func (k *pathKey) windowed() bool { return k.to > 0 }

// pathNode is a function or a loop in a context.
type pathNode struct {
	name     string
	loop     bool
	all, own []float64 // by metric: with what it calls, and without
	kids     map[string]*pathNode
	order    []*pathNode
}

func newPathTrees(t *profile.Tables, ranks []int) *pathTrees {
	p := &pathTrees{tab: t, ranks: ranks, kept: map[pathKey]*pathNode{}}
	seen := map[string]bool{}
	for i := range t.PathSamples {
		seen[t.PathSamples[i].Metric] = true
	}
	delete(seen, metricOverhead)
	p.list = slices.Sorted(maps.Keys(seen))
	if seen[metricPathTime] {
		p.list = append(p.list, metricOverhead)
		slices.SortFunc(p.list, func(a, b string) int {
			first := func(s string) int { return map[bool]int{true: 0, false: 1}[s == metricPathTime] }
			return cmp.Or(first(a)-first(b), strings.Compare(a, b))
		})
	}
	return p
}

func (p *pathTrees) metrics() []string { return append([]string{}, p.list...) }

// mostTrees is how many trees are kept.
const mostTrees = 8

// read returns the reader of the paths, for who holds the lock.
func (p *pathTrees) read() *analysis.Paths {
	if p.names == nil {
		p.names = analysis.NewPaths(p.tab)
	}
	return p.names
}

// each calls do with the samples that a view is made of: those of a stretch of time are in ran.
func (p *pathTrees) each(k pathKey, ran *ran, do func(*profile.PathSample)) {
	wants := func(path profile.PathID, section, thread int) bool {
		return path >= 0 && (k.section < 0 || section == k.section) && (k.thread < 0 || thread == k.thread) && (k.rank < 0 || p.ranks[thread] == k.rank)
	}
	if !k.windowed() {
		for i := range p.tab.PathSamples {
			if s := &p.tab.PathSamples[i]; wants(s.Path, int(s.Section), int(s.Thread)) {
				do(s)
			}
		}
		return
	}
	for thread := range ran.lanes {
		lane := ran.lanes[thread]
		first, _ := slices.BinarySearchFunc(lane, k.from, func(s stretch, t uint64) int { return cmp.Compare(s.at, t) })
		for i := first; i < len(lane) && lane[i].at < k.to; i++ {
			if s := &lane[i]; wants(s.path, int(s.section), thread) {
				do(&profile.PathSample{Path: s.path, Metric: metricPathTime, Value: float64(s.length)})
			}
		}
	}
}

// tree returns the tree of a view.
func (p *pathTrees) tree(k pathKey, ran *ran) *pathNode {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := p.kept[k]; n != nil {
		return n
	}
	p.read()
	root := &pathNode{all: make([]float64, len(p.list)), own: make([]float64, len(p.list))}
	p.each(k, ran, func(s *profile.PathSample) { p.sample(root, s, k.view) })
	root.sort()
	if len(p.kept) >= mostTrees {
		clear(p.kept)
	}
	p.kept[k] = root
	return root
}

// sample adds a sample to the tree, for each metric that it counts for.
func (p *pathTrees) sample(root *pathNode, s *profile.PathSample, view string) {
	levels := slices.Clone(p.names.Levels(s.Path))
	if view != "tree" {
		levels = slices.DeleteFunc(levels, func(l analysis.Level) bool { return l.Loop })
	} else {
		slices.Reverse(levels)
	}
	for m, name := range p.list {
		if name != s.Metric && !(name == metricOverhead && s.Metric == metricPathTime && p.names.Overhead(s.Path)) {
			continue
		}
		root.all[m] += s.Value
		switch view {
		case "flat":
			root.flat(levels, m, s.Value)
		case "bottom-up":
			root.hang(levels, m, s.Value, 0)
		default:
			root.hang(levels, m, s.Value, len(levels)-1)
		}
	}
}

func (n *pathNode) kid(l analysis.Level) *pathNode {
	if n.kids == nil {
		n.kids = map[string]*pathNode{}
	}
	k := n.kids[l.Name]
	if k == nil {
		k = &pathNode{name: l.Name, loop: l.Loop, all: make([]float64, len(n.all)), own: make([]float64, len(n.all))}
		n.kids[l.Name] = k
		n.order = append(n.order, k)
	}
	return k
}

// hang adds a value along a path; the level at leaf spent it itself.
func (n *pathNode) hang(levels []analysis.Level, m int, v float64, leaf int) {
	for i, l := range levels {
		n = n.kid(l)
		n.all[m] += v
		if i == leaf {
			n.own[m] += v
		}
	}
}

// flat adds a value to each function of a path once; the innermost spent it itself.
func (n *pathNode) flat(levels []analysis.Level, m int, v float64) {
	seen := map[string]bool{}
	for i, l := range levels {
		k := n.kid(l)
		if !seen[l.Name] {
			k.all[m] += v
		}
		if i == 0 {
			k.own[m] += v
		}
		seen[l.Name] = true
	}
}

// sort puts the rows in order: by the first metric, the most first.
func (n *pathNode) sort() {
	slices.SortFunc(n.order, func(a, b *pathNode) int {
		for m := range a.all {
			if c := cmp.Or(cmp.Compare(b.all[m], a.all[m]), cmp.Compare(b.own[m], a.own[m])); c != 0 {
				return c
			}
		}
		return strings.Compare(a.name, b.name)
	})
	for _, k := range n.order {
		k.sort()
	}
}

// PathTable is a tree of call paths, parents before their children; what does not fit is asked for
// with at.
type PathTable struct {
	Metrics []string  `json:"metrics"`
	Total   []float64 `json:"total"`
	Above   []PathRow `json:"above"` // from the root to the row that the table begins with
	Rows    []PathRow `json:"rows"`
}

// PathRow is a function or loop in its context.
type PathRow struct {
	Name   string    `json:"name"`
	At     string    `json:"at"`
	Parent int       `json:"parent"` // index in Rows, -1 for the topmost
	Loop   bool      `json:"loop,omitempty"`
	Hidden int       `json:"hidden,omitempty"` // children that did not fit
	All    []float64 `json:"all"`
	Own    []float64 `json:"own"`
}

// mostPaths is how many rows an answer has: about 64 kB with names of usual length.
const mostPaths = 400

// table returns the rows below at that matter most.
func (p *pathTrees) table(k pathKey, ran *ran, at string) (*PathTable, error) {
	root := p.tree(k, ran)
	return tableOf(root, p.metrics(), root.all, at)
}

func tableOf(root *pathNode, metrics []string, total []float64, at string) (*PathTable, error) {
	out := &PathTable{Metrics: metrics, Total: total, Above: []PathRow{}, Rows: []PathRow{}}
	n := root
	for i, word := range strings.FieldsFunc(at, func(r rune) bool { return r == '.' }) {
		index, err := strconv.Atoi(word)
		if err != nil || index < 0 || index >= len(n.order) {
			return nil, missing("there is no call path %q in this view", at)
		}
		n = n.order[index]
		out.Above = append(out.Above, n.row(strings.Join(strings.Split(at, ".")[:i+1], "."), -1))
	}
	out.fill(n, at, -1, n.least(total))
	return out, nil
}

func (n *pathNode) row(at string, parent int) PathRow {
	return PathRow{Name: n.name, At: at, Parent: parent, Loop: n.loop, All: n.all, Own: n.own}
}

// weight is a row's greatest share of any metric.
func (n *pathNode) weight(total []float64) float64 {
	w := 0.0
	for m, v := range n.all {
		w = max(w, ratio(math.Abs(v), total[m]))
	}
	return w
}

// least returns a predicate that holds for the heaviest rows below n, at most mostPaths; with a row
// its parents hold.
func (n *pathNode) least(total []float64) func(*pathNode) bool {
	in := map[*pathNode]bool{}
	front := slices.Clone(n.order)
	byWeight := func(a, b *pathNode) int { return cmp.Compare(b.weight(total), a.weight(total)) }
	slices.SortStableFunc(front, byWeight)
	for len(front) > 0 && len(in) < mostPaths {
		top := front[0]
		in[top] = true
		front = front[1:]
		for _, k := range top.order {
			i, _ := slices.BinarySearchFunc(front, k, byWeight)
			front = slices.Insert(front, i, k)
		}
	}
	return func(k *pathNode) bool { return in[k] }
}

func (t *PathTable) fill(n *pathNode, at string, parent int, want func(*pathNode) bool) {
	for i, k := range n.order {
		if !want(k) {
			if parent >= 0 {
				t.Rows[parent].Hidden++
			}
			continue
		}
		here := strconv.Itoa(i)
		if at != "" {
			here = at + "." + here
		}
		t.Rows = append(t.Rows, k.row(here, parent))
		t.fill(k, here, len(t.Rows)-1, want)
	}
}
