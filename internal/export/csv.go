package export

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"lime/internal/profile"
	"lime/internal/unit"
)

// CSV writes the raw matrix of events: a row for every event of every
// instance, a column for every thread. Each instance begins with rows of the
// threads' times (time, wait, lock-wait, off-cpu); threads that took no part
// have empty cells.
func CSV(w io.Writer, src profile.Source) error {
	src = newVisible(src)
	m := matrix{w: csv.NewWriter(w), t: src.Tables()}
	if err := m.w.Write(m.header()); err != nil {
		return err
	}
	for s := range m.t.Sections {
		for in, err := range src.Instances(profile.SectionID(s)) {
			if err != nil {
				return err
			}
			if err := m.instance(in); err != nil {
				return err
			}
		}
	}
	m.w.Flush()
	return m.w.Error()
}

// fixedColumns stand before the threads' columns.
func fixedColumns() []string {
	return []string{"section", "ends_at", "instance", "family", "event", "id", "file", "line", "function", "address", "to"}
}

// matrix writes the rows of one profile.
type matrix struct {
	w *csv.Writer
	t *profile.Tables
}

func (m *matrix) header() []string {
	row := fixedColumns()
	for i := range m.t.Threads {
		row = append(row, fmt.Sprintf("thread_%d", i))
	}
	return row
}

// csvRow is what a row says before its counts.
type csvRow struct {
	family, event, id string
	at                profile.Frame
	function          profile.FunctionID
	address, to       string
}

func (m *matrix) instance(in *profile.Instance) error {
	for _, row := range []struct {
		name  string
		value func(*profile.Part) uint64
	}{
		{"time", (*profile.Part).Time},
		{"wait", func(p *profile.Part) uint64 { return last(in) - p.Arrive }},
		{"lock-wait", func(p *profile.Part) uint64 { return p.LockWait }},
		{"off-cpu", func(p *profile.Part) uint64 { return p.OffCPU }},
	} {
		cells := m.cells()
		for i := range in.Parts {
			cells[in.Parts[i].Thread] = strconv.FormatUint(row.value(&in.Parts[i]), 10)
		}
		if err := m.write(in, csvRow{family: "time", event: row.name, function: profile.None,
			at: profile.Frame{File: profile.None}}, cells); err != nil {
			return err
		}
	}
	return m.counts(in)
}

// last returns the last arrival.
func last(in *profile.Instance) uint64 {
	var t uint64
	for i := range in.Parts {
		t = max(t, in.Parts[i].Arrive)
	}
	return t
}

func (m *matrix) counts(in *profile.Instance) error {
	for _, table := range []struct {
		counts []profile.Count
		row    func(int32) csvRow
	}{
		{in.Edges, m.edge}, {in.Events, m.event("count")}, {in.Costs, m.event("cost")}, {in.Times, m.node},
	} {
		if err := m.rows(in, table.counts, table.row); err != nil {
			return err
		}
	}
	return nil
}

// rows writes a row for each run of counts of equal Row.
func (m *matrix) rows(in *profile.Instance, counts []profile.Count, row func(int32) csvRow) error {
	for len(counts) > 0 {
		cells := m.cells()
		for i := range in.Parts {
			cells[in.Parts[i].Thread] = "0"
		}
		id := counts[0].Row
		for len(counts) > 0 && counts[0].Row == id {
			cells[in.Parts[counts[0].Part].Thread] = strconv.FormatUint(counts[0].N, 10)
			counts = counts[1:]
		}
		if err := m.write(in, row(id), cells); err != nil {
			return err
		}
	}
	return nil
}

// cells returns an empty cell for every thread.
func (m *matrix) cells() []string { return make([]string, len(m.t.Threads)) }

func (m *matrix) edge(id int32) csvRow {
	e := &m.t.Edges[id]
	out := csvRow{family: "control-flow", event: e.Kind.String(), id: strconv.Itoa(int(id)), function: profile.None,
		at: profile.Frame{File: profile.None}}
	from := e.From
	if from < 0 {
		from = e.To
	}
	if from >= 0 {
		m.place(&out, &m.t.Nodes[from])
	}
	if e.To >= 0 {
		out.to = unit.Addr(m.t.Nodes[e.To].Addr).String()
	}
	return out
}

func (m *matrix) place(out *csvRow, n *profile.Node) {
	out.address, out.function = unit.Addr(n.LastAddr).String(), n.Function
	if n.LastAddr == 0 {
		out.address = unit.Addr(n.Addr).String()
	}
	if len(n.Frames) > 0 {
		out.at = n.Frames[0]
	}
}

func (m *matrix) event(what string) func(int32) csvRow {
	return func(id int32) csvRow {
		e := &m.t.Events[id]
		out := csvRow{family: "hardware", event: m.t.Kinds[e.Kind].Name, id: strconv.Itoa(int(id)),
			function: profile.None, at: profile.Frame{File: profile.None}}
		if what == "cost" {
			out.event += "-cost"
		}
		if e.Node >= 0 {
			m.place(&out, &m.t.Nodes[e.Node])
		}
		out.address = unit.Addr(e.Addr).String()
		if len(e.Frames) > 0 {
			out.at = e.Frames[0]
		}
		return out
	}
}

func (m *matrix) node(id int32) csvRow {
	out := csvRow{family: "time", event: "block-time", id: strconv.Itoa(int(id)), function: profile.None,
		at: profile.Frame{File: profile.None}}
	m.place(&out, &m.t.Nodes[id])
	return out
}

func (m *matrix) write(in *profile.Instance, r csvRow, cells []string) error {
	file, line, function := "", "", r.at.Name()
	if r.at.File >= 0 {
		file, line = m.t.Files[r.at.File].Path, strconv.Itoa(int(r.at.Line))
	}
	if function == "" && r.function >= 0 {
		function = m.t.Functions[r.function].Name
	}
	row := []string{strconv.Itoa(int(in.Section)), sectionPlace(m.t, in.Section), strconv.Itoa(in.Seq),
		r.family, r.event, r.id, file, line, function, r.address, r.to}
	return m.w.Write(append(row, cells...))
}
