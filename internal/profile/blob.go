package profile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"unsafe"

	"github.com/klauspost/compress/zlib"
)

// A blob is one byte that says how the rest is packed, then the payload.
const (
	packNone = 0
	packZlib = 1
)

const (
	maxDeflate = 1032 // deflate makes nothing smaller than this ratio
	packFrom   = 256  // shorter payloads are stored as they are
)

// A budget is how many bytes an instance, or the packed tables together, may still take in memory.
// What is asked for is taken off before it is allocated, so that no size that a file states makes
// lime use more than the file can stand for.
type budget struct{ left, all int64 }

// What an instance may take: a multiple of its file's size, and what the counts of a small file
// that packs well need. With the garbage of two such, which the collector lets lie, it stays within
// 20 times the size and 200 MB.
const (
	budgetRatio = 10
	budgetBase  = 90 << 20
)

func newBudget(size int64) *budget {
	all := min(size, math.MaxInt64/(2*budgetRatio))*budgetRatio + budgetBase
	return &budget{all, all}
}

// take asks for n things of so many bytes each.
func (b *budget) take(n, each int64) error {
	if n > b.left/each {
		return fmt.Errorf("it would take more memory than a file of this size is given (%d MB)", b.all>>20)
	}
	b.left -= n * each
	return nil
}

// packer packs payloads, one after the other.
type packer struct {
	w       *zlib.Writer
	buf     bytes.Buffer
	payload []byte // of the blob at hand
}

// pack returns the blob of a payload; nil for an empty one.
func (p *packer) pack(payload []byte) []byte {
	if len(payload) == 0 {
		return nil
	}
	if len(payload) >= packFrom {
		if z := p.deflate(payload); len(z) < len(payload) {
			return append([]byte{packZlib}, z...)
		}
	}
	return append([]byte{packNone}, payload...)
}

func (p *packer) deflate(payload []byte) []byte {
	p.buf.Reset()
	if p.w == nil {
		p.w, _ = zlib.NewWriterLevel(&p.buf, 3) // a valid level gives no error
	} else {
		p.w.Reset(&p.buf)
	}
	p.w.Write(payload) // a bytes.Buffer gives no error
	p.w.Close()
	return p.buf.Bytes()
}

// unpack returns a blob's payload.
func unpack(blob []byte, room *budget) ([]byte, error) {
	if len(blob) == 0 {
		return nil, nil
	}
	switch blob[0] {
	case packNone:
		return blob[1:], nil
	case packZlib:
		return inflate(blob[1:], room)
	}
	return nil, fmt.Errorf("packing %d is unknown", blob[0])
}

// payloadCost is what a byte of a payload takes while it is read into a buffer that grows.
const payloadCost = 2

func inflate(z []byte, room *budget) ([]byte, error) {
	r, err := zlib.NewReader(bytes.NewReader(z))
	if err != nil {
		return nil, fmt.Errorf("packed data: %w", err)
	}
	limit := min(int64(len(z))*maxDeflate+64, room.left/payloadCost)
	out, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("packed data: %w", err)
	}
	if int64(len(out)) > limit {
		return nil, fmt.Errorf("packed data holds more than %d bytes, which is more than a file of this size is given", limit)
	}
	return out, room.take(int64(len(out)), payloadCost)
}

// appendMatrix appends a sorted sparse matrix: the number of rows; for each row
// its distance from the row before (less one) and its number of cells; then for all
// cells the parts (as distances, less one, within the row); then the values (the first of a row
// plain, the others as zigzag difference from the one before).
func appendMatrix(b []byte, m []Count) []byte {
	if len(m) == 0 {
		return b
	}
	rows := splitRows(m)
	b = binary.AppendUvarint(b, uint64(len(rows)))
	last := int32(-1)
	for _, r := range rows {
		b = binary.AppendUvarint(b, uint64(r[0].Row-last-1))
		b = binary.AppendUvarint(b, uint64(len(r)))
		last = r[0].Row
	}
	for _, r := range rows {
		part := int32(-1)
		for _, c := range r {
			b = binary.AppendUvarint(b, uint64(c.Part-part-1))
			part = c.Part
		}
	}
	for _, r := range rows {
		b = binary.AppendUvarint(b, r[0].N)
		for i := 1; i < len(r); i++ {
			b = binary.AppendVarint(b, int64(r[i].N-r[i-1].N))
		}
	}
	return b
}

func splitRows(m []Count) [][]Count {
	var rows [][]Count
	for i := 0; i < len(m); {
		j := i + 1
		for j < len(m) && m[j].Row == m[i].Row {
			j++
		}
		rows = append(rows, m[i:j])
		i = j
	}
	return rows
}

var errShort = errors.New("data end too early")

// decoder reads numbers from a payload; the first error stays.
type decoder struct {
	b    []byte
	err  error
	room *budget
}

// take is room for n things of so many bytes.
func (d *decoder) take(n int, each uintptr) bool {
	if err := d.room.take(int64(n), int64(each)); err != nil {
		d.fail(err)
	}
	return d.err == nil
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
	d.b = nil
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail(errShort)
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) varint() int64 {
	v := d.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// count reads a number of things that take at least one byte each.
func (d *decoder) count() int {
	v := d.uvarint()
	if v > uint64(len(d.b)) {
		d.fail(errShort)
		return 0
	}
	return int(v)
}

// step reads a distance and returns last + 1 + distance, which must be under limit.
func (d *decoder) step(last int32, limit int, what string) int32 {
	v := d.uvarint()
	if d.err == nil && v >= uint64(limit-int(last)-1) {
		d.fail(fmt.Errorf("%s %d is out of range (there are %d)", what, uint64(last)+1+v, limit))
		return last
	}
	return last + 1 + int32(v)
}

func (d *decoder) end() error {
	if d.err == nil && len(d.b) > 0 {
		return fmt.Errorf("%d bytes too many", len(d.b))
	}
	return d.err
}

// parseMatrix reads a matrix with row ids under rows and parts under parts.
func parseMatrix(payload []byte, rows, parts int, room *budget) ([]Count, error) {
	if len(payload) == 0 {
		return nil, nil
	}
	d := &decoder{b: payload, room: room}
	ends, m := d.shape(rows, parts)
	d.cells(m, ends, parts)
	return m, d.end()
}

// rowCost is what a row takes beside its cells: its id, and its end in a slice that grows.
const rowCost = 4 + 2*8

// shape reads the rows; ends holds the end of each row in the cells.
func (d *decoder) shape(rows, parts int) (ends []int, m []Count) {
	n := d.count()
	if n > rows {
		d.fail(fmt.Errorf("%d rows of %d", n, rows))
	}
	if !d.take(n, rowCost) {
		return nil, nil
	}
	ids := make([]int32, 0, n)
	last, total := int32(-1), 0
	for range n {
		last = d.step(last, rows, "row")
		c := d.uvarint()
		if d.err == nil && (c == 0 || c > uint64(parts)) {
			d.fail(fmt.Errorf("row %d has %d cells for %d parts", last, c, parts))
		}
		if d.err != nil {
			return nil, nil
		}
		total += int(c)
		ids, ends = append(ids, last), append(ends, total)
	}
	if total > len(d.b)/2 {
		d.fail(errShort)
		return nil, nil
	}
	if !d.take(total, unsafe.Sizeof(Count{})) {
		return nil, nil
	}
	return ends, fillRows(ids, ends, total)
}

func fillRows(ids []int32, ends []int, total int) []Count {
	m := make([]Count, total)
	i := 0
	for r, end := range ends {
		for ; i < end; i++ {
			m[i].Row = ids[r]
		}
	}
	return m
}

func (d *decoder) cells(m []Count, ends []int, parts int) {
	i := 0
	for _, end := range ends {
		part := int32(-1)
		for ; i < end; i++ {
			part = d.step(part, parts, "part")
			m[i].Part = part
		}
	}
	i = 0
	for _, end := range ends {
		v := d.uvarint()
		m[i].N = v
		for i++; i < end; i++ {
			v += uint64(d.varint())
			m[i].N = v
		}
	}
}
