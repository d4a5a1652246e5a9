// A file: its header, its pages, its tables.

package btree

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// What the header of a file says, and where (section 1.3, "The Database Header").
const (
	headerSize  = 100
	magic       = "SQLite format 3\x00"
	atPageSize  = 16 // 2 bytes; 1 stands for 65536
	atWriteMode = 18
	atReadMode  = 19
	atReserved  = 20 // bytes at the end of each page that others use
	atFractions = 21 // 3 bytes that must be 64, 32 and 32
	atChanges   = 24
	atPages     = 28 // 4 bytes, good if what stands at atChanges stands at atValidFor too
	atEncoding  = 56
	atValidFor  = 92

	modeJournal = 1 // 2: a write-ahead log
	inUTF8      = 1

	leastPage, mostPage = 512, 65536
	leastUsable         = 480 // of a page, besides what is reserved
)

// File is a SQLite file to read. It may be read by several goroutines, each with Rows of its own.
type File struct {
	r      io.ReaderAt
	page   int // bytes
	usable int // of these, what tables may use
	pages  uint32
}

// Open reads the header of a file of so many bytes.
func Open(r io.ReaderAt, size int64) (*File, error) {
	var h [headerSize]byte
	if _, err := r.ReadAt(h[:], 0); err != nil {
		return nil, fmt.Errorf("page 1: its header: %w", err)
	}
	if string(h[:len(magic)]) != magic {
		return nil, errors.New("page 1: not the header of a SQLite file")
	}
	if h[atWriteMode] != modeJournal || h[atReadMode] != modeJournal {
		return nil, fmt.Errorf("page 1: modes %d and %d: the last changes may stand in a log", h[atWriteMode], h[atReadMode])
	}
	page := int(binary.BigEndian.Uint16(h[atPageSize:]))
	if page == 1 {
		page = mostPage
	}
	f := &File{r: r, page: page, usable: page - int(h[atReserved])}
	if page < leastPage || page&(page-1) != 0 || f.usable < leastUsable {
		return nil, fmt.Errorf("page 1: pages of %d bytes, of which %d are reserved", page, h[atReserved])
	}
	if [3]byte(h[atFractions:]) != [3]byte{64, 32, 32} || binary.BigEndian.Uint32(h[atEncoding:]) != inUTF8 {
		return nil, errors.New("page 1: its payload fractions or its encoding are not those that are read here")
	}
	return f, f.count(h[:], size)
}

// count finds out how many pages there are.
func (f *File) count(h []byte, size int64) error {
	there := size / int64(f.page)
	if there < 1 || there > 1<<32-2 {
		return fmt.Errorf("page 1: %d bytes are no number of pages", size)
	}
	f.pages = uint32(there)
	said := binary.BigEndian.Uint32(h[atPages:])
	if said == 0 || [4]byte(h[atChanges:]) != [4]byte(h[atValidFor:]) {
		return nil // an old library wrote it last, which did not keep the number
	}
	if said > f.pages {
		return fmt.Errorf("page %d lies behind the end of the file (it has %d)", said, f.pages)
	}
	f.pages = said
	return nil
}

// lockByte is where libraries lock the file: the page that holds it has no content (section 1.2).
const lockByte = 1 << 30

// window is a stretch of pages in memory. Pages that follow each other in the file are read several
// at once.
type window struct {
	first uint32
	bytes []byte // whole pages
}

// aheadBytes is how much one read takes at most of pages that follow each other.
const aheadBytes = 64 << 10

// load returns a page's usable bytes, which are good until the next page is loaded through the
// window.
func (f *File) load(w *window, no uint32) ([]byte, error) {
	if no < 1 || no > f.pages || int64(no) == lockByte/int64(f.page)+1 {
		return nil, fmt.Errorf("there is no page %d to read (the file has %d)", no, f.pages)
	}
	held := uint32(len(w.bytes) / f.page)
	if no < w.first || no-w.first >= held {
		want := uint32(1)
		if held > 0 && no-w.first == held {
			want = min(2*held, max(1, uint32(aheadBytes/f.page)), f.pages-no+1)
		}
		if err := f.fill(w, no, int(want)); err != nil {
			return nil, err
		}
	}
	at := int(no-w.first) * f.page
	return w.bytes[at : at+f.usable : at+f.usable], nil
}

// fill reads so many pages into a window.
func (f *File) fill(w *window, no uint32, pages int) error {
	n := pages * f.page
	if cap(w.bytes) < n {
		w.bytes = make([]byte, n)
	}
	w.first, w.bytes = no, w.bytes[:n]
	if got, err := f.r.ReadAt(w.bytes, int64(no-1)*int64(f.page)); got < n {
		w.bytes = w.bytes[:0]
		return fmt.Errorf("page %d: %w", no, err)
	}
	return nil
}

// Table is a table with row ids.
type Table struct {
	f    *File
	root uint32
	// SQL is the statement that made it.
	SQL string
}

// The columns of the table of tables (section 2.6, "Storage Of The SQL Database Schema").
const (
	schemaType = iota
	schemaName
	schemaTableName
	schemaRoot
	schemaSQL
	schemaColumns
)

// ErrNoTable says that there is no table of a name.
var ErrNoTable = errors.New("there is no such table")

// Table finds a table by its name, as it was written when it was made.
func (f *File) Table(name string) (*Table, error) {
	var found *Table
	rows := (&Table{f: f, root: 1}).Rows()
	var fs [schemaColumns]Field
	for rows.Next() {
		if err := rows.Fields(fs[:]); err != nil {
			return nil, err
		}
		if kind, err := rows.Text(fs[schemaType]); err != nil || kind != "table" {
			if err != nil {
				return nil, err
			}
			continue
		}
		its, err := rows.Text(fs[schemaName])
		if err != nil {
			return nil, err
		}
		if its != name {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("there are two tables %s", name)
		}
		if found, err = f.table(rows, &fs); err != nil {
			return nil, fmt.Errorf("table %s: %w", name, err)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if found == nil {
		return nil, fmt.Errorf("table %s: %w", name, ErrNoTable)
	}
	return found, nil
}

// table reads where a table begins.
func (f *File) table(rows *Rows, fs *[schemaColumns]Field) (*Table, error) {
	root, err := rows.Int(fs[schemaRoot])
	if err != nil {
		return nil, err
	}
	if root < 2 || root > int64(f.pages) {
		return nil, fmt.Errorf("page %d cannot be its root", root)
	}
	sql, err := rows.Text(fs[schemaSQL])
	return &Table{f: f, root: uint32(root), SQL: sql}, err
}
