package profile

import (
	"database/sql"
	"fmt"
	"slices"
)

// What format 1 had in another way, to read it: frames, places, nodes and edges were rows of their
// own, and the function's name was part of each frame, with the distance from its entry where no
// line was known.

var codeTables1 = []tableSpec{
	{"frame", `CREATE TABLE frame(id INTEGER PRIMARY KEY, file INTEGER, line INTEGER, col INTEGER, function TEXT)`},
	{"place", `CREATE TABLE place(id INTEGER, depth INTEGER, frame INTEGER, PRIMARY KEY(id, depth)) WITHOUT ROWID`},
	{"node", `CREATE TABLE node(id INTEGER PRIMARY KEY, image INTEGER, addr INTEGER, size INTEGER, instrs INTEGER, last_addr INTEGER, kind INTEGER, function INTEGER, place INTEGER, first_place INTEGER)`},
	{"edge", `CREATE TABLE edge(id INTEGER PRIMARY KEY, src INTEGER, dst INTEGER, kind INTEGER)`},
}

// schemaOf lists the tables of a file by its version.
func schemaOf(version int64) []tableSpec {
	if version >= FormatVersion {
		return schema
	}
	var out []tableSpec
	for _, t := range schema {
		if !slices.ContainsFunc(codeTables, func(c tableSpec) bool { return c.name == t.name }) {
			out = append(out, t)
		}
	}
	return append(out, codeTables1...)
}

// ofVersion reads what stands in another way in files of format 1.
func (l *loader) ofVersion(now, then func() error) error {
	if l.version >= FormatVersion {
		return now()
	}
	return then()
}

var frameRows1 = rowSpec[Frame]{"frame", func(r *Frame, e *env) []column {
	return []column{num[FileID]{&r.File}, num[int32]{&r.Line}, num[int32]{&r.Column}, text[string]{&r.Function, e}}
}}

var nodeRows1 = rowSpec[Node]{"node", func(r *Node, e *env) []column {
	return []column{num[ImageID]{&r.Image}, num[uint64]{&r.Addr}, num[uint32]{&r.Size}, num[uint32]{&r.Instrs},
		num[uint64]{&r.LastAddr}, num[NodeKind]{&r.Kind}, num[FunctionID]{&r.Function}, place{&r.Frames, e}, place{&r.First, e}}
}}

var edgeRows1 = rowSpec[Edge]{"edge", func(r *Edge, e *env) []column {
	return []column{num[NodeID]{&r.From}, num[NodeID]{&r.To}, num[EdgeKind]{&r.Kind}}
}}

// loadStacks1 reads the frames and the places made of them.
func (l *loader) loadStacks1() error {
	var frames []Frame
	if err := loadRows(l, frameRows1, &frames); err != nil {
		return err
	}
	return l.scan("place", "SELECT id, depth, frame FROM place ORDER BY id, depth", func(i int, rows *sql.Rows) error {
		var id, depth, frame int64
		if err := rows.Scan(&id, &depth, &frame); err != nil {
			return err
		}
		if depth == 0 {
			l.env.stacks = append(l.env.stacks, nil)
		}
		at := len(l.env.stacks) - 1
		if at < 0 || id != int64(at) || depth != int64(len(l.env.stacks[at])) {
			return fmt.Errorf("place %d, depth %d is out of order", id, depth)
		}
		if frame < 0 || frame >= int64(len(frames)) {
			return fmt.Errorf("frame %d does not exist (there are %d)", frame, len(frames))
		}
		l.env.stacks[at] = append(l.env.stacks[at], frames[frame])
		return nil
	})
}
