package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"lime/internal/profile"
	"lime/internal/stat"
)

// event is one event of an instance that varies between the threads.
type event struct {
	row   int32 // EdgeID, or EventID if hw
	hw    bool
	group int32 // of equal vectors
}

// matrix is an instance made ready for statistics. Threads stand in the order of their times, so
// that nothing depends on the order in which the profile lists them.
type matrix struct {
	in     *profile.Instance
	order  []int   // parts by time
	column []int32 // part -> position in order
	raw    []float64
	t      []float64 // unit vector of times
	size   float64   // length of the centred times
	events []event
	fold   *stat.Folder // while events are added
	x      stat.Matrix  // unit vector of each group
	weight []int32      // events of each group
	corr   []float64    // of each group with t
	stats  EventStats
	byEdge map[int32]int32 // edge -> group
	row    []uint64        // scratch
	visits map[profile.NodeID][]uint64
	costed map[int32]bool     // hardware events whose cost in time stands for their number
	totals []uint64           // edge -> count in all threads, when asked for
	merged map[int32][]uint64 // counts, in the order of times, of the edges that stand for several of the profile's
}

// newMatrix prepares an instance.
func newMatrix(p *program, in *profile.Instance, workers int) (*matrix, error) {
	m := &matrix{in: in, raw: times(in), byEdge: map[int32]int32{}, visits: map[profile.NodeID][]uint64{},
		merged: map[int32][]uint64{}}
	m.sortThreads()
	m.row = make([]uint64, len(m.raw))
	m.fold = stat.NewFolder(len(m.raw))
	for _, c := range in.Events {
		if c.Row >= 0 && int(c.Row) < len(p.tab.Events) {
			e := &p.tab.Events[c.Row]
			p.holding(p.tab, e.Node, e.Addr, func(v profile.NodeID) { m.visits[v] = nil })
		}
	}
	if err := m.addEdges(p); err != nil {
		return nil, err
	}
	if err := m.addHardware(p); err != nil {
		return nil, err
	}
	m.correlate(workers)
	return m, nil
}

// sortThreads orders the parts by time, then thread, and makes the vector of times.
func (m *matrix) sortThreads() {
	parts := m.in.Parts
	m.order = make([]int, len(parts))
	for i := range m.order {
		m.order[i] = i
	}
	slices.SortFunc(m.order, func(a, b int) int {
		return cmp.Or(cmp.Compare(parts[a].Time(), parts[b].Time()), cmp.Compare(parts[a].Thread, parts[b].Thread), cmp.Compare(a, b))
	})
	m.column = make([]int32, len(parts))
	ts := make([]uint64, len(parts))
	for k, i := range m.order {
		m.column[i] = int32(k)
		ts[k] = parts[i].Time()
		m.raw[k] = float64(ts[k])
	}
	m.t = make([]float64, len(parts))
	stat.Differences(m.t, ts)
	m.size = stat.Unit(m.t)
}

// rows calls f with each row's counts, one for each thread in the order of times. The slice is
// reused.
func (m *matrix) rows(counts []profile.Count, limit int, f func(row int32, n []uint64)) error {
	for lo := 0; lo < len(counts); {
		row := counts[lo].Row
		if row < 0 || int(row) >= limit {
			return fmt.Errorf("instance %d: count of row %d, of a table of %d", m.in.Seq, row, limit)
		}
		clear(m.row)
		hi := lo
		for ; hi < len(counts) && counts[hi].Row == row; hi++ {
			c := counts[hi]
			if c.Part < 0 || int(c.Part) >= len(m.row) {
				return fmt.Errorf("instance %d: count of part %d of %d", m.in.Seq, c.Part, len(m.row))
			}
			m.row[m.column[c.Part]] += c.N
		}
		f(row, m.row)
		lo = hi
	}
	return nil
}

// addEdges adds the control-flow events. The edge that ends a ret block is the sum of those that
// enter it, no choice of anyone's, and no event.
func (m *matrix) addEdges(p *program) error {
	err := m.rows(m.in.Edges, len(p.tab.Edges), func(row int32, n []uint64) {
		e := &p.tab.Edges[row]
		m.countVisit(e, n)
		if e.Kind != profile.EdgeReturn && e.Kind != profile.EdgeVisit {
			p.falls(e.From, func(edge int32) { m.merge(edge, n) })
		}
		to := p.to[row]
		switch {
		case p.merged[to]:
			m.merge(to, n)
		case e.Kind != profile.EdgeEnd:
			m.addEdge(row, n)
		}
	})
	if err != nil {
		return err
	}
	for _, edge := range slices.Sorted(maps.Keys(m.merged)) {
		if p.edges[edge].Kind != profile.EdgeEnd {
			m.addEdge(edge, m.merged[edge])
		}
	}
	return nil
}

// merge adds counts to an edge that stands for several of the profile's.
func (m *matrix) merge(edge int32, n []uint64) {
	if m.merged[edge] == nil {
		m.merged[edge] = make([]uint64, len(n))
	}
	for i, c := range n {
		m.merged[edge][i] += c
	}
}

func (m *matrix) addEdge(edge int32, n []uint64) {
	m.stats.Total++
	g := m.fold.AddCounts(n)
	if g < 0 {
		m.stats.Constant++
		return
	}
	m.events = append(m.events, event{row: edge, group: g})
	m.byEdge[edge] = g
}

// countVisit keeps the visits of the blocks that have hardware events: one for each outgoing edge
// that is not a return.
func (m *matrix) countVisit(e *profile.Edge, n []uint64) {
	v := e.From
	if e.Kind == profile.EdgeVisit {
		v = e.To
	}
	have, wanted := m.visits[v]
	if !wanted || e.Kind == profile.EdgeReturn {
		return
	}
	if have == nil {
		have = make([]uint64, len(n))
		m.visits[v] = have
	}
	for i, c := range n {
		have[i] += c
	}
}

// correlate makes the groups' vectors, and computes the correlation of each with the times.
func (m *matrix) correlate(workers int) {
	m.x, m.weight, m.fold = m.fold.Matrix(workers), m.fold.Weights(), nil
	m.corr = make([]float64, m.x.Len())
	for g := range m.corr {
		m.corr[g] = max(-1, min(1, stat.Dot(m.x.Row(g), m.t)))
	}
	m.stats.Kept = float64(len(m.events))
	m.stats.Distinct = float64(len(m.corr))
}

// addCounts adds an edge's counts, by thread in the order of times, to sum.
func (m *matrix) addCounts(sum []uint64, edge int32) {
	for part, n := range m.edgeCounts(edge) {
		sum[m.column[part]] += n
	}
}

// edgeCorr is the correlation of an edge with the times, 0 if it is constant or was not taken.
func (m *matrix) edgeCorr(edge int32) float64 {
	if g, ok := m.byEdge[edge]; ok {
		return m.corr[g]
	}
	return 0
}

// edgeTotals returns the count in all threads of each of n edges.
func (m *matrix) edgeTotals(n int) []uint64 {
	if m.totals == nil {
		m.totals = make([]uint64, n)
		for _, c := range m.in.Edges {
			m.totals[c.Row] += c.N
		}
		for e, counts := range m.merged {
			m.totals[e] = 0
			for _, c := range counts {
				m.totals[e] += c
			}
		}
	}
	return m.totals
}

// edgeCounts returns an edge's count in each part of the instance.
func (m *matrix) edgeCounts(edge int32) []uint64 {
	if n, ok := m.merged[edge]; ok {
		out := make([]uint64, len(n))
		for k, c := range n {
			out[m.order[k]] = c
		}
		return out
	}
	return partCounts(m.in.Edges, edge, len(m.in.Parts))
}

// partCounts returns a row's count in each part.
func partCounts(counts []profile.Count, row int32, parts int) []uint64 {
	n := make([]uint64, parts)
	at, _ := slices.BinarySearchFunc(counts, row, func(c profile.Count, row int32) int { return cmp.Compare(c.Row, row) })
	for ; at < len(counts) && counts[at].Row == row; at++ {
		n[counts[at].Part] += counts[at].N
	}
	return n
}
