// The way through the pages of a table.

package btree

import (
	"encoding/binary"
	"fmt"
	"sort"
)

// What a page of a tree begins with (section 1.6, "B-tree Pages").
const (
	kindInterior = 5
	kindLeaf     = 13

	atCells   = 3 // how many cells
	atRight   = 8 // of an interior page: its last child
	leafHead  = 8
	innerHead = 12
	childSize = 4
)

// deepest is how many pages may lie above each other: with two children in each, the least that a
// page may have, more would not fit in a file.
const deepest = 32

// node is a page of a tree.
type node struct {
	no    uint32
	bytes []byte
	head  int // where the header ends, and the offsets of the cells begin
	cells int
	at    int // the cell, or the child, that comes next
	leaf  bool
}

// node takes a page's bytes for a page of a tree.
func (f *File) node(no uint32, b []byte) (node, error) {
	n := node{no: no, bytes: b}
	if no == 1 {
		n.head = headerSize
	}
	switch b[n.head] {
	case kindInterior:
	case kindLeaf:
		n.leaf = true
	default:
		return n, fmt.Errorf("page %d: kind %d is none of a table with row ids", no, b[n.head])
	}
	n.cells = int(binary.BigEndian.Uint16(b[n.head+atCells:]))
	right := n.head + atRight
	if n.head += leafHead; !n.leaf {
		n.head += innerHead - leafHead
	}
	if n.head+2*n.cells > len(b) {
		return n, fmt.Errorf("page %d: no room for %d cells", no, n.cells)
	}
	if !n.leaf {
		n.bytes = b[:len(b):len(b)]
		_ = b[right+childSize-1]
	}
	return n, nil
}

// cell returns the bytes of the page from a cell on.
func (n *node) cell(i int) ([]byte, error) {
	at := int(binary.BigEndian.Uint16(n.bytes[n.head+2*i:]))
	if at < n.head+2*n.cells || at >= len(n.bytes) {
		return nil, fmt.Errorf("page %d: cell %d at byte %d of %d", n.no, i, at, len(n.bytes))
	}
	return n.bytes[at:], nil
}

// child returns the page of child i of an interior page; the last one has no cell.
func (n *node) child(i int) (uint32, error) {
	if i == n.cells {
		return binary.BigEndian.Uint32(n.bytes[n.head-innerHead+atRight:]), nil
	}
	b, err := n.cell(i)
	if err == nil && len(b) < childSize {
		err = fmt.Errorf("page %d: cell %d is cut short", n.no, i)
	}
	if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint32(b), nil
}

// key returns the id of a leaf's row, or the largest below an interior page's child.
func (n *node) key(i int) (int64, error) {
	b, err := n.cell(i)
	if err != nil {
		return 0, err
	}
	used := childSize
	if n.leaf {
		_, used = varint(b)
	}
	if used > 0 && used < len(b) {
		if v, size := varint(b[used:]); size > 0 {
			return int64(v), nil
		}
	}
	return 0, fmt.Errorf("page %d: cell %d is cut short", n.no, i)
}

// search returns the first cell whose key is id or more.
func (n *node) search(id int64) (int, error) {
	var failed error
	i := sort.Search(n.cells, func(i int) bool {
		k, err := n.key(i)
		if err != nil {
			failed = err
		}
		return k >= id
	})
	return i, failed
}

// varint reads a number of one to nine bytes, the high bits first (section 1.6); size is 0 if it is
// cut short.
func varint(b []byte) (v uint64, size int) {
	for i := 0; i < len(b); i++ {
		if i == 8 {
			return v<<8 | uint64(b[i]), 9
		}
		v = v<<7 | uint64(b[i]&0x7f)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// Rows goes through the rows of a table. It is for one goroutine.
type Rows struct {
	f     *File
	root  uint32
	above []node // interior pages from the root down, with copies of their bytes
	free  [][]byte
	leaf  node
	pages window
	seen  uint32 // pages since the last From
	began bool
	from  int64 // ids that come next are no smaller
	ended bool  // there is none
	err   error
	row
}

// Rows returns the rows of the table from the first on.
func (t *Table) Rows() *Rows { return &Rows{f: t.f, root: t.root, from: -1 << 63} }

// Err returns what went wrong. After an error there are no more rows.
func (r *Rows) Err() error { return r.err }

// From has Next go on with the first row whose id is id or more.
func (r *Rows) From(id int64) {
	if r.err != nil {
		return
	}
	r.ended, r.seen, r.from = false, 0, id
	if r.inLeaf(id) {
		r.leaf.at, r.err = r.leaf.search(id)
		return
	}
	r.began = false
}

// inLeaf reports whether the row with an id must be in the leaf at hand, if there is one.
func (r *Rows) inLeaf(id int64) bool {
	if !r.began || r.leaf.cells == 0 {
		return false
	}
	first, err := r.leaf.key(0)
	last, err2 := r.leaf.key(r.leaf.cells - 1)
	return err == nil && err2 == nil && first <= id && id <= last
}

// Find goes to the row with an id, if there is one.
func (r *Rows) Find(id int64) bool {
	r.From(id)
	return r.Next() && r.ID == id
}

// Next goes to the next row, if there is one.
func (r *Rows) Next() bool {
	if r.err == nil && !r.ended {
		r.err = r.step()
	}
	return r.err == nil && !r.ended
}

func (r *Rows) step() error {
	if !r.began {
		r.began = true
		r.rewind()
		if err := r.descend(r.root); err != nil {
			return err
		}
	}
	for r.leaf.at >= r.leaf.cells {
		if more, err := r.nextLeaf(); err != nil || !more {
			r.ended, r.began = true, false
			return err
		}
	}
	b, err := r.leaf.cell(r.leaf.at)
	if err == nil {
		err = r.row.take(r.f, r.leaf.no, b)
	}
	if err != nil {
		return err
	}
	r.leaf.at++
	if r.ID < r.from {
		return fmt.Errorf("page %d: row %d comes behind row %d", r.leaf.no, r.ID, r.from)
	}
	if r.from = r.ID + 1; r.ID == 1<<63-1 { // the last that there may be
		r.from, r.leaf.at, r.above = r.ID, r.leaf.cells, r.above[:0]
	}
	return nil
}

// rewind gives the copies of interior pages back.
func (r *Rows) rewind() {
	for _, n := range r.above {
		r.free = append(r.free, n.bytes)
	}
	r.above = r.above[:0]
}

// nextLeaf goes to the leaf that follows.
func (r *Rows) nextLeaf() (bool, error) {
	for n := len(r.above); n > 0; n = len(r.above) {
		up := &r.above[n-1]
		if up.at++; up.at <= up.cells {
			no, err := up.child(up.at)
			if err == nil {
				err = r.descend(no)
			}
			return true, err
		}
		r.free = append(r.free, up.bytes)
		r.above = r.above[:n-1]
	}
	return false, nil
}

// descend goes down to the first leaf below a page with rows that may be asked for.
func (r *Rows) descend(no uint32) error {
	for {
		if r.seen++; r.seen > r.f.pages || len(r.above) > deepest {
			return fmt.Errorf("page %d: the pages of the table lead in a circle", no)
		}
		b, err := r.f.load(&r.pages, no)
		if err != nil {
			return err
		}
		n, err := r.f.node(no, b)
		if err != nil {
			return err
		}
		if n.at, err = n.search(r.from); err != nil {
			return err
		}
		if n.leaf {
			r.leaf = n
			return nil
		}
		n.bytes = append(r.spare(), b...) // the window moves on
		r.above = append(r.above, n)
		if no, err = n.child(n.at); err != nil {
			return err
		}
	}
}

// spare returns room for a copy of a page.
func (r *Rows) spare() []byte {
	if n := len(r.free); n > 0 {
		b := r.free[n-1]
		r.free = r.free[:n-1]
		return b[:0]
	}
	return nil
}
