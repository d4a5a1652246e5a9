package guest

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Layout says where in the address space the guest lies. The bounds of the high region end in zeros
// where addresses are alike.
type Layout struct {
	LowLo, LowHi   uint64 // images and other code; below 2 GB
	HighLo, HighHi uint64 // heap, file maps, stacks
	HintLo, HintHi uint64 // free for maps that a program wants there, not reserved
}

// DefaultLayout keeps clear of lime itself (from 0x70000000 on, as the Makefile links it), its code
// cache (below 0x80000000) and the usual places of the Go heap and of the kernel's own maps.
var DefaultLayout = Layout{
	LowLo: 0x10000, LowHi: 0x6fff0000,
	HighLo: 0x2000_0000_0000, HighHi: 0x2400_0000_0000,
	HintLo: 0x1_0000_0000, HintHi: 0xb0_0000_0000,
}

const (
	brkRoom   = 1 << 40   // kept free for brk, from HighLo on
	stackSize = 64 << 20  // least room for the main thread's stack (touched lazily)
	lowJITMax = 256 << 20 // larger anonymous executable maps go high
)

// space is the guest's address space: guest address = host address.
type space struct {
	layout     Layout
	reserved   [][2]uint64 // the regions that are ours
	maps       mapTable
	brkLo, brk uint64
	mmapHi     uint64 // maps are placed downwards from here
	ghosts     []ghost
	invalidate func(lo, hi uint64)
	shared     uint64 // objects of shared memory without a name, so far
}

// newSpace reserves the guest's ranges.
func newSpace(l Layout, invalidate func(lo, hi uint64)) (*space, error) {
	s := &space{layout: l, invalidate: invalidate, brkLo: l.HighLo, brk: l.HighLo, mmapHi: l.mmapTop(stackLimit())}
	for _, r := range [][2]uint64{{l.LowLo, l.LowHi}, {l.HighLo, l.HighHi}} {
		if err := reserve(r[0], r[1], unix.MAP_FIXED_NOREPLACE); err != nil {
			s.release()
			return nil, err
		}
		s.reserved = append(s.reserved, r)
	}
	return s, nil
}

// reserve takes a range without rights and without memory behind it.
func reserve(lo, hi uint64, how int) error {
	flags := unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_NORESERVE | how
	at, errno := hostMmap(lo, hi-lo, unix.PROT_NONE, flags, -1, 0)
	switch {
	case errno == unix.EEXIST || errno == 0 && at != lo:
		return fmt.Errorf("reserve %#x-%#x: %w", lo, hi, ErrAddressTaken)
	case errno != 0:
		return fmt.Errorf("reserve %#x-%#x of address space: %w (a limit on virtual memory, ulimit -v, must be lifted)", lo, hi, errno)
	}
	return nil
}

// release gives all of the guest's memory back.
func (s *space) release() {
	for _, m := range s.maps.rows {
		hostMunmap(m.lo, m.hi-m.lo)
	}
	for _, r := range s.reserved {
		hostMunmap(r[0], r[1]-r[0])
	}
	s.maps, s.reserved = mapTable{}, nil
}

// inside says that the range lies wholly in one of the reserved regions.
func (s *space) inside(lo, hi uint64) bool {
	l := s.layout
	return lo >= l.LowLo && hi <= l.LowHi || lo >= l.HighLo && hi <= l.HighHi
}

// room makes sure that the range may be mapped over: reserved, or the guest's
// own, or nobody's.
func (s *space) room(lo, hi uint64) unix.Errno {
	if hi <= lo {
		return unix.EINVAL
	}
	if s.inside(lo, hi) || s.maps.covered(lo, hi) {
		return 0
	}
	if lo < pageSize {
		return unix.EPERM
	}
	for at := lo; at < hi; { // take the holes that nobody has
		if m, ok := s.maps.find(at); ok {
			at = m.hi
			continue
		}
		end := hi
		if i := s.maps.first(at); i < len(s.maps.rows) {
			end = min(end, s.maps.rows[i].lo)
		}
		if !s.inside(at, end) && reserve(at, end, unix.MAP_FIXED_NOREPLACE) != nil {
			return unix.ENOMEM
		}
		at = end
	}
	return 0
}

// hintable says that a map may lie where a program hints: code generators ask for places near
// the program's own code, others for addresses that are short.
func (s *space) hintable(lo, hi uint64, low bool) bool {
	l := s.layout
	if low && lo >= l.LowHi {
		return false
	}
	ours := s.inside(lo, hi) && (hi <= l.HighLo || lo >= l.HighLo+brkRoom)
	if !ours && (lo < l.HintLo || hi > l.HintHi) {
		return false
	}
	return len(s.maps.overlap(lo, hi)) == 0 && s.room(lo, hi) == 0
}

// mapAt maps at a chosen address and notes it.
func (s *space) mapAt(m mapping, flags, fd int) unix.Errno {
	flags = flags&^(unix.MAP_32BIT|unix.MAP_FIXED_NOREPLACE|unix.MAP_GROWSDOWN) | unix.MAP_FIXED
	s.changed(m.lo, m.hi, m.prot)
	if _, errno := hostMmap(m.lo, m.hi-m.lo, m.prot, flags, fd, m.off); errno != 0 {
		return errno
	}
	s.maps.set(m)
	s.madeWritable(m.lo, m.hi)
	return 0
}

// unmap takes pages away; the addresses stay reserved.
func (s *space) unmap(lo, hi uint64) unix.Errno {
	for _, m := range s.maps.overlap(lo, hi) {
		s.changed(m.lo, m.hi, 0)
		if s.inside(m.lo, m.hi) {
			if err := reserve(m.lo, m.hi, unix.MAP_FIXED); err != nil {
				return unix.ENOMEM
			}
			continue
		}
		hostMunmap(m.lo, m.hi-m.lo)
	}
	s.maps.remove(lo, hi)
	s.vanish(lo, hi)
	return 0
}

// protect changes rights.
func (s *space) protect(lo, hi uint64, prot int) unix.Errno {
	if !s.maps.covered(lo, hi) {
		return unix.ENOMEM
	}
	s.changed(lo, hi, prot)
	if errno := hostMprotect(lo, hi-lo, prot); errno != 0 {
		return errno
	}
	s.maps.protect(lo, hi, prot)
	s.madeWritable(lo, hi)
	return 0
}

// startHeap puts the empty heap where it is alike to the native one.
func (s *space) startHeap(native uint64) {
	s.brkLo = s.layout.HighLo + pageUp(native)&alike
	s.brk = s.brkLo
}

// setBrk moves the end of the heap and answers where it is.
func (s *space) setBrk(to uint64) uint64 {
	if to < s.brkLo || to > s.layout.HighLo+brkRoom {
		return s.brk
	}
	old, now := pageUp(s.brk), pageUp(to)
	switch {
	case now > old:
		m := mapping{lo: old, hi: now, prot: unix.PROT_READ | unix.PROT_WRITE, name: "[heap]"}
		if s.mapAt(m, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS, -1) != 0 {
			return s.brk
		}
	case now < old:
		s.unmap(now, old)
	}
	s.brk = to
	return to
}

// resize is mremap.
func (s *space) resize(old, oldLen, newLen uint64, flags int, to uint64) (uint64, unix.Errno) {
	oldLen, newLen = pageUp(oldLen), pageUp(newLen)
	m, ok := s.maps.find(old)
	if old%pageSize != 0 || newLen == 0 {
		return 0, unix.EINVAL
	}
	if !ok || !s.maps.covered(old, old+max(oldLen, pageSize)) {
		return 0, unix.EFAULT
	}
	if flags&unix.MREMAP_FIXED == 0 && flags&unix.MREMAP_DONTUNMAP == 0 {
		if newLen <= oldLen && oldLen != 0 {
			return old, s.unmap(old+newLen, old+oldLen)
		}
		if s.growInPlace(m, old, oldLen, newLen) {
			return old, 0
		}
		if flags&unix.MREMAP_MAYMOVE == 0 {
			return 0, unix.ENOMEM
		}
	}
	return s.move(m, old, oldLen, newLen, flags, to)
}

// growInPlace extends a mapping over the free addresses behind it.
func (s *space) growInPlace(m mapping, old, oldLen, newLen uint64) bool {
	end := old + newLen
	if oldLen == 0 || m.hi < old+oldLen || !s.inside(old, end) || !s.free(old+oldLen, end) || m.name == "[heap]" {
		return false
	}
	s.changed(old, old+oldLen, 0) // rights of the engine's own would part it
	hostMunmap(old+oldLen, newLen-oldLen)
	if _, errno := hostMremap(old, oldLen, newLen, 0, 0); errno != 0 {
		_ = reserve(old+oldLen, end, unix.MAP_FIXED)
		return false
	}
	s.maps.set(grown(m, old, old, newLen))
	s.madeWritable(old, end)
	return true
}

// grown is m from address from on, placed at to with length n.
func grown(m mapping, from, to, n uint64) mapping {
	m = m.sub(from, m.hi)
	m.lo, m.hi = to, to+n
	return m
}

// move is mremap to another address.
func (s *space) move(m mapping, old, oldLen, newLen uint64, flags int, to uint64) (uint64, unix.Errno) {
	if flags&unix.MREMAP_FIXED == 0 {
		to = s.pick(movedWant(m, newLen, s.inLow(old)))
	} else if errno := s.room(to, to+newLen); errno != 0 {
		return 0, errno
	}
	if to == 0 {
		return 0, unix.ENOMEM
	}
	s.changed(old, old+oldLen, m.prot)
	s.changed(to, to+newLen, m.prot)
	if _, errno := hostMremap(old, oldLen, newLen, flags|unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED, to); errno != 0 {
		return 0, errno
	}
	s.maps.set(grown(m, old, to, newLen))
	s.madeWritable(to, to+newLen)
	if flags&unix.MREMAP_DONTUNMAP == 0 && oldLen != 0 {
		s.maps.remove(old, old+oldLen)
		s.vanish(old, old+oldLen)
		if s.inside(old, old+oldLen) {
			_ = reserve(old, old+oldLen, unix.MAP_FIXED)
		}
	}
	return to, 0
}

func (s *space) inLow(a uint64) bool { return a < s.layout.LowHi }
