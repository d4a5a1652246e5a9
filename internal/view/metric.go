package view

import (
	"slices"
	"strconv"
	"strings"

	"lime/internal/profile"
)

// metricKind says where a metric comes from.
type metricKind int

// The kinds. Those up to metricOff are in the index, the others in an instance's counts.
const (
	metricTime metricKind = iota
	metricWait
	metricLock
	metricOff
	metricEvent // how often a kind of event was
	metricCost  // clock units lost to one
	metricLine  // how often a line ran
)

// metric is a figure of a thread in an instance.
type metric struct {
	kind metricKind
	rows []bool // by event or edge: counts in it
}

func (m *metric) counted() bool { return m.kind >= metricEvent }

// newMetric reads a metric's name.
func newMetric(t *profile.Tables, name string) (*metric, error) {
	plain := map[string]metricKind{"time": metricTime, "wait": metricWait, "lock": metricLock, "off": metricOff}
	if k, ok := plain[name]; ok {
		return &metric{kind: k}, nil
	}
	what, rest, _ := strings.Cut(name, ":")
	switch what {
	case "kind", "cost":
		return eventMetric(t, what, rest)
	case "line":
		return lineMetric(t, rest)
	}
	return nil, bad("m must be time, wait, lock, off, kind:NAME, cost:NAME or line:FILE:LINE")
}

func eventMetric(t *profile.Tables, what, name string) (*metric, error) {
	kind := slices.IndexFunc(t.Kinds, func(k profile.EventKind) bool { return k.Name == name })
	if kind < 0 {
		return nil, missing("the profile has no events of that kind")
	}
	m := &metric{kind: map[string]metricKind{"kind": metricEvent, "cost": metricCost}[what], rows: make([]bool, len(t.Events))}
	for i := range t.Events {
		m.rows[i] = int(t.Events[i].Kind) == kind
	}
	return m, nil
}

func lineMetric(t *profile.Tables, text string) (*metric, error) {
	first, second, _ := strings.Cut(text, ":")
	file, err1 := strconv.Atoi(first)
	line, err2 := strconv.Atoi(second)
	if err1 != nil || err2 != nil || file < 0 || file >= len(t.Files) || line < 1 {
		return nil, bad("line:FILE:LINE wants the number of a file, up to %d, and a line", len(t.Files)-1)
	}
	m := &metric{kind: metricLine, rows: make([]bool, len(t.Edges))}
	for i := range t.Edges {
		m.rows[i] = visits(&t.Edges[i]) && onLine(t, leaves(&t.Edges[i]), profile.FileID(file), int32(line))
	}
	return m, nil
}

// visits tells whether an edge counts the visits of a block; a call's return does not.
func visits(e *profile.Edge) bool { return e.Kind != profile.EdgeReturn }

// leaves is the block whose visits an edge counts.
func leaves(e *profile.Edge) profile.NodeID {
	if e.Kind == profile.EdgeVisit {
		return e.To
	}
	return e.From
}

// onLine tells whether a block ends on a line: the first of its frames that has a line says which
// it is.
func onLine(t *profile.Tables, v profile.NodeID, file profile.FileID, line int32) bool {
	if v < 0 {
		return false
	}
	for _, f := range t.Nodes[v].Frames {
		if f.File >= 0 && f.Line > 0 {
			return f.File == file && f.Line == line
		}
	}
	return false
}

// values returns the metric by part.
func (m *metric) values(in *profile.Instance) []float64 {
	out := make([]float64, len(in.Parts))
	matrix := in.Edges
	switch m.kind {
	case metricEvent:
		matrix = in.Events
	case metricCost:
		matrix = in.Costs
	}
	for _, c := range matrix {
		if m.rows[c.Row] {
			out[c.Part] += float64(c.N)
		}
	}
	return out
}
