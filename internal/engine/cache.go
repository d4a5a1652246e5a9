package engine

import (
	"encoding/binary"
	"fmt"
	"syscall"
	"unsafe"

	"lime/internal/cpu"
)

// defaultCache and minCache are sizes of the code cache.
const (
	defaultCache = 64 << 20
	minCache     = 4 << 20
)

// retSlots is the size of the table of return addresses, indexed by their low 16 bits.
const retSlots = 1 << 16

// siteSlots is the size of the table of an indirect jump or call.
const siteSlots = 256

// cache is the memory that holds generated code. At its start stands the return
// table, then the tables of indirect sites, then code. All of it lies below 2 GB, so that
// code addresses tables absolutely.
type cache struct {
	mem      []byte
	base     uint64
	tables   uint64 // next free table
	codeLow  uint64 // first address of code
	next     uint64 // next free address of code
	retTable uint64
}

// mapCache maps size bytes somewhere in the range for code caches.
func mapCache(size int) (*cache, error) {
	for at := uint64(cpu.CacheLow); at+uint64(size) <= cpu.CacheHigh; at += 1 << 20 {
		mem, err := mapFixed(at, size)
		if err == nil {
			c := &cache{mem: mem, base: at}
			c.reset()
			return c, nil
		}
		if err != syscall.EEXIST {
			return nil, fmt.Errorf("code cache at %#x: %w", at, err)
		}
	}
	return nil, fmt.Errorf("code cache: %d bytes between %#x and %#x: %w", size, cpu.CacheLow, cpu.CacheHigh, ErrNoRoom)
}

func mapFixed(at uint64, size int) ([]byte, error) {
	const mapFixedNoReplace = 0x100000
	p, _, e := syscall.Syscall6(syscall.SYS_MMAP, uintptr(at), uintptr(size),
		syscall.PROT_READ|syscall.PROT_WRITE|syscall.PROT_EXEC,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE|mapFixedNoReplace, ^uintptr(0), 0)
	if e != 0 {
		return nil, e
	}
	if uint64(p) != at { // a kernel before 4.17 takes the address for a wish
		syscall.Syscall(syscall.SYS_MUNMAP, p, uintptr(size), 0)
		return nil, syscall.EEXIST
	}
	return bytesAt(at, size), nil
}

// bytesAt returns memory outside the Go heap as a slice.
func bytesAt(at uint64, n int) []byte {
	p := uintptr(at)
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&p))), n)
}

func (c *cache) close() error {
	_, _, e := syscall.Syscall(syscall.SYS_MUNMAP, uintptr(c.base), uintptr(len(c.mem)), 0)
	if e != 0 {
		return fmt.Errorf("unmap code cache: %w", e)
	}
	return nil
}

// reset empties the cache.
func (c *cache) reset() {
	c.retTable = c.base
	c.tables = c.base + 8*retSlots
	c.codeLow = c.base + (uint64(len(c.mem))/4)&^4095
	c.next = c.codeLow
}

func (c *cache) end() uint64 { return c.base + uint64(len(c.mem)) }

// room reports whether n bytes of code fit.
func (c *cache) room(n int) bool { return c.next+uint64(n) <= c.end() }

// put appends code that was assembled for c.next.
func (c *cache) put(code []byte) {
	copy(c.mem[c.next-c.base:], code)
	c.next += uint64(len(code))
}

// patch makes the rel32 at address at reach target, by one store: a thread that runs there goes the
// old way or the new one.
func (c *cache) patch(at, target uint64) {
	*(*uint32)(unsafe.Pointer(&c.mem[at-c.base])) = uint32(int64(target) - int64(at) - 4)
}

// setSlot writes an entry of a table, by one store.
func (c *cache) setSlot(at, host uint64) { *(*uint64)(unsafe.Pointer(&c.mem[at-c.base])) = host }

// replace puts another instruction of the same length, five bytes, in the place of one, by one
// store if both lie in one aligned word (translation.alignHead).
func (c *cache) replace(at uint64, code []byte) {
	if at%8 > 3 {
		copy(c.mem[at-c.base:], code)
		return
	}
	var word [8]byte
	first := at - c.base - at%8
	copy(word[:], c.mem[first:])
	copy(word[at%8:], code)
	c.setSlot(at-at%8, binary.LittleEndian.Uint64(word[:]))
}

func (c *cache) slot(at uint64) uint64 { return binary.LittleEndian.Uint64(c.mem[at-c.base:]) }

// tableRoom reports whether a table of n slots fits.
func (c *cache) tableRoom(n int) bool { return c.tables+8*uint64(n) <= c.codeLow }

// table allots a table of n slots that all hold host; 0 if there is no room.
func (c *cache) table(n int, host uint64) uint64 {
	at := c.tables
	if !c.tableRoom(n) {
		return 0
	}
	c.tables += 8 * uint64(n)
	c.fill(at, n, host)
	return at
}

func (c *cache) fill(at uint64, n int, host uint64) {
	for i := 0; i < n; i++ {
		c.setSlot(at+8*uint64(i), host)
	}
}
