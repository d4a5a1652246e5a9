package profile

import (
	"fmt"
	"math"
)

// refs collects the first bad reference of a row.
type refs struct{ err error }

// to demands 0 <= id < n, or None where optional.
func (r *refs) to(what string, id int32, n int) {
	if id != None {
		r.must(what, id, n)
	}
}

func (r *refs) must(what string, id int32, n int) {
	if r.err == nil && (id < 0 || int(id) >= n) {
		r.err = fmt.Errorf("%s %d does not exist (there are %d)", what, id, n)
	}
}

func (r *refs) that(ok bool, format string, args ...any) {
	if r.err == nil && !ok {
		r.err = fmt.Errorf(format, args...)
	}
}

func (r *refs) frames(fs []Frame, n extent) {
	for i := range fs {
		r.to("file", int32(fs[i].File), n.files)
		r.that(fs[i].Line >= 0 && fs[i].Column >= 0, "line %d, column %d of a frame is negative", fs[i].Line, fs[i].Column)
	}
}

func (r *refs) stack(s []NodeID, n extent) {
	for _, id := range s {
		r.to("node", int32(id), n.nodes)
	}
}

// checkRows checks rows whose ids start at first.
func checkRows[Row any](table string, first int, rows []Row, check func(*refs, int, *Row)) error {
	for i := range rows {
		var r refs
		if check(&r, first+i, &rows[i]); r.err != nil {
			return fmt.Errorf("%s %d: %w", table, first+i, r.err)
		}
	}
	return nil
}

// Check validates the tables: ids in range, kinds known, no negative lines.
func (t *Tables) Check() error {
	var n extent
	n.advance(t)
	return t.check(extent{}, n)
}

// check validates rows whose ids start at at, which may refer to n rows.
func (t *Tables) check(at, n extent) error {
	for _, err := range []error{
		checkRows("image", at.images, t.Images, func(r *refs, _ int, x *Image) {
			r.that(x.Lo <= x.Hi, "it ends at %#x before it starts at %#x", x.Hi, x.Lo)
		}),
		checkRows("file", at.files, t.Files, func(r *refs, _ int, x *File) {
			for _, l := range sortedKeys(x.Lines) {
				r.that(l >= 0, "line %d is negative", l)
			}
		}),
		checkRows("function", at.functions, t.Functions, func(r *refs, _ int, x *Function) {
			r.to("image", int32(x.Image), n.images)
			r.to("file", int32(x.File), n.files)
			r.that(x.Line >= 0, "line %d is negative", x.Line)
		}),
		checkRows("node", at.nodes, t.Nodes, func(r *refs, _ int, x *Node) {
			r.to("image", int32(x.Image), n.images)
			r.to("function", int32(x.Function), n.functions)
			r.that(x.Kind <= NodePseudo, "kind %d is unknown", x.Kind)
			r.frames(x.Frames, n)
			r.frames(x.First, n)
		}),
		checkRows("edge", at.edges, t.Edges, func(r *refs, _ int, x *Edge) {
			r.to("node", int32(x.From), n.nodes)
			r.to("node", int32(x.To), n.nodes)
			r.that(x.From != None || x.To != None, "it has no node")
			r.that(x.Kind <= EdgeOdd, "kind %d is unknown", x.Kind)
		}),
		checkRows("event_kind", at.kinds, t.Kinds, func(r *refs, _ int, x *EventKind) {
			r.that(x.Name != "", "it has no name")
			r.that(x.Label <= Unavailable, "label %d is unknown", x.Label)
		}),
		t.checkMore(at, n),
		t.checkWaste(at, n),
		t.checkAccount(at, n),
		t.checkTraces(at, n),
		t.checkLocks(at, n),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *Tables) checkMore(at, n extent) error {
	for _, err := range []error{
		checkRows("event", at.events, t.Events, func(r *refs, _ int, x *Event) {
			r.must("kind", x.Kind, n.kinds)
			r.to("node", int32(x.Node), n.nodes)
			r.frames(x.Frames, n)
		}),
		checkRows("section", at.sections, t.Sections, func(r *refs, _ int, x *Section) {
			r.to("node", int32(x.EndNode), n.nodes)
			r.frames(x.Frames, n)
			r.frames(x.Starts, n)
		}),
		checkRows("thread", at.threads, t.Threads, func(r *refs, _ int, x *Thread) {
			r.to("thread", int32(x.Parent), n.threads)
			r.to("function", int32(x.Entry), n.functions)
		}),
		checkRows("path", at.paths, t.Paths, func(r *refs, id int, x *PathNode) {
			r.to("path", int32(x.Parent), id) // a parent comes before its children: no cycles
			r.to("node", int32(x.Node), n.nodes)
		}),
		checkRows("path_sample", at.samples, t.PathSamples, func(r *refs, _ int, x *PathSample) {
			r.to("path", int32(x.Path), n.paths)
			r.to("thread", int32(x.Thread), n.threads)
			r.to("section", int32(x.Section), n.sections)
			r.that(!math.IsNaN(x.Value) && !math.IsInf(x.Value, 0) && (x.Value >= 0 || x.Metric == MetricIdleness), "value %v", x.Value)
		}),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// Check validates an instance against the tables: ids in range, counts sorted,
// times in order, no thread twice.
func (in *Instance) Check(t *Tables) error {
	var n extent
	n.advance(t)
	return in.check(n)
}

func (in *Instance) check(n extent) error {
	if err := in.checkParts(n); err != nil {
		return err
	}
	limits := [4]int{n.edges, n.events, n.events, n.nodes}
	for i, m := range in.matrices() {
		if err := checkMatrix(*m, limits[i], len(in.Parts)); err != nil {
			return fmt.Errorf("%s: %w", matrixNames[i], err)
		}
	}
	return nil
}

// checkParts checks all but the counts.
func (in *Instance) checkParts(n extent) error {
	var r refs
	r.must("section", int32(in.Section), n.sections)
	r.that(len(in.Parts) > 0, "it has no parts")
	twice := in.twice()
	for i := range in.Parts {
		if r.err != nil {
			return r.err
		}
		p := &in.Parts[i]
		r.must("thread", int32(p.Thread), n.threads)
		if i == twice {
			r.that(false, "thread %d takes part twice", p.Thread)
		}
		in.checkPart(&r, p, n)
		if r.err != nil {
			return fmt.Errorf("part %d: %w", i, r.err)
		}
	}
	return r.err
}

// twice finds the first part of a thread that has one before; none: -1. Mostly the parts stand in
// the order of the threads.
func (in *Instance) twice() int {
	ordered := true
	for i := 1; i < len(in.Parts); i++ {
		ordered = ordered && in.Parts[i-1].Thread < in.Parts[i].Thread
	}
	if ordered {
		return -1
	}
	seen := make(map[ThreadID]bool, len(in.Parts))
	for i := range in.Parts {
		if seen[in.Parts[i].Thread] {
			return i
		}
		seen[in.Parts[i].Thread] = true
	}
	return -1
}

var matrixNames = [4]string{"edges", "events", "costs", "times"}

func (in *Instance) checkPart(r *refs, p *Part, n extent) {
	if p.Start > p.Arrive || p.Arrive > p.Release { // so that arguments are boxed for an error only
		r.that(false, "times are out of order: start %d, arrive %d, release %d", p.Start, p.Arrive, p.Release)
	}
	if p.Meets > MeetWaits || p.Early > p.Arrive || in.Meeting == nil && (p.Meets != MeetAll || p.Early > 0) {
		r.that(false, "role %d in a meeting, %d early, cannot be", p.Meets, p.Early)
	}
	if p.Host.CPU > 1<<63 || p.Host.Wall > 1<<63 || in.Chance > 1<<63 {
		r.that(false, "%d ns of processor time, %d ns on the wall, a chance of %d cannot be", p.Host.CPU, p.Host.Wall, in.Chance)
	}
	r.to("node", int32(p.Entry), n.nodes)
	r.to("node", int32(p.Exit), n.nodes)
	r.stack(p.EntryStack, n)
	r.stack(p.ExitStack, n)
}

// checkMatrix runs over every count of every instance, hence without closures and boxed arguments.
func checkMatrix(m []Count, rows, parts int) error {
	for i := range m {
		c := &m[i]
		switch {
		case c.Row < 0 || int(c.Row) >= rows:
			return fmt.Errorf("row %d does not exist (there are %d)", c.Row, rows)
		case c.Part < 0 || int(c.Part) >= parts:
			return fmt.Errorf("part %d does not exist (there are %d)", c.Part, parts)
		case i > 0 && (m[i-1].Row > c.Row || m[i-1].Row == c.Row && m[i-1].Part >= c.Part):
			return fmt.Errorf("cell %d (row %d, part %d) is out of order or there twice", i, c.Row, c.Part)
		}
	}
	return nil
}

// Validate checks a whole profile: its tables and every instance.
func Validate(s Source) error {
	t := s.Tables()
	if err := t.Check(); err != nil {
		return err
	}
	for id := range t.Sections {
		n := 0
		for in, err := range s.Instances(SectionID(id)) {
			if err != nil {
				return err
			}
			if in.Section != SectionID(id) || in.Seq != n {
				return fmt.Errorf("section %d: instance %d says it is instance %d of section %d", id, n, in.Seq, in.Section)
			}
			if err := in.Check(t); err != nil {
				return fmt.Errorf("section %d, instance %d: %w", id, n, err)
			}
			n++
		}
		if n != s.InstanceCount(SectionID(id)) {
			return fmt.Errorf("section %d has %d instances and says %d", id, n, s.InstanceCount(SectionID(id)))
		}
	}
	return nil
}
