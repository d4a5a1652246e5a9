// The index of a profile's parts in a file that is mapped: what nobody looks at takes no memory.

package view

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"syscall"
	"unsafe"
)

// keptIndex is the name of the index's file in a store; its number changes with its format.
const keptIndex = "index-2"

// keptHeader ends the file, as much of it is known last: what is small, and how long the arrays are
// that lie before it: cells by lane, longest times and last threads by section, and the tiles of the
// levels.
type keptHeader struct {
	From     uint64        `json:"from"`
	To       uint64        `json:"to"`
	Parts    int           `json:"parts"`
	Lanes    []keptLane    `json:"lanes"`
	Sections []keptSection `json:"sections"`
	Levels   int           `json:"levels"`
}

type keptLane struct {
	Parts int    `json:"n"`
	Reach uint64 `json:"reach"`
	Until uint64 `json:"until"`
}

type keptSection struct {
	Instances int     `json:"n"`
	Threads   []int32 `json:"threads"`
}

const (
	keptMagic = "limeidx2"
	keptFront = 64 // bytes before the first array, a line of the cache: magic, and nothing
	keptEnd   = 16 // length and checksum of the header, magic
)

// front is what the file begins with.
func front() []byte { return append([]byte(keptMagic), make([]byte, keptFront-len(keptMagic))...) }

// raw is an array's memory.
func raw[T any](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}

// write writes an index that is in memory.
func (x *index) write(to io.Writer) error {
	w := bufio.NewWriterSize(to, 1<<20)
	w.Write(front()) // a bufio.Writer keeps its first error for Flush
	for i := range x.lanes {
		w.Write(raw(x.lanes[i].cells))
	}
	return cmp.Or(x.writeRest(w), w.Flush())
}

// writeRest writes what follows the cells.
func (x *index) writeRest(w *bufio.Writer) error {
	h := keptHeader{From: x.from, To: x.to, Parts: x.parts, Levels: len(x.levels)}
	for i := range x.lanes {
		l := &x.lanes[i]
		h.Lanes = append(h.Lanes, keptLane{len(l.cells), l.reach, l.until})
	}
	for i := range x.sections {
		h.Sections = append(h.Sections, keptSection{len(x.sections[i].longest), x.sections[i].threads})
		w.Write(raw(x.sections[i].longest))
		w.Write(raw(x.sections[i].last))
	}
	for _, level := range x.levels {
		for _, tile := range level {
			w.Write(tile)
		}
	}
	head, err := json.Marshal(h)
	if err != nil {
		return err
	}
	w.Write(head)
	end := binary.LittleEndian.AppendUint32(nil, uint32(len(head)))
	end = binary.LittleEndian.AppendUint32(end, crc32.ChecksumIEEE(head))
	w.Write(append(end, keptMagic...))
	return w.Flush()
}

// mapped reads an index that was kept. It stays mapped as long as lime runs: answers look into it.
func mapped(path string) (*index, error) {
	b, err := mapFile(path)
	if err != nil {
		return nil, err
	}
	x, err := parseIndex(b)
	if err != nil {
		_ = syscall.Munmap(b)
		return nil, err
	}
	x.file = b
	return x, nil
}

// mapFile maps a file of an index, of which there may be no more than the cells.
func mapFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < keptFront || info.Size() > 1<<40 {
		return nil, errors.New("no index of parts")
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("the index of parts: %w", err)
	}
	return b, nil
}

// faultAround is how many bytes about one that is read Linux maps at most, if it has them in memory
// (fault_around_bytes).
const faultAround = 64 << 10

// drop gives back what lanes take of the memory while their index is mapped: they are read again
// from the file, or from what the system still has of it. Whoever has looked through lanes calls it,
// so that no more than what is being looked through is in memory.
func (x *index) drop(lanes []lane) {
	if x.file == nil {
		return
	}
	for i := range lanes {
		if l := &lanes[i]; len(l.cells) > 0 {
			first, past := l.place-faultAround, l.place+len(raw(l.cells))+faultAround
			_ = syscall.Madvise(x.file[max(0, first)&^(os.Getpagesize()-1):min(past, len(x.file))], syscall.MADV_DONTNEED)
		}
	}
}

var errIndex = errors.New("the index of parts is not as it was written")

// parseIndex finds the arrays in the file's bytes.
func parseIndex(b []byte) (*index, error) {
	if len(b) < keptFront+keptEnd || !bytes.Equal(b[:keptFront], front()) || string(b[len(b)-len(keptMagic):]) != keptMagic {
		return nil, errIndex
	}
	rest, end := b[keptFront:len(b)-keptEnd], b[len(b)-keptEnd:]
	size, sum := int64(binary.LittleEndian.Uint32(end)), binary.LittleEndian.Uint32(end[4:])
	if size > int64(len(rest)) {
		return nil, errIndex
	}
	head := rest[int64(len(rest))-size:]
	rest = rest[:int64(len(rest))-size]
	var h keptHeader
	if crc32.ChecksumIEEE(head) != sum || json.Unmarshal(head, &h) != nil {
		return nil, errIndex
	}
	x := &index{from: h.From, to: h.To, parts: h.Parts, lanes: make([]lane, len(h.Lanes)), sections: make([]sectionIndex, len(h.Sections))}
	ok, at := true, keptFront
	for i, l := range h.Lanes {
		x.lanes[i] = lane{array[cell](&rest, l.Parts, &ok), at, l.Reach, l.Until}
		at += len(raw(x.lanes[i].cells))
	}
	for i, s := range h.Sections {
		x.sections[i] = sectionIndex{s.Threads, array[float32](&rest, s.Instances, &ok), array[int32](&rest, s.Instances, &ok)}
	}
	for z := range h.Levels {
		var level [][]byte
		for range 1 << z {
			for b := range x.bands() {
				level = append(level, array[byte](&rest, len(x.band(b))*spanCells*int(states), &ok))
			}
		}
		x.levels = append(x.levels, level)
	}
	if !ok || len(rest) != 0 {
		return nil, errIndex
	}
	return x, nil
}

// array takes n values from the front of the bytes.
func array[T any](b *[]byte, n int, ok *bool) []T {
	var one T
	size := int(unsafe.Sizeof(one))
	if n < 0 || n > len(*b)/size {
		*ok = false
		return nil
	}
	if n == 0 {
		return nil
	}
	v := unsafe.Slice((*T)(unsafe.Pointer(&(*b)[0])), n)
	*b = (*b)[n*size:]
	return v
}
