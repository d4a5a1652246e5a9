package guest

import "golang.org/x/sys/unix"

// Calls by which the host writes to guest memory, at which code may lie, or the guest writes to
// memory as to a file.

// fills does a call by which the host writes to a buffer: argument at, n bytes.
func fills(at, n int, do func(*call) int64) func(*call) int64 {
	return func(c *call) int64 {
		c.p.mem.written(c.a[at], c.a[n])
		return do(c)
	}
}

// fillsVector is the same with an iovec of n parts.
func fillsVector(at, n int, do func(*call) int64) func(*call) int64 {
	return func(c *call) int64 {
		c.p.mem.eachPart(c.a[at], c.a[n], c.p.mem.written)
		return do(c)
	}
}

// fillsMessages is the same with struct msghdr (recvmsg), or, if n is not 0, n of them in struct
// mmsghdr.
func fillsMessages(n int, do func(*call) int64) func(*call) int64 {
	const sizeofMmsghdr = 64
	return func(c *call) int64 {
		count := uint64(1)
		if n != 0 {
			count = min(c.a[n], maxParts)
		}
		for i := range count {
			iov, _ := c.p.mem.load64(c.a[1] + sizeofMmsghdr*i + 16)
			parts, _ := c.p.mem.load64(c.a[1] + sizeofMmsghdr*i + 24)
			c.p.mem.eachPart(iov, parts, c.p.mem.written)
		}
		return do(c)
	}
}

// maxParts is the kernel's limit on the parts of an iovec (UIO_MAXIOV).
const maxParts = 1024

// eachPart calls f for the parts of an iovec.
func (s *space) eachPart(iov, n uint64, f func(at, size uint64)) {
	for i := range min(n, maxParts) {
		at, _ := s.load64(iov + 16*i)
		size, ok := s.load64(iov + 16*i + 8)
		if !ok {
			return
		}
		f(at, size)
	}
}

// written tells the engine that [a, a+n) is about to be written by somebody else than the program's
// own code.
func (s *space) written(a, n uint64) {
	for end := a + n; a < end; {
		m, ok := s.maps.find(a)
		if !ok {
			return
		}
		if m.prot&unix.PROT_WRITE != 0 && m.holdsCode() && s.invalidate != nil {
			s.invalidate(pageDown(a), pageUp(min(end, m.hi)))
		}
		a = m.hi
	}
}

// sysVMWritev writes to the memory of a process, its own perhaps.
func sysVMWritev(c *call) int64 {
	if c.p.own(int(int32(c.a[0]))) {
		c.p.mem.eachPart(c.a[3], c.a[4], c.p.mem.written)
	}
	return ownID(0)(c)
}

// writesFile does a call that writes to the file of descriptor argument i.
func writesFile(i int, do func(*call) int64) func(*call) int64 {
	return func(c *call) int64 {
		r := do(c)
		if r >= 0 {
			c.p.fileWritten(int(int32(c.a[i])))
		}
		return r
	}
}

// here is the place of an offset argument that a call does not have.
const here = -1

// writesBytes does a call that writes a buffer to a file, at the offset in argument off;
// writesVector with an iovec.
func writesBytes(off int, do func(*call) int64) func(*call) int64 {
	return writesAt(off, func(c *call) uint64 { return c.a[2] }, do)
}

func writesVector(off int, do func(*call) int64) func(*call) int64 {
	return writesAt(off, func(c *call) (sum uint64) {
		c.p.mem.eachPart(c.a[1], c.a[2], func(_, size uint64) { sum += size })
		return sum
	}, do)
}

func writesAt(off int, n func(*call) uint64, do func(*call) int64) func(*call) int64 {
	do = writesFile(0, do)
	return func(c *call) int64 {
		if c.p.files.kind(c.fd()) == kindMemory {
			at, _ := unix.Seek(c.fd(), 0, unix.SEEK_CUR)
			if off != here && int64(c.a[off]) != -1 {
				at = int64(c.a[off])
			}
			if !c.p.mem.writtenFile(uint64(at), n(c)) {
				return errRes(unix.EIO)
			}
		}
		return do(c)
	}
}

// writtenFile is told of a write to memory by way of /proc/self/mem, which rights do not stop. It
// answers false where the memory is not the guest's.
func (s *space) writtenFile(a, n uint64) bool {
	if a+n < a || !s.maps.covered(a, a+n) {
		return n == 0
	}
	for _, m := range s.maps.overlap(a, a+n) {
		if s.invalidate != nil {
			s.invalidate(pageDown(m.lo), pageUp(m.hi))
		}
		if m.shared {
			s.forgetCode(m)
		}
	}
	return true
}
