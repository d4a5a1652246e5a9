package profile

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"lime/internal/btree"
	"lime/internal/safe"
)

// pages reads the tables of instances straight from a file's pages: of a million of them, the
// database makes a million results, one after the other. A file with a log beside it, or one that
// package btree does not take, is left to the database.
type pages struct {
	file           *os.File
	instance       *btree.Table
	host, meetings *btree.Table // nil: no instance has one

	mu   sync.Mutex
	idle []*cursor
}

// openPages returns nil where the database must be asked.
func openPages(path string) *pages {
	f, err := safe.Open(path)
	if err != nil {
		return nil
	}
	p := &pages{file: f}
	if err := p.find(); err != nil {
		f.Close()
		return nil
	}
	return p
}

// find finds the tables. Their shape is held against the schema as the database's is.
func (p *pages) find() error {
	st, err := p.file.Stat()
	if err != nil {
		return err
	}
	b, err := btree.Open(p.file, st.Size())
	if err != nil {
		return err
	}
	for _, t := range []struct {
		name string
		to   **btree.Table
	}{{"instance", &p.instance}, {"host_time", &p.host}, {"meeting", &p.meetings}} {
		found, err := b.Table(t.name)
		if errors.Is(err, btree.ErrNoTable) && later(t.name) {
			continue
		}
		if err != nil {
			return err
		}
		i := slices.IndexFunc(schema, func(s tableSpec) bool { return s.name == t.name })
		if found.SQL != schema[i].create {
			return fmt.Errorf("table %s is another one", t.name)
		}
		*t.to = found
	}
	return nil
}

// without forgets the tables that have no row.
func (p *pages) without(meetings, host bool) {
	if meetings {
		p.meetings = nil
	}
	if host {
		p.host = nil
	}
}

// same reports whether what stands at path is the file that was opened.
func (p *pages) same(path string) bool {
	own, err := p.file.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(own, now)
}

// close may be called of none, and again.
func (p *pages) close() error {
	if p == nil {
		return nil
	}
	if err := p.file.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// cursor is a way through the tables, for one goroutine at a time.
type cursor struct {
	instance, host, meetings *btree.Rows
	fields                   [instanceColumns]btree.Field
}

// The columns of table instance.
const (
	colID = iota
	colSection
	colSeq
	colThreads
	colLongest
	colWork
	colParts
	colEdges
	colEvents
	colCosts
	colTimes
	instanceColumns
)

// with has do use a cursor that nobody uses meanwhile.
func (p *pages) with(do func(*cursor) error) error {
	p.mu.Lock()
	var c *cursor
	if n := len(p.idle); n > 0 {
		c, p.idle = p.idle[n-1], p.idle[:n-1]
	}
	p.mu.Unlock()
	if c == nil {
		c = p.cursor()
	}
	if err := do(c); err != nil {
		return err // the cursor has come to where the file is damaged
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, c)
	return nil
}

func (p *pages) cursor() *cursor {
	c := &cursor{instance: p.instance.Rows()}
	if p.host != nil {
		c.host = p.host.Rows()
	}
	if p.meetings != nil {
		c.meetings = p.meetings.Rows()
	}
	return c
}

// instanceRow is what the tables say of an instance.
type instanceRow struct {
	sums    [3]int64 // threads, longest, work
	blobs   [5][]byte
	host    hostRow
	meeting meetingRow
}

// find goes to an instance's row.
func (c *cursor) find(id int64) error {
	if !c.instance.Find(id) {
		return cmp.Or(c.instance.Err(), sql.ErrNoRows)
	}
	return nil
}

// ints reads the row's integers from one column on.
func (c *cursor) ints(first int, to ...*int64) (err error) {
	for i := range to {
		if *to[i], err = c.instance.Int(c.fields[first+i]); err != nil {
			return err
		}
	}
	return nil
}

// place reads where the instance at hand belongs.
func (c *cursor) place() (section, seq int64, err error) {
	if err = c.instance.Fields(c.fields[:]); err == nil {
		err = c.ints(colSection, &section, &seq)
	}
	return section, seq, err
}

// blobs is how many bytes the blobs of the row take, of which place has read the header.
func (c *cursor) blobs() (n int64) {
	for _, f := range c.fields[colParts:] {
		n += f.Size
	}
	return n
}

// read reads so many of the blobs of the row at hand, of which place has read the header.
func (c *cursor) read(row *instanceRow, blobs int) error {
	*row = instanceRow{}
	if err := c.ints(colThreads, &row.sums[0], &row.sums[1], &row.sums[2]); err != nil {
		return err
	}
	for i := range blobs {
		var err error
		if row.blobs[i], err = c.instance.Bytes(c.fields[colParts+i]); err != nil {
			return err
		}
	}
	return nil
}

// beside reads what other tables say of an instance.
func (c *cursor) beside(row *instanceRow, id int64) error {
	if c.host != nil && c.host.Find(id) {
		var fs [3]btree.Field
		err := c.host.Fields(fs[:])
		if err == nil && fs[1].Kind != btree.Null {
			row.host.chance.Valid = true
			row.host.chance.Int64, err = c.host.Int(fs[1])
		}
		if err == nil {
			row.host.parts, err = c.host.Bytes(fs[2])
		}
		if err != nil {
			return fmt.Errorf("host times: %w", err)
		}
	}
	if c.meetings != nil && c.meetings.Find(id) {
		var fs [4]btree.Field
		err := c.meetings.Fields(fs[:])
		if err == nil {
			row.meeting.there = true
			row.meeting.word, err = c.meetings.Text(fs[1])
		}
		if err == nil {
			row.meeting.n, err = c.meetings.Int(fs[2])
		}
		if err == nil {
			row.meeting.parts, err = c.meetings.Bytes(fs[3])
		}
		if err != nil {
			return fmt.Errorf("meeting: %w", err)
		}
	}
	for _, rows := range []*btree.Rows{c.host, c.meetings} {
		if rows != nil && rows.Err() != nil {
			return rows.Err()
		}
	}
	return nil
}

// begin reads where the instance at hand belongs.
func (c *cursor) begin(r *Reader, in *Instance) error {
	section, seq, err := c.place()
	if err != nil {
		return err
	}
	in.Section, in.Seq = SectionID(section), int(seq)
	if section != int64(in.Section) || in.Seq < 0 || in.Seq >= r.InstanceCount(in.Section) {
		return errMoved
	}
	return nil
}

// parts reads the parts of the instance at hand, and leaves its counts out.
func (c *cursor) parts(r *Reader, in *Instance) error {
	var row instanceRow
	if err := c.read(&row, 1); err != nil {
		return err
	}
	return r.complete(in, &row)
}

// whole reads the rest of the instance at hand.
func (c *cursor) whole(r *Reader, in *Instance) error {
	var row instanceRow
	if err := c.read(&row, len(row.blobs)); err != nil {
		return err
	}
	if err := c.beside(&row, c.instance.ID); err != nil {
		return err
	}
	return r.complete(in, &row)
}
