package profile

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"unsafe"
)

// Packed tables: those of which a program of much code has hundreds of thousands of rows (frames,
// places, nodes, edges). A row of the file is a chunk of so many rows of the table, number after
// number. As rows of their own they took ten times the room, and to write and to read them took
// longer than everything else that is done with a profile.

// chunkRows is how many rows a chunk holds, but for the last.
const chunkRows = 4096

// field is a number of a row, stored as zigzag difference from the same one of the row before.
type field[Row any] struct {
	name string
	get  func(*Row) uint64
	set  func(*Row, uint64)
}

// whole is the field that at points to.
func whole[Row any, T integer](name string, at func(*Row) *T) field[Row] {
	return field[Row]{name, func(r *Row) uint64 { return uint64(*at(r)) }, func(r *Row, v uint64) { *at(r) = T(v) }}
}

// nodeRow is a node with its places as files have them.
type nodeRow struct {
	Node
	place, first int64
}

// What stands for a place that is none.
const (
	noPlace       = -1
	functionPlace = -2 // that of the node's function, and how far behind it the last instruction stands
)

var nodeFields = []field[nodeRow]{
	whole("image", func(r *nodeRow) *ImageID { return &r.Image }),
	whole("addr", func(r *nodeRow) *uint64 { return &r.Addr }),
	whole("size", func(r *nodeRow) *uint32 { return &r.Size }),
	whole("instrs", func(r *nodeRow) *uint32 { return &r.Instrs }),
	{"last_addr", func(r *nodeRow) uint64 { return r.LastAddr - r.Addr }, func(r *nodeRow, v uint64) { r.LastAddr = r.Addr + v }},
	whole("kind", func(r *nodeRow) *NodeKind { return &r.Kind }),
	whole("function", func(r *nodeRow) *FunctionID { return &r.Function }),
	whole("place", func(r *nodeRow) *int64 { return &r.place }),
	whole("first_place", func(r *nodeRow) *int64 { return &r.first }),
}

var edgeFields = []field[Edge]{
	whole("src", func(e *Edge) *NodeID { return &e.From }),
	whole("dst", func(e *Edge) *NodeID { return &e.To }),
	whole("kind", func(e *Edge) *EdgeKind { return &e.Kind }),
}

// frameRow is a frame whose function is a row of the table of names.
type frameRow struct {
	Frame
	name int64
}

var frameFields = []field[frameRow]{
	whole("file", func(f *frameRow) *FileID { return &f.File }),
	whole("line", func(f *frameRow) *int32 { return &f.Line }),
	whole("col", func(f *frameRow) *int32 { return &f.Column }),
	whole("name", func(f *frameRow) *int64 { return &f.name }),
	whole("offset", func(f *frameRow) *uint32 { return &f.Offset }),
}

// chunk is the last one of a packed table in a file that is written: further rows go into it.
type chunk struct {
	id, rows int
	data     []byte
	last     []uint64 // the numbers of its last row
	fresh    bool     // it has rows that the file has not
}

// add appends a row, and writes the chunk when it is full.
func (c *chunk) add(in *inserter, table string, row func(*chunk)) error {
	row(c)
	c.rows++
	c.fresh = true
	if c.rows < chunkRows {
		return nil
	}
	err := c.write(in, table)
	*c = chunk{id: c.id + 1, data: c.data[:0], last: c.last}
	clear(c.last)
	return err
}

// write puts the chunk into the file as it is now, in place of what was written of it before.
func (c *chunk) write(in *inserter, table string) error {
	if !c.fresh {
		return nil
	}
	c.fresh = false
	if err := in.insert(table, int64(c.id), int64(c.rows), c.data); err != nil {
		return fmt.Errorf("%s, chunk %d: %w", table, c.id, err)
	}
	return nil
}

// appendFields appends a row's numbers to a chunk.
func appendFields[Row any](c *chunk, fields []field[Row], r *Row) {
	if c.last == nil {
		c.last = make([]uint64, len(fields))
	}
	for i := range fields {
		v := fields[i].get(r)
		c.data = binary.AppendVarint(c.data, int64(v-c.last[i]))
		c.last[i] = v
	}
}

// packRows appends rows to a packed table.
func packRows[Row any](in *inserter, table string, c *chunk, n int, fields []field[Row], row func(int) *Row) error {
	for i := range n {
		if err := c.add(in, table, func(c *chunk) { appendFields(c, fields, row(i)) }); err != nil {
			return err
		}
	}
	return c.write(in, table)
}

func (in *inserter) insertNodes(list []Node) error {
	var row nodeRow
	return packRows(in, "node", &in.env.nodes, len(list), nodeFields, func(i int) *nodeRow {
		n := &list[i]
		row = nodeRow{*n, functionPlace, noPlace}
		if !in.env.starts.tell(n) {
			row.place = in.env.placeID(n.Frames)
		}
		row.first = in.env.placeID(n.First)
		return &row
	})
}

// starts are, by function, what the offsets of its places count from where no lines are known.
type starts []start

// start is a function and its entry; of one that has no name, and is called by where it stands in
// its file, that file and its start.
type start struct {
	name string
	addr uint64
}

func startsOf(t *Tables) starts {
	out := make(starts, len(t.Functions))
	for i := range t.Functions {
		f := &t.Functions[i]
		out[i] = start{f.Name, f.Entry}
		if f.Image < 0 || int(f.Image) >= len(t.Images) {
			continue
		}
		im := &t.Images[f.Image]
		file := Frame{Function: filepath.Base(im.Path), Offset: uint32(f.Entry - im.Base)}
		if f.Name == file.Name() {
			out[i] = start{file.Function, im.Base}
		}
	}
	return out
}

// frame is the place of a node of which nothing but the function is known; false if it has none.
func (s starts) frame(n *Node) (Frame, bool) {
	if n.Function < 0 || int(n.Function) >= len(s) {
		return Frame{}, false
	}
	from := &s[n.Function]
	off := n.LastAddr - from.addr
	return Frame{File: None, Function: from.name, Offset: uint32(off)}, off == uint64(uint32(off))
}

// tell reports whether the node's place says no more than its function and address do.
func (s starts) tell(n *Node) bool {
	if len(n.Frames) != 1 {
		return false
	}
	f, ok := s.frame(n)
	return ok && n.Frames[0] == f
}

func (in *inserter) insertEdges(list []Edge) error {
	return packRows(in, "edge", &in.env.edges, len(list), edgeFields, func(i int) *Edge { return &list[i] })
}

// insertPlaces inserts the names, frames and places that are new.
func (in *inserter) insertPlaces(p placeRows) error {
	if err := insertRows(in, nameRows, p.firstName, p.names); err != nil {
		return err
	}
	err := packRows(in, "frame", &in.env.frames, len(p.frames), frameFields, func(i int) *frameRow { return &p.frames[i] })
	if err != nil {
		return err
	}
	c := &in.env.placed
	for _, s := range p.stacks {
		if err := c.add(in, "place", func(c *chunk) { c.data = appendStack(c.data, s) }); err != nil {
			return err
		}
	}
	return c.write(in, "place")
}

// packedChunk is a chunk that was read.
type packedChunk struct {
	rows int
	data []byte
}

// chunks reads those of a packed table whose rows take at least so many bytes each in the file, and
// so many in memory, for which there is room then. It says how many rows there are. All that it reads
// is part of the file, which says no more than it is long.
func (l *loader) chunks(table string, least int, each uintptr) (list []packedChunk, rows int, err error) {
	err = l.scan(table, "SELECT id, n, data FROM "+table+" ORDER BY id", func(i int, row *sql.Rows) error {
		var id, n int64
		var data []byte
		if err := row.Scan(&id, &n, &data); err != nil {
			return err
		}
		if id != int64(i) {
			return fmt.Errorf("its id is %d", id)
		}
		if rows != i*chunkRows {
			return fmt.Errorf("chunk %d is not full", i-1)
		}
		if n < 1 || n > chunkRows || n > int64(len(data)/least) {
			return fmt.Errorf("chunk %d says that it has %d rows, and takes %d bytes", i, n, len(data))
		}
		list, rows = append(list, packedChunk{int(n), data}), rows+int(n)
		if err := l.env.room.take(n, int64(each)); err != nil {
			return err
		}
		return l.env.spend(len(data))
	})
	return list, rows, err
}

// unpackRows reads a packed table; each takes its rows one after the other, and keeps none.
func unpackRows[Row any](list []packedChunk, table string, fields []field[Row], each func(*Row) error) error {
	last := make([]uint64, len(fields))
	var r, none Row // one for all rows: each of its own would be garbage as large as the table
	for i, c := range list {
		d := decoder{b: c.data}
		clear(last)
		for k := range c.rows {
			r = none
			readFields(&d, fields, last, &r)
			if d.err == nil {
				d.err = each(&r)
			}
			if d.err != nil {
				return fmt.Errorf("table %s, row %d: %w", table, i*chunkRows+k, d.err)
			}
		}
		if err := d.end(); err != nil {
			return fmt.Errorf("table %s, chunk %d: %w", table, i, err)
		}
	}
	return nil
}

// readFields reads a row; last holds the numbers of the one before.
func readFields[Row any](d *decoder, fields []field[Row], last []uint64, r *Row) {
	for i := range fields {
		last[i] += uint64(d.varint())
		fields[i].set(r, last[i])
		if fields[i].get(r) != last[i] {
			d.fail(fmt.Errorf("%s %d is out of range", fields[i].name, int64(last[i])))
		}
	}
}

func (l *loader) loadNodes(t *Tables) error {
	list, rows, err := l.chunks("node", len(nodeFields), unsafe.Sizeof(Node{})+unsafe.Sizeof(Frame{}))
	if err != nil {
		return err
	}
	t.Nodes = make([]Node, 0, rows)
	alone := make([]Frame, 0, rows) // one array for all places that are a function's: most of a stripped program's
	starts := startsOf(t)
	return unpackRows(list, "node", nodeFields, func(r *nodeRow) (err error) {
		if r.place == functionPlace {
			f, ok := starts.frame(&r.Node)
			if !ok {
				return fmt.Errorf("its place is that of function %d, which does not exist or is far away", r.Function)
			}
			alone = append(alone, f)
			r.Frames = alone[len(alone)-1 : len(alone) : len(alone)]
		} else if r.Frames, err = l.env.place(r.place); err != nil {
			return err
		}
		r.First, err = l.env.place(r.first)
		t.Nodes = append(t.Nodes, r.Node)
		return err
	})
}

func (l *loader) loadEdges(t *Tables) error {
	list, rows, err := l.chunks("edge", len(edgeFields), unsafe.Sizeof(Edge{}))
	if err != nil {
		return err
	}
	t.Edges = make([]Edge, 0, rows)
	return unpackRows(list, "edge", edgeFields, func(e *Edge) error {
		t.Edges = append(t.Edges, *e)
		return nil
	})
}

// loadStacks reads the frames and the places made of them.
func (l *loader) loadStacks() error {
	var names []string
	if err := loadRows(l, nameRows, &names); err != nil {
		return err
	}
	list, rows, err := l.chunks("frame", len(frameFields), unsafe.Sizeof(Frame{}))
	if err != nil {
		return err
	}
	frames := make([]Frame, 0, rows)
	if err := unpackRows(list, "frame", frameFields, func(f *frameRow) error {
		if f.name < 0 || f.name >= int64(len(names)) {
			return fmt.Errorf("name %d does not exist (there are %d)", f.name, len(names))
		}
		f.Function = names[f.name]
		frames = append(frames, f.Frame)
		return nil
	}); err != nil {
		return err
	}
	return l.loadPlaces(frames)
}

func (l *loader) loadPlaces(frames []Frame) error {
	list, rows, err := l.chunks("place", 1, unsafe.Sizeof([]Frame{}))
	if err != nil {
		return err
	}
	l.env.stacks = make([][]Frame, 0, rows)
	for i, c := range list {
		d := decoder{b: c.data, room: l.env.room}
		for range c.rows {
			l.env.stacks = append(l.env.stacks, d.place(frames))
		}
		if err := d.end(); err != nil {
			return fmt.Errorf("table place, chunk %d: %w", i, err)
		}
	}
	return nil
}

// place reads a stack of frames.
func (d *decoder) place(frames []Frame) []Frame {
	ids := d.stack()
	if !d.take(len(ids), unsafe.Sizeof(Frame{})) {
		return nil
	}
	out := make([]Frame, len(ids))
	for i, id := range ids {
		if id < 0 || int(id) >= len(frames) {
			d.fail(fmt.Errorf("frame %d does not exist (there are %d)", id, len(frames)))
			return nil
		}
		out[i] = frames[id]
	}
	return out
}
