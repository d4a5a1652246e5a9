package report

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strconv"

	pprof "github.com/google/pprof/profile"

	"lime/internal/profile"
)

// WritePprof writes the time of every block, by section and thread, in the
// format of pprof; sections and threads are labels (pprof -tagfocus, -tagroot).
// The samples have no call stacks but the inlined frames.
func WritePprof(w io.Writer, src profile.Source) error {
	b := pprofBuilder{t: src.Tables(), stored: src.Meta().NodeTime == "stored", sums: map[blockKey]*[2]int64{},
		functions: map[[2]string]*pprof.Function{}, locations: map[int32]*pprof.Location{}}
	unit := cmp.Or(src.Meta().ClockUnit, "count")
	if unit == "ns" {
		unit = "nanoseconds"
	}
	b.out = &pprof.Profile{
		SampleType:        []*pprof.ValueType{{Type: "runs", Unit: "count"}, {Type: "time", Unit: unit}},
		DefaultSampleType: "time", PeriodType: &pprof.ValueType{Type: "time", Unit: unit}, Period: 1,
	}
	for s := range b.t.Sections {
		for in, err := range src.Instances(profile.SectionID(s)) {
			if err != nil {
				return err
			}
			b.instance(in)
		}
	}
	b.mappings()
	b.samples()
	return b.out.Write(w)
}

// blockKey is a block in a section, run by a thread.
type blockKey struct {
	node    int32
	section profile.SectionID
	thread  profile.ThreadID
}

type pprofBuilder struct {
	t         *profile.Tables
	stored    bool
	sums      map[blockKey]*[2]int64 // runs, time
	out       *pprof.Profile
	functions map[[2]string]*pprof.Function
	locations map[int32]*pprof.Location
}

func (b *pprofBuilder) instance(in *profile.Instance) {
	for _, c := range in.Edges {
		e := &b.t.Edges[c.Row]
		node := e.From
		if e.Kind == profile.EdgeVisit {
			node = e.To
		}
		if node < 0 || e.Kind == profile.EdgeReturn {
			continue
		}
		sum := b.sum(in, int32(node), c.Part)
		sum[0] += int64(c.N)
		if !b.stored {
			sum[1] += int64(c.N) * int64(b.t.Nodes[node].Instrs)
		}
	}
	for _, c := range in.Times {
		b.sum(in, c.Row, c.Part)[1] += int64(c.N)
	}
}

func (b *pprofBuilder) sum(in *profile.Instance, node, part int32) *[2]int64 {
	key := blockKey{node, in.Section, in.Parts[part].Thread}
	if b.sums[key] == nil {
		b.sums[key] = new([2]int64)
	}
	return b.sums[key]
}

func (b *pprofBuilder) mappings() {
	for i := range b.t.Images {
		m := &b.t.Images[i]
		b.out.Mapping = append(b.out.Mapping, &pprof.Mapping{ID: uint64(i) + 1, Start: m.Lo, Limit: m.Hi, File: m.Path, BuildID: m.BuildID,
			HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true})
	}
}

func (b *pprofBuilder) samples() {
	keys := slices.SortedFunc(maps.Keys(b.sums), func(x, y blockKey) int {
		return cmp.Or(cmp.Compare(x.node, y.node), cmp.Compare(x.section, y.section), cmp.Compare(x.thread, y.thread))
	})
	m := matrix{t: b.t}
	for _, k := range keys {
		b.out.Sample = append(b.out.Sample, &pprof.Sample{
			Location: []*pprof.Location{b.location(k.node)},
			Value:    []int64{b.sums[k][0], b.sums[k][1]},
			Label:    map[string][]string{"section": {m.sectionName(k.section)}, "thread": {strconv.Itoa(int(k.thread))}},
		})
	}
}

// location is a block, with the frames of its first instruction.
func (b *pprofBuilder) location(node int32) *pprof.Location {
	if l := b.locations[node]; l != nil {
		return l
	}
	n := &b.t.Nodes[node]
	l := &pprof.Location{ID: uint64(len(b.out.Location)) + 1, Address: n.Addr}
	if n.Image >= 0 {
		l.Mapping = b.out.Mapping[n.Image]
	}
	frames := n.First
	if len(frames) == 0 {
		frames = n.Frames
	}
	for _, f := range frames {
		l.Line = append(l.Line, pprof.Line{Function: b.function(b.frame(n, f)), Line: int64(f.Line)})
	}
	if len(frames) == 0 && n.Function >= 0 {
		l.Line = []pprof.Line{{Function: b.function(b.t.Functions[n.Function].Name, "")}}
	}
	b.locations[node] = l
	b.out.Location = append(b.out.Location, l)
	return l
}

// frame names a frame's function and file.
func (b *pprofBuilder) frame(n *profile.Node, f profile.Frame) (name, file string) {
	if f.File >= 0 {
		file = b.t.Files[f.File].Path
	}
	if name = f.Function; name == "" && n.Function >= 0 {
		name = b.t.Functions[n.Function].Name
	}
	return name, file
}

func (b *pprofBuilder) function(name, file string) *pprof.Function {
	key := [2]string{name, file}
	if f := b.functions[key]; f != nil {
		return f
	}
	f := &pprof.Function{ID: uint64(len(b.out.Function)) + 1, Name: name, SystemName: name, Filename: file}
	b.functions[key] = f
	b.out.Function = append(b.out.Function, f)
	return f
}
