package view

import (
	"cmp"
	"slices"

	"lime/internal/profile"
)

// Calls is what counts tell of functions: their own time and who calls them, but not by which path.
type Calls struct {
	Functions []FunctionRow `json:"functions"` // by time
	More      int           `json:"more,omitempty"`
	Read      int           `json:"read"`
	Of        int           `json:"of"`
}

// FunctionRow is a function.
type FunctionRow struct {
	Name    string    `json:"name"`
	File    int       `json:"file"` // -1 if unknown
	Line    int       `json:"line"`
	Time    float64   `json:"time"`
	Share   float64   `json:"share"`
	Calls   float64   `json:"calls"` // of it
	Callers []CallRow `json:"callers"`
	Callees []CallRow `json:"callees"`
}

// CallRow is how often one function called another.
type CallRow struct {
	Name  string  `json:"name"`
	Count float64 `json:"count"`
}

// Most functions of an answer, and callers of one.
const (
	mostFunctions = 150
	mostCallers   = 6
)

// callSums are sums over instances.
type callSums struct {
	tab   *profile.Tables
	times bool // are stored
	time  []float64
	calls map[[2]profile.FunctionID]float64
	total float64
}

// calls sums up the functions of a section, or of all.
func (r *Run) calls(section int) (*Calls, error) {
	t := r.tables()
	c := &callSums{tab: t, times: r.src.Meta().NodeTime == "stored", time: make([]float64, len(t.Functions)),
		calls: map[[2]profile.FunctionID]float64{}}
	p := &picked{Source: r.src, section: section}
	for s := range t.Sections {
		for in, err := range p.Instances(profile.SectionID(s)) {
			if err != nil {
				return nil, err
			}
			c.add(in)
		}
	}
	out := c.rows()
	out.Read, out.Of = p.read, p.of
	return out, nil
}

func (c *callSums) add(in *profile.Instance) {
	for _, x := range in.Edges {
		e := &c.tab.Edges[x.Row]
		if from := leaves(e); from >= 0 && visits(e) && !c.times {
			c.spend(from, float64(x.N)*float64(c.tab.Nodes[from].Instrs))
		}
		if (e.Kind == profile.EdgeCall || e.Kind == profile.EdgeCallInd) && e.From >= 0 && e.To >= 0 {
			pair := [2]profile.FunctionID{c.tab.Nodes[e.From].Function, c.tab.Nodes[e.To].Function}
			if pair[0] >= 0 && pair[1] >= 0 {
				c.calls[pair] += float64(x.N)
			}
		}
	}
	for _, x := range in.Times {
		c.spend(profile.NodeID(x.Row), float64(x.N))
	}
}

func (c *callSums) spend(v profile.NodeID, time float64) {
	c.total += time
	if f := c.tab.Nodes[v].Function; f >= 0 {
		c.time[f] += time
	}
}

func (c *callSums) rows() *Calls {
	rows := make([]FunctionRow, len(c.time))
	for f := range rows {
		fn := &c.tab.Functions[f]
		rows[f] = FunctionRow{Name: cmp.Or(fn.Name, nodeAddress(fn)), File: int(fn.File), Line: int(fn.Line),
			Time: c.time[f], Share: ratio(c.time[f], c.total),
			Callers: []CallRow{}, Callees: []CallRow{}}
	}
	for pair, n := range c.calls {
		from, to := &rows[pair[0]], &rows[pair[1]]
		to.Calls += n
		to.Callers = append(to.Callers, CallRow{from.Name, n})
		from.Callees = append(from.Callees, CallRow{to.Name, n})
	}
	rows = slices.DeleteFunc(rows, func(f FunctionRow) bool { return f.Time == 0 && f.Calls == 0 && len(f.Callees) == 0 })
	slices.SortStableFunc(rows, func(a, b FunctionRow) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
	})
	out := &Calls{Functions: rows[:min(len(rows), mostFunctions)]}
	out.More = len(rows) - len(out.Functions)
	for i := range out.Functions {
		f := &out.Functions[i]
		f.Callers, f.Callees = mostCalls(f.Callers), mostCalls(f.Callees)
	}
	return out
}

func mostCalls(list []CallRow) []CallRow {
	slices.SortFunc(list, func(a, b CallRow) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name)) })
	return list[:min(len(list), mostCallers)]
}

func nodeAddress(f *profile.Function) string { return placeName(nil, nil, f.Entry) }
