package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"lime/internal/analysis"
	"lime/internal/profile"
)

// View is a way to look at call paths.
type View string

// The views.
const (
	ViewTree     View = "tree"      // from the outermost calls inwards
	ViewBottomUp View = "bottom-up" // from the functions that run outwards to their callers
	ViewFlat     View = "flat"      // by function
)

// viewColumns are the columns of the views; all but the first two are metrics of their own.
var viewColumns = [...]struct{ title, metric string }{
	{"inclusive", metricTime}, {"exclusive", ""}, {"idleness", "idleness"}, {"overhead", metricOverhead},
	{"lock wait", "lock-wait"}, {"lock blame", "lock-blame"},
}

// The metrics that are not simply those of the profile.
const (
	metricTime     = "time"
	metricOverhead = "overhead" // the part of the time that a runtime's own code took
)

// The columns of the time.
const (
	columnTime      = 0
	columnExclusive = 1
	columnOverhead  = 3
)

// Least share of the whole that a row must have, and depth.
const (
	viewShare = 0.005
	viewDepth = 24
)

// viewNode is a function in a context.
type viewNode struct {
	name   string
	values [len(viewColumns)]float64
	kids   map[string]*viewNode
}

func (n *viewNode) kid(name string) *viewNode {
	if n.kids == nil {
		n.kids = map[string]*viewNode{}
	}
	k := n.kids[name]
	if k == nil {
		k = &viewNode{name: name}
		n.kids[name] = k
	}
	return k
}

// WriteView prints the call paths of a recorded profile. An idleness of a function is the time that
// other threads had nothing to do while it ran, divided among those that worked; overhead is time
// in the own code of a runtime; lock blame is the time for which others waited for locks that it
// held.
func WriteView(w io.Writer, src profile.Source, view View) error {
	root := &viewNode{}
	if !root.fill(src.Tables(), view) {
		return profile.ErrNoPaths
	}
	b := bufio.NewWriter(w)
	for _, c := range viewColumns {
		fmt.Fprintf(b, "%10s ", c.title)
	}
	fmt.Fprintln(b, " function")
	total := root.values
	total[columnExclusive] = total[columnTime]
	total[columnOverhead] = total[columnTime]
	root.print(b, total, view, 0)
	return b.Flush()
}

func (n *viewNode) fill(t *profile.Tables, view View) bool {
	any := false
	paths := analysis.NewPaths(t)
	for i := range t.PathSamples {
		s := &t.PathSamples[i]
		if s.Path < 0 {
			continue
		}
		for column, c := range viewColumns {
			if c.metric == s.Metric || c.metric == metricOverhead && s.Metric == metricTime && paths.Overhead(s.Path) {
				any = true
				n.values[column] += s.Value
				n.add(names(paths.Levels(s.Path), view), column, s.Value, view)
			}
		}
	}
	return any
}

// add puts a path, innermost function first, into the tree.
func (n *viewNode) add(names []string, column int, value float64, view View) {
	if view == ViewFlat {
		seen := map[string]bool{}
		for i, name := range names {
			n.kid(name).take(column, value, !seen[name], i == 0)
			seen[name] = true
		}
		return
	}
	leaf := 0
	if view == ViewTree {
		slices.Reverse(names)
		leaf = len(names) - 1
	}
	for i, name := range names {
		n = n.kid(name)
		n.take(column, value, true, i == leaf)
	}
}

// take adds a value to a row: to what it holds, and to what it spends itself.
func (n *viewNode) take(column int, value float64, inclusive, exclusive bool) {
	if inclusive {
		n.values[column] += value
	}
	if exclusive && column == columnTime {
		n.values[columnExclusive] += value
	}
}

// names are those of a path's levels, innermost first. Loops are levels of the call tree only.
func names(levels []analysis.Level, view View) []string {
	var out []string
	for _, l := range levels {
		if !l.Loop || view == ViewTree {
			out = append(out, l.Name)
		}
	}
	return out
}

func (n *viewNode) print(w io.Writer, total [len(viewColumns)]float64, view View, depth int) {
	rows := slices.SortedFunc(maps.Values(n.kids), func(a, b *viewNode) int {
		first, second := columnTime, columnExclusive
		if view == ViewFlat {
			first, second = second, first
		}
		return cmp.Or(cmp.Compare(b.values[first], a.values[first]), cmp.Compare(b.values[second], a.values[second]), cmp.Compare(a.name, b.name))
	})
	for _, k := range rows {
		if !k.matters(total) || depth >= viewDepth {
			continue
		}
		for column, v := range k.values {
			fmt.Fprintf(w, "%10s ", share(v, total[column]))
		}
		fmt.Fprintf(w, " %s%s\n", strings.Repeat("  ", depth), clean(k.name))
		k.print(w, total, view, depth+1)
	}
}

func (n *viewNode) matters(total [len(viewColumns)]float64) bool {
	for column, v := range n.values {
		if v > 0 && v >= viewShare*total[column] {
			return true
		}
	}
	return false
}

func share(v, total float64) string {
	if v == 0 || total == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*v/total)
}
