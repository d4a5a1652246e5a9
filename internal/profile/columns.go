package profile

import (
	"database/sql/driver"
	"fmt"
)

// A column binds a field of a row to a column of its SQL table, in both directions.
type column interface {
	Value() (driver.Value, error) // driver.Valuer
	Scan(any) error               // sql.Scanner
}

type integer interface {
	~int | ~int32 | ~int64 | ~uint8 | ~uint32 | ~uint64
}

// num is an integer. SQLite's integers are signed: uint64 values from 2^63 on stand as negative
// numbers.
type num[T integer] struct{ p *T }

func (c num[T]) Value() (driver.Value, error) { return int64(*c.p), nil }

func (c num[T]) Scan(v any) error {
	n, ok := v.(int64)
	if !ok {
		return fmt.Errorf("%s instead of an integer", kindOf(v))
	}
	if int64(T(n)) != n {
		return fmt.Errorf("%d is out of range", n)
	}
	*c.p = T(n)
	return nil
}

// text is a string; budget, when reading, is what the file can still hold.
type text[T ~string] struct {
	p   *T
	env *env
}

func (c text[T]) Value() (driver.Value, error) { return string(*c.p), nil }

func (c text[T]) Scan(v any) error {
	s, ok := v.(string)
	if !ok {
		return fmt.Errorf("%s instead of text", kindOf(v))
	}
	*c.p = T(s)
	return c.env.spend(len(s))
}

// real is a floating-point number.
type real struct{ p *float64 }

func (c real) Value() (driver.Value, error) { return *c.p, nil }

func (c real) Scan(v any) error {
	switch x := v.(type) {
	case float64:
		*c.p = x
	case int64:
		*c.p = float64(x)
	default:
		return fmt.Errorf("%s instead of a number", kindOf(v))
	}
	return nil
}

// place is a stack of frames, stored once for all who share it; NULL for none.
type place struct {
	p   *[]Frame
	env *env
}

func (c place) Value() (driver.Value, error) {
	if id := c.env.placeID(*c.p); id != noPlace {
		return id, nil
	}
	return nil, nil
}

func (c place) Scan(v any) error {
	if v == nil {
		*c.p = nil
		return nil
	}
	id, ok := v.(int64)
	if !ok || id == noPlace {
		return fmt.Errorf("%v is not a place", v)
	}
	var err error
	*c.p, err = c.env.place(id)
	return err
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "NULL"
	case int64:
		return "an integer"
	case float64:
		return "a floating-point number"
	case []byte:
		return "a blob"
	}
	return "text"
}

// env is what columns share while tables are written or read.
type env struct {
	starts starts // writing, if all functions are known
	places places // writing
	nodes  chunk  // writing, as the next three
	edges  chunk
	frames chunk
	placed chunk     // places
	stacks [][]Frame // reading: frames by place
	budget int64     // reading: bytes of text that a file of this size can hold
	room   *budget   // reading: for packed tables, places and traces
	packer packer    // writing
}

// placeID is the id of a stack of frames, noPlace for none.
func (e *env) placeID(fs []Frame) int64 {
	if len(fs) == 0 {
		return noPlace
	}
	return e.places.intern(fs)
}

// place is the stack of frames of an id.
func (e *env) place(id int64) ([]Frame, error) {
	if id == noPlace {
		return nil, nil
	}
	if id < 0 || id >= int64(len(e.stacks)) {
		return nil, fmt.Errorf("%d is not a place", id)
	}
	return e.stacks[id], nil
}

func (e *env) spend(n int) error {
	e.budget -= int64(n)
	if e.budget < 0 {
		return fmt.Errorf("more text than the file is long")
	}
	return nil
}

// row is a table's row type with its columns after the id.
type rowSpec[Row any] struct {
	table string
	cols  func(*Row, *env) []column
}

var imageRows = rowSpec[Image]{"image", func(r *Image, e *env) []column {
	return []column{text[string]{&r.Path, e}, text[string]{&r.BuildID, e}, num[uint64]{&r.Base}, num[uint64]{&r.Lo}, num[uint64]{&r.Hi}}
}}

var fileRows = rowSpec[File]{"file", func(r *File, e *env) []column {
	return []column{text[string]{&r.Path, e}}
}}

var functionRows = rowSpec[Function]{"function", func(r *Function, e *env) []column {
	return []column{num[ImageID]{&r.Image}, text[string]{&r.Name, e}, text[string]{&r.Link, e}, num[uint64]{&r.Entry},
		num[FileID]{&r.File}, num[int32]{&r.Line}}
}}

var nameRows = rowSpec[string]{"name", func(r *string, e *env) []column { return []column{text[string]{r, e}} }}

var kindRows = rowSpec[EventKind]{"event_kind", func(r *EventKind, e *env) []column {
	return []column{text[string]{&r.Name, e}, text[string]{&r.Title, e}, text[string]{&r.Superior, e},
		text[string]{&r.Unit, e}, num[Label]{&r.Label}}
}}

var eventRows = rowSpec[Event]{"event", func(r *Event, e *env) []column {
	return []column{num[int32]{&r.Kind}, num[NodeID]{&r.Node}, num[uint64]{&r.Addr}, place{&r.Frames, e}, text[string]{&r.Detail, e}}
}}

var sectionRows = rowSpec[Section]{"section", func(r *Section, e *env) []column {
	return []column{text[SectionKind]{&r.Kind, e}, num[uint64]{&r.EndAddr}, num[NodeID]{&r.EndNode}, place{&r.Frames, e}, place{&r.Starts, e}}
}}

var threadRows = rowSpec[Thread]{"thread", func(r *Thread, e *env) []column {
	return []column{text[string]{&r.Name, e}, num[ThreadID]{&r.Parent}, num[int32]{&r.TID}, num[uint64]{&r.Start},
		num[uint64]{&r.End}, num[FunctionID]{&r.Entry}}
}}

var pathRows = rowSpec[PathNode]{"path", func(r *PathNode, e *env) []column {
	return []column{num[PathID]{&r.Parent}, num[NodeID]{&r.Node}, num[uint64]{&r.Addr}}
}}

var sampleRows = rowSpec[PathSample]{"path_sample", func(r *PathSample, e *env) []column {
	return []column{num[PathID]{&r.Path}, num[ThreadID]{&r.Thread}, num[SectionID]{&r.Section}, text[string]{&r.Metric, e}, real{&r.Value}}
}}

var noteRows = rowSpec[Note]{"note", func(r *Note, e *env) []column {
	return []column{text[string]{&r.Code, e}, text[string]{&r.Text, e}, num[uint64]{&r.N}}
}}
