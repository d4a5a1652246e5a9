package export

import (
	"io"

	pprof "github.com/google/pprof/profile"

	"lime/internal/profile"
)

// pprofTypes are the kinds of values, in their order: the metrics of call paths and what pprof shall call them.
var pprofTypes = [...]struct{ metric, title string }{{"lock-blame", "lock-blame"}, {"lock-wait", "lock-wait"}, {"idleness", "idleness"}, {"time", "cpu"}}

// Pprof writes a profile for 'go tool pprof', with the threads as labels. Its last kind of value, which pprof shows if none is asked
// for, is the time.
func Pprof(w io.Writer, src profile.Source) error {
	b := &pprofBuilder{t: src.Tables(), p: &pprof.Profile{}, functions: map[pprofFunction]*pprof.Function{}, locations: map[pprofKey]*pprof.Location{},
		samples: map[pathThread]*pprof.Sample{}}
	b.p.DurationNanos = int64(src.Meta().RunTime)
	b.mappings()
	for i, k := range pprofTypes {
		b.p.SampleType = append(b.p.SampleType, &pprof.ValueType{Type: k.title, Unit: pprofUnit(src.Meta().ClockUnit)})
		list, err := paths(b.t, k.metric)
		if err != nil && k.metric == "time" {
			return err
		}
		for _, s := range list {
			b.add(i, s)
		}
	}
	b.p.PeriodType, b.p.Period, b.p.DefaultSampleType = b.p.SampleType[len(pprofTypes)-1], 1, "cpu"
	if err := b.p.CheckValid(); err != nil {
		return err
	}
	return b.p.Write(w)
}

func pprofUnit(clock string) string {
	if clock == "ns" {
		return "nanoseconds"
	}
	return clock
}

// add adds a value to the sample of a path and thread.
func (b *pprofBuilder) add(kind int, s sample) {
	key := pathThread{s.path, s.thread}
	x := b.samples[key]
	if x == nil {
		x = &pprof.Sample{Value: make([]int64, len(pprofTypes)), Label: map[string][]string{"thread": {threadName(b.t, s.thread)}}}
		for i := len(s.frames) - 1; i >= 0; i-- {
			x.Location = append(x.Location, b.location(s.frames[i]))
		}
		b.samples[key] = x
		b.p.Sample = append(b.p.Sample, x)
	}
	x.Value[kind] += int64(s.value)
}

type pathThread struct {
	path   profile.PathID
	thread profile.ThreadID
}

type pprofBuilder struct {
	t         *profile.Tables
	p         *pprof.Profile
	functions map[pprofFunction]*pprof.Function
	locations map[pprofKey]*pprof.Location
	samples   map[pathThread]*pprof.Sample
}

type pprofFunction struct{ name, file string }

type pprofKey struct {
	pprofFunction
	line int32
	addr uint64
}

func (b *pprofBuilder) mappings() {
	for i := range b.t.Images {
		im := &b.t.Images[i]
		b.p.Mapping = append(b.p.Mapping, &pprof.Mapping{ID: uint64(i) + 1, Start: im.Lo, Limit: im.Hi, File: im.Path, BuildID: im.BuildID,
			HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true})
	}
}

func (b *pprofBuilder) location(f frame) *pprof.Location {
	k := pprofKey{pprofFunction{clean(f.function), f.file}, f.line, f.addr}
	if l := b.locations[k]; l != nil {
		return l
	}
	fn := b.functions[k.pprofFunction]
	if fn == nil {
		fn = &pprof.Function{ID: uint64(len(b.p.Function)) + 1, Name: k.name, SystemName: k.name, Filename: k.file}
		b.functions[k.pprofFunction] = fn
		b.p.Function = append(b.p.Function, fn)
	}
	l := &pprof.Location{ID: uint64(len(b.p.Location)) + 1, Address: f.addr, Line: []pprof.Line{{Function: fn, Line: int64(f.line)}}}
	if f.image >= 0 {
		l.Mapping = b.p.Mapping[f.image]
	}
	b.locations[k] = l
	b.p.Location = append(b.p.Location, l)
	return l
}
