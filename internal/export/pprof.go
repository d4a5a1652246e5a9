package export

import (
	"io"

	pprof "github.com/google/pprof/profile"

	"lime/internal/profile"
)

// Pprof writes a profile for 'go tool pprof', with the threads as labels.
func Pprof(w io.Writer, src profile.Source) error {
	b := &pprofBuilder{t: src.Tables(), p: &pprof.Profile{}, functions: map[pprofFunction]*pprof.Function{}, locations: map[pprofKey]*pprof.Location{}}
	list, err := paths(b.t, "time")
	if err != nil {
		return err
	}
	unit := src.Meta().ClockUnit
	if unit == "ns" {
		unit = "nanoseconds"
	}
	kind := &pprof.ValueType{Type: "cpu", Unit: unit}
	b.p.SampleType, b.p.PeriodType, b.p.Period = []*pprof.ValueType{kind}, kind, 1
	b.p.DurationNanos = int64(src.Meta().RunTime)
	b.mappings()
	for _, s := range list {
		x := &pprof.Sample{Value: []int64{int64(s.value)}, Label: map[string][]string{"thread": {threadName(b.t, s.thread)}}}
		for i := len(s.frames) - 1; i >= 0; i-- {
			x.Location = append(x.Location, b.location(s.frames[i]))
		}
		b.p.Sample = append(b.p.Sample, x)
	}
	if err := b.p.CheckValid(); err != nil {
		return err
	}
	return b.p.Write(w)
}

type pprofBuilder struct {
	t         *profile.Tables
	p         *pprof.Profile
	functions map[pprofFunction]*pprof.Function
	locations map[pprofKey]*pprof.Location
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
