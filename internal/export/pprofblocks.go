package export

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strconv"

	pprof "github.com/google/pprof/profile"

	"lime/internal/profile"
)

// pprofBlocks writes the time of every block, by section and thread; sections and threads are
// labels (pprof -tagfocus, -tagroot). The samples have no call stacks but the inlined frames.
func pprofBlocks(w io.Writer, src profile.Source) error {
	b := blockBuilder{pprofFile: newPprofFile(src), stored: src.Meta().NodeTime == "stored", sums: map[blockKey]*[2]int64{},
		locations: map[int32]*pprof.Location{}}
	unit := pprofUnit(src.Meta().ClockUnit)
	b.out.SampleType = []*pprof.ValueType{{Type: "runs", Unit: "count"}, {Type: "time", Unit: unit}}
	b.out.DefaultSampleType, b.out.PeriodType, b.out.Period = "time", b.out.SampleType[1], 1
	for s := range b.t.Sections {
		for in, err := range src.Instances(profile.SectionID(s)) {
			if err != nil {
				return err
			}
			b.instance(in)
		}
	}
	b.samples()
	return b.out.Write(w)
}

// blockKey is a block in a section, run by a thread.
type blockKey struct {
	node    int32
	section profile.SectionID
	thread  profile.ThreadID
}

type blockBuilder struct {
	pprofFile
	stored    bool
	sums      map[blockKey]*[2]int64 // runs, time
	locations map[int32]*pprof.Location
}

func (b *blockBuilder) instance(in *profile.Instance) {
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

func (b *blockBuilder) sum(in *profile.Instance, node, part int32) *[2]int64 {
	key := blockKey{node, in.Section, in.Parts[part].Thread}
	if b.sums[key] == nil {
		b.sums[key] = new([2]int64)
	}
	return b.sums[key]
}

func (b *blockBuilder) samples() {
	keys := slices.SortedFunc(maps.Keys(b.sums), func(x, y blockKey) int {
		return cmp.Or(cmp.Compare(x.node, y.node), cmp.Compare(x.section, y.section), cmp.Compare(x.thread, y.thread))
	})
	for _, k := range keys {
		b.out.Sample = append(b.out.Sample, &pprof.Sample{
			Location: []*pprof.Location{b.location(k.node)},
			Value:    []int64{b.sums[k][0], b.sums[k][1]},
			Label:    map[string][]string{"section": {sectionPlace(b.t, k.section)}, "thread": {strconv.Itoa(int(k.thread))}},
		})
	}
}

// location is a block, with the frames of its first instruction.
func (b *blockBuilder) location(node int32) *pprof.Location {
	if l := b.locations[node]; l != nil {
		return l
	}
	n := &b.t.Nodes[node]
	frames := n.First
	if len(frames) == 0 {
		frames = n.Frames
	}
	var lines []pprof.Line
	for _, f := range frames {
		lines = append(lines, pprof.Line{Function: b.function(b.frame(n, f)), Line: int64(f.Line)})
	}
	if len(frames) == 0 && n.Function >= 0 {
		lines = []pprof.Line{{Function: b.function(b.t.Functions[n.Function].Name, "")}}
	}
	l := b.pprofFile.location(n.Image, n.Addr, lines...)
	b.locations[node] = l
	return l
}

// frame names a frame's function and file.
func (b *blockBuilder) frame(n *profile.Node, f profile.Frame) (name, file string) {
	if f.File >= 0 {
		file = b.t.Files[f.File].Path
	}
	if name = f.Name(); name == "" && n.Function >= 0 {
		name = b.t.Functions[n.Function].Name
	}
	return name, file
}
