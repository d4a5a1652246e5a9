package export

import (
	"io"

	pprof "github.com/google/pprof/profile"

	"lime/internal/profile"
)

// pprofTypes are the kinds of values, in their order: the metrics of call paths and what pprof
// shall call them.
var pprofTypes = [...]struct{ metric, title string }{{"lock-blame", "lock-blame"}, {"lock-wait", "lock-wait"},
	{"idleness", "idleness"}, {"time", "cpu"}}

// pprofPaths writes the call paths, with the threads as labels. The last kind of value, which pprof
// shows if none is asked for, is the time.
func pprofPaths(w io.Writer, src profile.Source) error {
	b := &pathBuilder{pprofFile: newPprofFile(src), locations: map[pathPlace]*pprof.Location{}, samples: map[pathThread]*pprof.Sample{}}
	b.out.DurationNanos = int64(src.Meta().RunTime)
	for i, k := range pprofTypes {
		b.out.SampleType = append(b.out.SampleType, &pprof.ValueType{Type: k.title, Unit: pprofUnit(src.Meta().ClockUnit)})
		list, err := paths(b.t, k.metric)
		if err != nil && k.metric == "time" {
			return err
		}
		for _, s := range list {
			b.add(i, s)
		}
	}
	b.out.PeriodType, b.out.Period, b.out.DefaultSampleType = b.out.SampleType[len(pprofTypes)-1], 1, "cpu"
	if err := b.out.CheckValid(); err != nil {
		return err
	}
	return b.out.Write(w)
}

// add adds a value to the sample of a path and thread.
func (b *pathBuilder) add(kind int, s sample) {
	key := pathThread{s.path, s.thread}
	x := b.samples[key]
	if x == nil {
		x = &pprof.Sample{Value: make([]int64, len(pprofTypes)), Label: map[string][]string{"thread": {threadName(b.t, s.thread)}}}
		for i := len(s.frames) - 1; i >= 0; i-- {
			x.Location = append(x.Location, b.location(s.frames[i]))
		}
		b.samples[key] = x
		b.out.Sample = append(b.out.Sample, x)
	}
	x.Value[kind] += int64(s.value)
}

type pathThread struct {
	path   profile.PathID
	thread profile.ThreadID
}

type pathBuilder struct {
	pprofFile
	locations map[pathPlace]*pprof.Location
	samples   map[pathThread]*pprof.Sample
}

// pathPlace is what tells the levels of call paths apart.
type pathPlace struct {
	name, file string
	line       int32
	addr       uint64
}

func (b *pathBuilder) location(f frame) *pprof.Location {
	k := pathPlace{clean(f.function), f.file, f.line, f.addr}
	l := b.locations[k]
	if l == nil {
		l = b.pprofFile.location(f.image, f.addr, pprof.Line{Function: b.function(k.name, k.file), Line: int64(f.line)})
		b.locations[k] = l
	}
	return l
}
