package report

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"lime/internal/profile"
	"lime/internal/unit"
)

// View is a way to look at call paths.
type View string

// The views.
const (
	ViewTree     View = "tree"      // from the outermost calls inwards
	ViewBottomUp View = "bottom-up" // from the functions that run outwards to their callers
	ViewFlat     View = "flat"      // by function
)

// ErrNoPaths is returned for profiles without call paths.
var ErrNoPaths = errors.New("the profile holds no call paths: record them with 'lime record'")

// metrics are the columns of the views.
var viewMetrics = [...]string{"time", "idleness", "lock-wait", "lock-blame"}

// Least share of the whole that a row must have, and depth.
const (
	viewShare = 0.005
	viewDepth = 24
)

// viewNode is a function in a context.
type viewNode struct {
	name      string
	inclusive [len(viewMetrics)]float64
	exclusive float64
	kids      map[string]*viewNode
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

// WriteView prints the call paths of a recorded profile. An idleness of a function is the time that other threads waited while
// it ran, divided among those that worked; lock blame is the time for which others waited for locks that it held.
func WriteView(w io.Writer, src profile.Source, view View) error {
	root := &viewNode{}
	if !root.fill(src.Tables(), view) {
		return ErrNoPaths
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%10s %10s %10s %10s %10s  function\n", "inclusive", "exclusive", "idleness", "lock wait", "lock blame")
	root.print(b, root.inclusive, view, 0)
	return b.Flush()
}

func (n *viewNode) fill(t *profile.Tables, view View) bool {
	any := false
	for i := range t.PathSamples {
		s := &t.PathSamples[i]
		m := slices.Index(viewMetrics[:], s.Metric)
		if m < 0 || s.Path < 0 {
			continue
		}
		any = true
		n.inclusive[m] += s.Value
		n.add(pathNames(t, s.Path), m, s.Value, view)
	}
	return any
}

// add puts a path, innermost function first, into the tree.
func (n *viewNode) add(names []string, m int, value float64, view View) {
	switch view {
	case ViewFlat:
		seen := map[string]bool{}
		for i, name := range names {
			k := n.kid(name)
			if !seen[name] {
				seen[name] = true
				k.inclusive[m] += value
			}
			if i == 0 && m == 0 {
				k.exclusive += value
			}
		}
		return
	case ViewTree:
		slices.Reverse(names)
	}
	for i, name := range names {
		n = n.kid(name)
		n.inclusive[m] += value
		if m == 0 && (view == ViewTree && i == len(names)-1 || view == ViewBottomUp && i == 0) {
			n.exclusive += value
		}
	}
}

// pathNames lists the functions of a path, innermost first, inlined ones too.
func pathNames(t *profile.Tables, id profile.PathID) []string {
	var out []string
	for ; id >= 0; id = t.Paths[id].Parent {
		v := t.Paths[id].Node
		switch {
		case v < 0:
			out = append(out, "[unknown]")
		case len(t.Nodes[v].Frames) > 0:
			for _, f := range t.Nodes[v].Frames {
				out = append(out, cmp.Or(f.Function, "[unknown]"))
			}
		case t.Nodes[v].Function >= 0:
			out = append(out, cmp.Or(t.Functions[t.Nodes[v].Function].Name, "[unknown]"))
		default:
			out = append(out, unit.Addr(t.Nodes[v].Addr).String())
		}
	}
	return out
}

func (n *viewNode) print(w io.Writer, total [len(viewMetrics)]float64, view View, depth int) {
	rows := slices.SortedFunc(maps.Values(n.kids), func(a, b *viewNode) int {
		if view == ViewFlat {
			return cmp.Or(cmp.Compare(b.exclusive, a.exclusive), cmp.Compare(b.inclusive[0], a.inclusive[0]), cmp.Compare(a.name, b.name))
		}
		return cmp.Or(cmp.Compare(b.inclusive[0], a.inclusive[0]), cmp.Compare(a.name, b.name))
	})
	for _, k := range rows {
		if !k.matters(total) || depth >= viewDepth {
			continue
		}
		cells := []string{share(k.inclusive[0], total[0]), share(k.exclusive, total[0])}
		for m := 1; m < len(viewMetrics); m++ {
			cells = append(cells, share(k.inclusive[m], total[m]))
		}
		fmt.Fprintf(w, "%10s %10s %10s %10s %10s  %s%s\n", cells[0], cells[1], cells[2], cells[3], cells[4], strings.Repeat("  ", depth), k.name)
		k.print(w, total, view, depth+1)
	}
}

func (n *viewNode) matters(total [len(viewMetrics)]float64) bool {
	for m, v := range n.inclusive {
		if v > 0 && v >= viewShare*total[m] {
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
