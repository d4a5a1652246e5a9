package guest

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// This file holds all direct access to guest memory, and the host's memory calls.

// pointer turns a guest address, which is no address of Go's, into a pointer.
func pointer(a uint64) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&a)) }

// bytesAt is n bytes of guest memory; the caller has checked the range.
func bytesAt(a, n uint64) []byte { return unsafe.Slice((*byte)(pointer(a)), n) }

// can says that every page of the range has these rights; what is to be written may be code.
func (s *space) can(a, n uint64, prot int) bool {
	if prot&unix.PROT_WRITE != 0 {
		s.written(a, n)
	}
	end := a + n
	if end < a {
		return false
	}
	for a < end {
		m, ok := s.maps.find(a)
		if !ok || m.prot&prot != prot {
			return false
		}
		a = m.hi
	}
	return true
}

// read copies guest memory out, write copies into it.
func (s *space) read(a uint64, b []byte) bool {
	if !s.can(a, uint64(len(b)), unix.PROT_READ) {
		return false
	}
	copy(b, bytesAt(a, uint64(len(b))))
	return true
}

func (s *space) write(a uint64, b []byte) bool {
	if !s.can(a, uint64(len(b)), unix.PROT_WRITE) {
		return false
	}
	copy(bytesAt(a, uint64(len(b))), b)
	return true
}

func (s *space) load32(a uint64) (uint32, bool) {
	if a%4 != 0 || !s.can(a, 4, unix.PROT_READ) {
		return 0, false
	}
	return *(*uint32)(pointer(a)), true
}

func (s *space) store32(a uint64, v uint32) bool {
	if a%4 != 0 || !s.can(a, 4, unix.PROT_WRITE) {
		return false
	}
	*(*uint32)(pointer(a)) = v
	return true
}

// swap32 stores v where old still stands, in one step: threads may run beside each other.
func (s *space) swap32(a uint64, old, v uint32) bool {
	return a%4 == 0 && s.can(a, 4, unix.PROT_WRITE) && atomic.CompareAndSwapUint32((*uint32)(pointer(a)), old, v)
}

// update32 changes a word in one step, and returns what it was.
func (s *space) update32(a uint64, to func(old uint32) uint32) (old uint32, ok bool) {
	for {
		if old, ok = s.load32(a); !ok || !s.can(a, 4, unix.PROT_WRITE) {
			return 0, false
		}
		if s.swap32(a, old, to(old)) {
			return old, true
		}
	}
}

func (s *space) load64(a uint64) (uint64, bool) {
	var b [8]byte
	ok := s.read(a, b[:])
	return le64(b[:]), ok
}

func (s *space) store64(a, v uint64) bool {
	var b [8]byte
	putLE64(b[:], v)
	return s.write(a, b[:])
}

// cString reads a string that ends with a zero byte, of at most limit bytes.
func (s *space) cString(a uint64, limit int) (string, unix.Errno) {
	var out []byte
	for len(out) < limit {
		m, ok := s.maps.find(a)
		if !ok || m.prot&unix.PROT_READ == 0 {
			return "", unix.EFAULT
		}
		n := min(m.hi-a, pageSize-a%pageSize, uint64(limit-len(out)))
		for i, c := range bytesAt(a, n) {
			if c == 0 {
				return string(append(out, bytesAt(a, uint64(i))...)), 0
			}
		}
		out = append(out, bytesAt(a, n)...)
		a += n
	}
	return "", unix.ENAMETOOLONG
}

// strings reads a vector of string pointers that ends with a null pointer.
func (s *space) strings(a uint64) ([]string, unix.Errno) {
	var out []string
	for a != 0 && len(out) < 1<<20 {
		p, ok := s.load64(a)
		if !ok {
			return nil, unix.EFAULT
		}
		if p == 0 {
			break
		}
		str, errno := s.cString(p, 1<<20)
		if errno != 0 {
			return nil, errno
		}
		out, a = append(out, str), a+8
	}
	return out, 0
}

func le64(b []byte) uint64       { return *(*uint64)(unsafe.Pointer(&b[0])) }
func putLE64(b []byte, v uint64) { *(*uint64)(unsafe.Pointer(&b[0])) = v }
func putLE32(b []byte, v uint32) { *(*uint32)(unsafe.Pointer(&b[0])) = v }
func le32(b []byte) uint32       { return *(*uint32)(unsafe.Pointer(&b[0])) }

// hostCall does a system call of the host's, again when a signal of the Go
// runtime's interrupted it.
func hostCall(nr uintptr, a ...uint64) (uint64, unix.Errno) {
	var v [6]uintptr
	for i := range a {
		v[i] = uintptr(a[i])
	}
	for {
		r, _, errno := unix.Syscall6(nr, v[0], v[1], v[2], v[3], v[4], v[5])
		if errno != unix.EINTR {
			return uint64(r), errno
		}
	}
}

func hostMmap(at, n uint64, prot, flags, fd int, off uint64) (uint64, unix.Errno) {
	return hostCall(unix.SYS_MMAP, at, n, uint64(prot), uint64(flags), uint64(int64(fd)), off)
}

func hostMunmap(at, n uint64) { _, _ = hostCall(unix.SYS_MUNMAP, at, n) }

func hostMprotect(at, n uint64, prot int) unix.Errno {
	_, errno := hostCall(unix.SYS_MPROTECT, at, n, uint64(prot))
	return errno
}

func hostMremap(old, oldLen, newLen uint64, flags int, to uint64) (uint64, unix.Errno) {
	return hostCall(unix.SYS_MREMAP, old, oldLen, newLen, uint64(flags), to)
}
