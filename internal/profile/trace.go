package profile

import (
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"unsafe"
)

// Trace is on which call paths a thread was, when: samples in the order of time.
type Trace struct {
	Thread  ThreadID
	Every   uint64 // one of so many samples that were taken was kept; the others are in its Length
	Samples []TraceSample
}

// TraceSample says that the thread was on a path when it was At. It speaks for Length clock units
// of the thread's work about then: more than its part of a section may have, of which others then
// have no sample.
type TraceSample struct {
	At, Length uint64
	Path       PathID
}

const traceTable = "trace"

// traceTables came later than the rest: see later.
var traceTables = []tableSpec{
	{traceTable, `CREATE TABLE trace(id INTEGER PRIMARY KEY, thread INTEGER, every INTEGER, samples BLOB)`},
}

var traceRows = rowSpec[Trace]{traceTable, func(r *Trace, e *env) []column {
	return []column{num[ThreadID]{&r.Thread}, num[uint64]{&r.Every}, traceBlob{&r.Samples, e}}
}}

var traceText = textRow[Trace]{traceTable, Trace{Thread: None, Every: 1}, func(r *Trace) []textField {
	return []textField{id("thread", &r.Thread), dec("every", &r.Every, 1), traceField(&r.Samples)}
}}

// traceBlob is the samples of a thread: their number, then the times, the lengths and the paths of
// all, each as the difference from the one before.
type traceBlob struct {
	p *[]TraceSample
	e *env
}

// traceNumber is a number of a sample.
type traceNumber struct {
	get func(*TraceSample) uint64
	set func(*TraceSample, uint64)
}

func traceNumbers() [3]traceNumber {
	return [3]traceNumber{
		{func(s *TraceSample) uint64 { return s.At }, func(s *TraceSample, v uint64) { s.At = v }},
		{func(s *TraceSample) uint64 { return s.Length }, func(s *TraceSample, v uint64) { s.Length = v }},
		{func(s *TraceSample) uint64 { return uint64(s.Path) }, func(s *TraceSample, v uint64) { s.Path = PathID(v) }},
	}
}

func (c traceBlob) Value() (driver.Value, error) {
	list := *c.p
	b := binary.AppendUvarint(c.e.packer.payload[:0], uint64(len(list)))
	for _, f := range traceNumbers() {
		last := uint64(0)
		for i := range list {
			v := f.get(&list[i])
			b = binary.AppendVarint(b, int64(v-last))
			last = v
		}
	}
	c.e.packer.payload = b
	return c.e.packer.pack(b), nil
}

func (c traceBlob) Scan(v any) error {
	blob, ok := v.([]byte)
	if !ok {
		return fmt.Errorf("%s instead of a blob", kindOf(v))
	}
	payload, err := unpack(blob, c.e.room)
	if err != nil {
		return err
	}
	d := &decoder{b: payload, room: c.e.room}
	n := d.count()
	if !d.take(n, unsafe.Sizeof(TraceSample{})) {
		return d.err
	}
	list := make([]TraceSample, n)
	for _, f := range traceNumbers() {
		last := uint64(0)
		for i := range list {
			last += uint64(d.varint())
			f.set(&list[i], last)
		}
	}
	*c.p = list
	return d.end()
}

// traceField is a sample in text: AT:LENGTH:PATH.
func traceField(p *[]TraceSample) textField {
	return textField{"at", func() (out []string) {
		for _, s := range *p {
			out = append(out, fmt.Sprintf("%d:%d:%d", s.At, s.Length, s.Path))
		}
		return out
	}, func(text string) error {
		words := strings.Split(text, ":")
		var s TraceSample
		if len(words) != 3 {
			return fmt.Errorf("%s is no AT:LENGTH:PATH", text)
		}
		for i, to := range []*uint64{&s.At, &s.Length} {
			if err := parseInt(words[i], to); err != nil {
				return err
			}
		}
		path, err := strconv.ParseInt(words[2], 0, 32)
		s.Path = PathID(path)
		*p = append(*p, s)
		return numError(words[2], err)
	}}
}

// checkTraces validates what threads ran when.
func (t *Tables) checkTraces(at, n extent) error {
	return checkRows(traceTable, at.traces, t.Traces, func(r *refs, _ int, x *Trace) {
		r.must("thread", int32(x.Thread), n.threads)
		r.that(x.Every > 0, "none of its samples were kept")
		last := uint64(0)
		for i := range x.Samples {
			s := &x.Samples[i]
			r.must("path", int32(s.Path), n.paths)
			r.that(s.At >= last, "sample %d is at %d, after one at %d", i, s.At, last)
			last = s.At
		}
	})
}

// AddTrace appends what a thread ran when.
func (t *Tables) AddTrace(r Trace) { t.Traces = append(t.Traces, r) }

// AddTrace appends a row to be written with the next transaction.
func (w *Writer) AddTrace(r Trace) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next.tables.AddTrace(r)
}
