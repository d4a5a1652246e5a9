// A row: its payload, on its page and on those that it overflows to, and its fields.

package btree

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Kind is what a field holds.
type Kind uint8

// The kinds.
const (
	Null Kind = iota
	Int
	Float
	Text
	Blob
)

// Field is a column of a row: what it holds, and where.
type Field struct {
	Kind Kind
	Size int64 // bytes of it in the file
	at   int64 // in the payload
	code uint64
}

// Serial types (section 2.1, "Record Format"): from firstBytes on, the even ones are blobs and the
// odd ones text.
const (
	codeNull, codeFloat, codeZero, codeOne = 0, 7, 8, 9

	firstBytes = 12
)

// intSizes is by serial type how many bytes an integer takes.
var intSizes = [...]int64{1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, codeZero: 0, codeOne: 0}

// A leaf's cell has so many bytes of its page at most, and so many at least when the rest overflows
// (section 1.6, "B-tree Cell Format"): X and M there, of the usable size.
func (f *File) mostLocal() int64  { return int64(f.usable - 35) }
func (f *File) leastLocal() int64 { return int64((f.usable-12)*32/255 - 23) }

// row is the one at hand.
type row struct {
	// ID is the row's id. A column that is its alias is Null.
	ID       int64
	file     *File
	page     uint32
	size     int64  // of the payload
	local    []byte // what of it stands on the leaf
	whole    []byte // local and what was read of the rest
	gathered bool   // whole holds something
	next     uint32 // the page with what follows
	chain    window
}

// take reads a leaf's cell.
func (r *row) take(f *File, page uint32, b []byte) error {
	size, n := varint(b)
	id, m := varint(b[n:])
	if n == 0 || m == 0 || size > uint64(f.pages)*uint64(f.page) {
		return fmt.Errorf("page %d: a row of %d bytes, or cut short", page, size)
	}
	b = b[n+m:]
	r.file, r.page, r.ID, r.size, r.next, r.gathered = f, page, int64(id), int64(size), 0, false
	local := r.size
	if local > f.mostLocal() {
		least := f.leastLocal()
		if local = least + (local-least)%int64(f.usable-4); local > f.mostLocal() {
			local = least
		}
		if int64(len(b)) < local+4 {
			return fmt.Errorf("page %d: row %d is cut short", page, r.ID)
		}
		r.next = binary.BigEndian.Uint32(b[local:])
	}
	if int64(len(b)) < local {
		return fmt.Errorf("page %d: row %d is cut short", page, r.ID)
	}
	r.local = b[:local:local]
	return nil
}

// payload returns the payload, of at least its first n bytes.
func (r *row) payload(n int64) ([]byte, error) {
	if n > r.size {
		return nil, fmt.Errorf("page %d: row %d is %d bytes long, not %d", r.page, r.ID, r.size, n)
	}
	if n <= int64(len(r.local)) {
		return r.local, nil
	}
	if !r.gathered {
		r.whole, r.gathered = append(r.whole[:0], r.local...), true
	}
	for int64(len(r.whole)) < n {
		b, err := r.file.load(&r.chain, r.next)
		if err != nil {
			return nil, fmt.Errorf("page %d: row %d: what follows: %w", r.page, r.ID, err)
		}
		r.next = binary.BigEndian.Uint32(b)
		b = b[4:]
		r.whole = append(r.whole, b[:min(int64(len(b)), r.size-int64(len(r.whole)))]...)
	}
	return r.whole, nil
}

// Fields fills in the first columns of the row. Those that it does not have are Null.
func (r *row) Fields(to []Field) error {
	b, err := r.payload(min(r.size, 9))
	if err != nil {
		return err
	}
	head, used := varint(b)
	if used == 0 || head < uint64(used) || head > uint64(r.size) {
		return fmt.Errorf("page %d: row %d has a header of %d bytes", r.page, r.ID, head)
	}
	if b, err = r.payload(int64(head)); err != nil {
		return err
	}
	b = b[used:head]
	at := int64(head)
	for i := range to {
		if len(b) == 0 {
			to[i] = Field{}
			continue
		}
		code, n := varint(b)
		f, ok := field(code, at)
		if n == 0 || !ok || f.Size > r.size-at {
			return fmt.Errorf("page %d: row %d: column %d (%d) does not fit", r.page, r.ID, i, code)
		}
		to[i], at, b = f, at+f.Size, b[n:]
	}
	return nil
}

// field is what a serial type says.
func field(code uint64, at int64) (Field, bool) {
	f := Field{code: code, at: at}
	switch {
	case code == codeNull:
	case code == codeFloat:
		f.Kind, f.Size = Float, 8
	case code < uint64(len(intSizes)):
		f.Kind, f.Size = Int, intSizes[code]
	case code < firstBytes || code > math.MaxInt64: // what is reserved, or no length
		return f, false
	case code%2 == 0:
		f.Kind, f.Size = Blob, int64(code-firstBytes)/2
	default:
		f.Kind, f.Size = Text, int64(code-firstBytes-1)/2
	}
	return f, true
}

// bytes returns a field's bytes.
func (r *row) bytes(f Field) ([]byte, error) {
	b, err := r.payload(f.at + f.Size)
	if err != nil {
		return nil, err
	}
	return b[f.at : f.at+f.Size : f.at+f.Size], nil
}

func (r *row) wrong(f Field, want string) error {
	return fmt.Errorf("page %d: row %d: a field of kind %d where %s is wanted", r.page, r.ID, f.Kind, want)
}

// Int returns an integer.
func (r *row) Int(f Field) (int64, error) {
	if f.Kind != Int {
		return 0, r.wrong(f, "an integer")
	}
	if f.code == codeZero || f.code == codeOne {
		return int64(f.code - codeZero), nil
	}
	b, err := r.bytes(f)
	if err != nil {
		return 0, err
	}
	v := int64(int8(b[0])) // the sign stands in front
	for _, c := range b[1:] {
		v = v<<8 | int64(c)
	}
	return v, nil
}

// Float returns a floating-point number. SQLite may keep a whole one as an integer.
func (r *row) Float(f Field) (float64, error) {
	if f.Kind == Int {
		v, err := r.Int(f)
		return float64(v), err
	}
	if f.Kind != Float {
		return 0, r.wrong(f, "a number")
	}
	b, err := r.bytes(f)
	if err != nil {
		return 0, err
	}
	return math.Float64frombits(binary.BigEndian.Uint64(b)), nil
}

// Text returns a text.
func (r *row) Text(f Field) (string, error) {
	if f.Kind != Text {
		return "", r.wrong(f, "text")
	}
	b, err := r.bytes(f)
	return string(b), err
}

// Bytes returns a blob, nil for Null, good until the next row is at hand.
func (r *row) Bytes(f Field) ([]byte, error) {
	if f.Kind == Null {
		return nil, nil
	}
	if f.Kind != Blob {
		return nil, r.wrong(f, "a blob")
	}
	return r.bytes(f)
}
