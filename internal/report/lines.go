package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"lime/internal/profile"
)

// Annotation is source with what its lines did, thread by thread, summed over
// all instances.
type Annotation struct {
	Threads []int   // that took part in parallel sections; all if none did
	Time    float64 // of the whole profile, in clock units
	Files   []AnnotatedFile
}

// AnnotatedFile is a file, or the part of it that was asked for.
type AnnotatedFile struct {
	Path  string
	Lines []AnnotatedLine
}

// AnnotatedLine is a line with its time and its events.
type AnnotatedLine struct {
	Line   int
	Text   string
	Known  bool // Text is the source
	Time   float64
	Visits []float64 // by thread: how often a block that ends on the line ran
	Events []LineEvent
}

// LineEvent is one kind of event on a line, with its counts by thread.
type LineEvent struct {
	Kind   string
	Counts []float64
}

// lineKey is a line of a file of the profile.
type lineKey struct {
	file profile.FileID
	line int32
}

// annotator sums a profile up by lines.
type annotator struct {
	tables  *profile.Tables
	stored  bool // the time of nodes is stored
	threads int
	want    func(*profile.Node, profile.Frame) bool
	lines   map[lineKey]*lineSum
	total   float64
	part    []bool // the threads that took part in a parallel section
}

type lineSum struct {
	time   float64
	visits []float64
	events map[string][]float64
}

// Annotate sums up the lines that what names: a file (its path or the end of
// it) or a function. text returns a file's lines if the source is at hand.
func Annotate(src profile.Source, what string, text func(path string) []string) (*Annotation, error) {
	want := wanted(src.Tables(), what)
	if want == nil {
		return nil, fmt.Errorf("the profile has no file and no function %q", what)
	}
	return annotate(src, want, text)
}

// AnnotateAll sums up the lines of all files.
func AnnotateAll(src profile.Source, text func(path string) []string) (*Annotation, error) {
	return annotate(src, func(*profile.Node, profile.Frame) bool { return true }, text)
}

func annotate(src profile.Source, want func(*profile.Node, profile.Frame) bool, text func(path string) []string) (*Annotation, error) {
	t := src.Tables()
	a := &annotator{tables: t, stored: src.Meta().NodeTime == "stored", threads: len(t.Threads), want: want,
		lines: map[lineKey]*lineSum{}, part: make([]bool, len(t.Threads))}
	for s := range t.Sections {
		for in, err := range src.Instances(profile.SectionID(s)) {
			if err != nil {
				return nil, err
			}
			a.instance(in)
		}
	}
	return a.result(text), nil
}

// wanted returns the test that tells whether a position belongs to what; nil
// if nothing has that name.
func wanted(t *profile.Tables, what string) func(*profile.Node, profile.Frame) bool {
	files := map[profile.FileID]bool{}
	for i := range t.Files {
		if profile.SameFile(t.Files[i].Path, what) {
			files[profile.FileID(i)] = true
		}
	}
	if len(files) > 0 {
		return func(_ *profile.Node, f profile.Frame) bool { return files[f.File] }
	}
	named := functionsNamed(t, what)
	if len(named) == 0 {
		return nil
	}
	return func(n *profile.Node, f profile.Frame) bool {
		return named[f.Function] || f.Function == "" && n.Function >= 0 && named[t.Functions[n.Function].Name]
	}
}

// functionsNamed is the function of that name; where there is none, those that somebody may mean
// who does not write types and classes.
func functionsNamed(t *profile.Tables, want string) map[string]bool {
	exact, similar := map[string]bool{}, map[string]bool{}
	look := func(name string) {
		if name == want {
			exact[name] = true
		} else if profile.SameFunction(name, want) {
			similar[name] = true
		}
	}
	for i := range t.Functions {
		look(t.Functions[i].Name)
	}
	for i := range t.Nodes {
		for _, f := range t.Nodes[i].Frames {
			look(f.Function)
		}
	}
	if len(exact) > 0 {
		return exact
	}
	return similar
}

// instance adds what the threads did in an instance.
func (a *annotator) instance(in *profile.Instance) {
	for i := range in.Parts {
		if len(in.Parts) > 1 {
			a.part[in.Parts[i].Thread] = true
		}
	}
	for _, c := range in.Edges {
		a.edge(in, c)
	}
	for _, c := range in.Events {
		e := &a.tables.Events[c.Row]
		if a.tables.Kinds[e.Kind].Auxiliary() {
			continue // for the analysis only
		}
		a.count(in, c, e.Node, e.Frames, a.tables.Kinds[e.Kind].Name)
	}
	for _, c := range in.Times {
		a.time(c.Row, float64(c.N))
	}
}

// edge counts an edge where it leaves from, and as a visit of that block.
func (a *annotator) edge(in *profile.Instance, c profile.Count) {
	e := &a.tables.Edges[c.Row]
	from, visit := e.From, e.Kind != profile.EdgeReturn
	if e.Kind == profile.EdgeVisit {
		from = e.To
	}
	if from < 0 {
		return
	}
	n := &a.tables.Nodes[from]
	if visit && !a.stored {
		a.time(int32(from), float64(c.N)*float64(n.Instrs))
	}
	l := a.line(n, n.Frames)
	if l == nil {
		return
	}
	if visit {
		l.visits[in.Parts[c.Part].Thread] += float64(c.N)
	}
	if name := edgeWord(n.Kind, e.Kind); name != "" {
		a.add(l, name, in, c)
	}
}

// edgeWord names the edges that are a decision, or a call.
func edgeWord(node profile.NodeKind, edge profile.EdgeKind) string {
	switch edge {
	case profile.EdgeTaken:
		return "taken"
	case profile.EdgeFall:
		if node == profile.EndCond {
			return "not taken"
		}
	case profile.EdgeJumpInd:
		return "indirect jump"
	case profile.EdgeCall:
		return "call"
	case profile.EdgeCallInd:
		return "indirect call"
	case profile.EdgeOdd:
		return "odd"
	}
	return ""
}

func (a *annotator) count(in *profile.Instance, c profile.Count, node profile.NodeID, frames []profile.Frame, name string) {
	if node < 0 {
		return
	}
	n := &a.tables.Nodes[node]
	if len(frames) == 0 {
		frames = n.Frames
	}
	if l := a.line(n, frames); l != nil {
		a.add(l, name, in, c)
	}
}

func (a *annotator) add(l *lineSum, name string, in *profile.Instance, c profile.Count) {
	if l.events[name] == nil {
		l.events[name] = make([]float64, a.threads)
	}
	l.events[name][in.Parts[c.Part].Thread] += float64(c.N)
}

// time charges a block's time to the line on which it begins.
func (a *annotator) time(node int32, t float64) {
	a.total += t
	n := &a.tables.Nodes[node]
	frames := n.First
	if len(frames) == 0 {
		frames = n.Frames
	}
	if l := a.line(n, frames); l != nil {
		l.time += t
	}
}

// line returns the sum of the line that frames name; nil if it is not wanted.
func (a *annotator) line(n *profile.Node, frames []profile.Frame) *lineSum {
	for _, f := range frames {
		if f.File < 0 || f.Line <= 0 || !a.want(n, f) {
			continue
		}
		key := lineKey{f.File, f.Line}
		if a.lines[key] == nil {
			a.lines[key] = &lineSum{visits: make([]float64, a.threads), events: map[string][]float64{}}
		}
		return a.lines[key]
	}
	return nil
}

func (a *annotator) result(text func(string) []string) *Annotation {
	out := &Annotation{Time: a.total}
	all := !slices.Contains(a.part, true)
	for t := range a.threads {
		if all || a.part[t] {
			out.Threads = append(out.Threads, t)
		}
	}
	byFile := map[profile.FileID][]int32{}
	for key := range a.lines {
		byFile[key.file] = append(byFile[key.file], key.line)
	}
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		out.Files = append(out.Files, a.file(file, byFile[file], text))
	}
	return out
}

// file puts a file's lines together: those that did something, and from the
// source at hand whatever lies between them and just before.
func (a *annotator) file(id profile.FileID, lines []int32, text func(string) []string) AnnotatedFile {
	f := &a.tables.Files[id]
	source := text(f.Path)
	show := map[int32]bool{}
	for _, n := range lines {
		show[n] = true
	}
	lo, hi := int(slices.Min(lines))-around, int(slices.Max(lines))+around
	for n := range f.Lines {
		if lo <= int(n) && int(n) <= hi {
			show[n] = true
		}
	}
	for n := max(lo, 1); n <= min(hi, len(source)); n++ {
		show[int32(n)] = true
	}
	out := AnnotatedFile{Path: f.Path}
	for _, n := range slices.Sorted(maps.Keys(show)) {
		out.Lines = append(out.Lines, a.annotated(id, n, f, source))
	}
	return out
}

func (a *annotator) annotated(id profile.FileID, n int32, f *profile.File, source []string) AnnotatedLine {
	out := AnnotatedLine{Line: int(n)}
	out.Text, out.Known = f.Lines[n]
	if !out.Known && int(n) <= len(source) {
		out.Text, out.Known = source[n-1], true
	}
	if l := a.lines[lineKey{id, n}]; l != nil {
		out.Time, out.Visits = l.time, l.visits
		for _, kind := range slices.Sorted(maps.Keys(l.events)) {
			out.Events = append(out.Events, LineEvent{kind, l.events[kind]})
		}
		slices.SortStableFunc(out.Events, func(x, y LineEvent) int { return cmp.Compare(sum(y.Counts), sum(x.Counts)) })
	}
	return out
}

func sum(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}
