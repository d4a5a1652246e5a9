package perf

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ring is the buffer that the kernel writes an event's records to (perf_event_open(2), "MMAP
// layout").
type ring struct {
	fd   int
	file *os.File // owns fd
	mem  []byte
	meta *unix.PerfEventMmapPage
	data []byte
	copy []byte // a record that wraps around the end
}

// mostPages is the largest ring tried when the caller does not say.
const mostPages = 1024

// newRing maps a ring of at most pages pages (0: mostPages), the largest that the limit on locked
// memory allows.
func newRing(fd, pages int) (*ring, error) {
	try := pages
	if try == 0 {
		try = mostPages
	}
	size := os.Getpagesize()
	for {
		mem, err := unix.Mmap(fd, 0, (1+try)*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err == nil {
			return &ring{fd: fd, mem: mem, meta: (*unix.PerfEventMmapPage)(unsafe.Pointer(&mem[0])), data: mem[size:]}, nil
		}
		if try == 1 || !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOMEM) {
			return nil, fmt.Errorf("map a perf ring of %d pages (limit: kernel.perf_event_mlock_kb, ulimit -l): %w", try, err)
		}
		try /= 2
	}
}

func (r *ring) close() {
	_ = unix.Munmap(r.mem) // nothing can be done about it
	_ = r.file.Close()
}

// drain decodes what the kernel has written and gives the room back.
func (r *ring) drain(dec *Decoder, rec *Record, visit func(*Record)) error {
	head := atomic.LoadUint64(&r.meta.Data_head) // orders the reads of the data after it
	tail := r.meta.Data_tail
	var failed error
	for tail < head && failed == nil {
		b := r.record(tail, head)
		n, err := dec.Decode(b, rec)
		if n == 0 {
			tail = head // lost the thread: start again behind what is there
			failed = err
			break
		}
		if err != nil {
			failed = err
		} else {
			visit(rec)
		}
		tail += uint64(n)
	}
	atomic.StoreUint64(&r.meta.Data_tail, tail)
	return failed
}

// record returns the bytes from position tail on, made contiguous where the record wraps around.
func (r *ring) record(tail, head uint64) []byte {
	size := uint64(len(r.data))
	at := tail % size
	whole := min(head-tail, size)
	if at+whole <= size {
		return r.data[at : at+whole]
	}
	length := uint64(0)
	if at+headerSize <= size {
		length = uint64(r.data[at+6]) | uint64(r.data[at+7])<<8
	}
	if length >= headerSize && at+length <= size {
		return r.data[at : at+length]
	}
	n := min(whole, 1<<16)
	first := min(n, size-at)
	r.copy = append(append(r.copy[:0], r.data[at:at+first]...), r.data[:n-first]...)
	return r.copy
}
