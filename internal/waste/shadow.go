package waste

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"
)

// The shadow of memory. Every aligned word of four bytes has a cell for stores, shared by all
// threads, and one for loads in every thread. A cell is the context that was last there, for all
// four bytes, or says that they differ: then each byte has a word of its own. 0 says that nothing is
// known. Every line has a tag: which thread has cells for loads there.
//
// All of it lies at addresses that follow from the program's by an addition, which is the same for
// a whole chunk of memory, so that generated code finds it by a look into a table. Of what is not
// touched nothing but addresses is used.

const (
	// ChunkShift is the binary logarithm of a chunk's bytes.
	ChunkShift = 28
	// LineShift is that of a line's.
	LineShift = 6
	spaceBits = 47 // of a program's addresses
	cellBytes = 4
	lineBytes = 1 << LineShift
	tagBytes  = 2
)

// Marks in a cell.
const (
	Mixed = 1 << 31 // its bytes differ
	Fresh = 1 << 30 // of stores: nobody has loaded it since
	who   = Fresh - 1
)

// Tags of lines. Those of threads are their numbers and one.
const (
	nobody = 0
	// Several is the tag of lines that several threads have loaded on.
	Several = 1<<16 - 1
)

// Chunk says where the shadow of a chunk lies: what is to be added to the address of a cell's first
// byte for its cell, to four times that address for its bytes' words, to twice the line's number for
// its tag, and to eight times that number for the word of who has touched it. All nil: it has none.
type Chunk struct {
	Cells, Bytes, Tags, Touches uintptr
}

// ChunkSize is the size of a Chunk.
const ChunkSize = unsafe.Sizeof(Chunk{})

// table is the shadow of one purpose, by chunk.
type table struct {
	rows []Chunk
	tags bool
}

// memory is what was mapped outside the Go heap.
type memory [][]byte

// take maps n bytes that are used as far as they are touched.
func (m *memory) take(n int) (unsafe.Pointer, error) {
	mem, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("the shadow of memory: %d MB of addresses: %w (a limit on virtual memory, ulimit -v, must be lifted)",
			n>>20, err)
	}
	*m = append(*m, mem)
	return unsafe.Pointer(&mem[0]), nil
}

func (m *memory) free() error {
	var err error
	for _, mem := range *m {
		err = errors.Join(err, syscall.Munmap(mem))
	}
	*m = nil
	return err
}

func (m *memory) newTable(tags bool) (*table, error) {
	const n = 1 << (spaceBits - ChunkShift)
	at, err := m.take(n * int(ChunkSize))
	if err != nil {
		return nil, err
	}
	return &table{rows: unsafe.Slice((*Chunk)(at), n), tags: tags}, nil
}

// at is the chunk of an address; nil if it can have none.
func (t *table) at(addr uint64) *Chunk {
	if i := addr >> ChunkShift; i < uint64(len(t.rows)) {
		return &t.rows[i]
	}
	return nil
}

// apart is by how much the cells for loads lie differently in their pages than those for stores: a
// processor takes a load for one of what was stored just before if their addresses are alike in the
// lowest 12 bits (4-kilobyte aliasing, Intel's optimisation manual).
const apart = 2048

// make gives the chunk of an address its shadow.
func (t *table) make(m *memory, addr uint64) error {
	row := t.at(addr)
	if row == nil || row.Cells != 0 {
		return nil
	}
	const (
		chunk = 1 << ChunkShift
		bytes = chunk
		tags  = bytes + cellBytes*chunk
		touch = tags + tagBytes*chunk/lineBytes
		end   = touch + touchBytes*chunk/lineBytes
	)
	size, skew := tags+apart, uintptr(apart)
	if t.tags {
		size, skew = end, 0
	}
	p, err := m.take(size)
	if err != nil {
		return err
	}
	base, from := uintptr(p)+skew, uintptr(addr&^(chunk-1))
	*row = Chunk{
		Cells:   base - from,
		Bytes:   base + bytes - cellBytes*from,
		Tags:    base + tags - tagBytes*(from>>LineShift),
		Touches: base + touch - touchBytes*(from>>LineShift),
	}
	return nil
}

// mapped turns an address outside the Go heap into a pointer.
func mapped(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

func (c *Chunk) cell(addr uint64) *uint32 {
	return (*uint32)(mapped(c.Cells + uintptr(addr&^(cellBytes-1))))
}

// bytes are the words of the bytes of a mixed cell.
func (c *Chunk) bytes(addr uint64) *[cellBytes]uint32 {
	return (*[cellBytes]uint32)(mapped(c.Bytes + cellBytes*uintptr(addr&^(cellBytes-1))))
}

func (c *Chunk) tag(addr uint64) *uint16 {
	return (*uint16)(mapped(c.Tags + tagBytes*uintptr(addr>>LineShift)))
}

func (c *Chunk) touch(addr uint64) *uint64 {
	return (*uint64)(mapped(c.Touches + touchBytes*uintptr(addr>>LineShift)))
}

// of is what is known of one byte.
func (c *Chunk) of(addr uint64) uint32 {
	if x := *c.cell(addr); x&Mixed == 0 {
		return x
	}
	return c.bytes(addr)[addr%cellBytes]
}

// part is some bytes of one cell.
type part struct {
	addr uint64
	n    uint32
}

// parts cuts a range by cells.
func parts(addr, n uint64, use func(p part)) {
	for end := addr + n; addr < end; {
		k := min(cellBytes-addr%cellBytes, end-addr)
		use(part{addr, uint32(k)})
		addr += k
	}
}

// put sets what is known of bytes of a cell.
func (c *Chunk) put(p part, x uint32) {
	cell := c.cell(p.addr)
	if p.n == cellBytes {
		*cell = x
		return
	}
	words := c.bytes(p.addr)
	if old := *cell; old == x {
		return
	} else if old&Mixed == 0 {
		*words = [cellBytes]uint32{old, old, old, old}
		*cell = Mixed
	}
	first := uint32(p.addr % cellBytes)
	for i := first; i < first+p.n; i++ {
		words[i] = x
	}
	if *words == ([cellBytes]uint32{x, x, x, x}) {
		*cell = x
	}
}

// uniform is what is known of bytes of a cell, if it is the same of all.
func (c *Chunk) uniform(p part) (x uint32, ok bool) {
	if x = *c.cell(p.addr); x&Mixed == 0 {
		return x, true
	}
	words, first := c.bytes(p.addr), uint32(p.addr%cellBytes)
	for i := first + 1; i < first+p.n; i++ {
		if words[i] != words[first] {
			return 0, false
		}
	}
	return words[first], true
}

// each passes what is known of bytes of a cell, byte by byte unless it is the same of all.
func (c *Chunk) each(p part, use func(p part, x uint32)) {
	if x, ok := c.uniform(p); ok {
		use(p, x)
		return
	}
	for i := range uint64(p.n) {
		use(part{p.addr + i, 1}, c.of(p.addr+i))
	}
}
