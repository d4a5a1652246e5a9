package guest

import "golang.org/x/sys/unix"

// This file chooses where mappings lie: where Linux puts them without randomisation (setarch -R),
// as far as lime's own needs let it. Addresses agree with the native ones in their low bits
// (alike), which is all that a cache's index looks at. Code lies elsewhere than natively, since the
// engine wants it low; the places that it would have are kept free (ghosts), so that everything
// else lies as far apart as it does natively.

const (
	alike    = 1<<28 - 1        // the bits in which addresses agree with the native ones
	hugePage = 2 << 20          // of transparent huge pages
	pieBase  = 0x5555_5555_4000 // ELF_ET_DYN_BASE: where a PIE program lies natively
	mmapGap  = 128 << 20        // least distance from the end of the main thread's stack to the maps below it
	guardGap = 256 * pageSize   // that the kernel keeps free below a stack
)

// ghost is a range in which natively something lies that the guest has elsewhere.
type ghost struct {
	lo, hi uint64
	at     uint64 // where the guest has what is natively at lo; 0: nowhere
}

// want is what a new mapping wants of its place.
type want struct {
	n, hint uint64
	low     bool   // it may hold code
	huge    bool   // if possible, on the boundary of a huge page shall lie
	off     uint64 // this file offset
}

// wantOf is what the kernel would look at for a mapping of n bytes. Since Linux 6.7 it places large
// anonymous mappings at the boundary of a huge page, since 6.12, which we follow, only those that
// are whole huge pages: no thread stacks with their guards. Mapped files are placed by their file
// system: ext4, xfs and btrfs align what holds a huge page (5.18).
func wantOf(n, hint uint64, flags, fd int, off uint64) want {
	w := want{n: n, hint: hint, off: off}
	switch {
	case fd >= 0:
		first := (off + hugePage - 1) &^ (hugePage - 1)
		w.huge = off+n >= first+hugePage && onDisk(fd)
	default:
		w.huge = flags&unix.MAP_TYPE == unix.MAP_PRIVATE && hint == 0 && n%hugePage == 0
	}
	return w
}

// movedWant is what a mapping wants that mremap moves.
func movedWant(m mapping, n uint64, low bool) want {
	return want{n: n, low: low, huge: m.file == nil && !m.shared && n%hugePage == 0}
}

// onDisk says that a file is neither a device nor memory.
func onDisk(fd int) bool {
	var st unix.Stat_t
	var fs unix.Statfs_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG &&
		unix.Fstatfs(fd, &fs) == nil && fs.Type != unix.TMPFS_MAGIC && fs.Type != unix.HUGETLBFS_MAGIC
}

// mmapTop is where maps begin below a stack of the given limit: mmap_base in arch/x86/mm/mmap.c.
func (l Layout) mmapTop(stackLimit uint64) uint64 {
	return l.HighHi - pageSize - max(mmapGap, pageUp(stackLimit+guardGap))
}

// pick chooses a free place, 0 if there is none.
func (s *space) pick(w want) uint64 {
	if hint := pageDown(w.hint); hint != 0 && hint+w.n > hint && s.hintable(hint, hint+w.n, w.low) {
		return hint
	}
	at := s.native(w)
	if !w.low {
		return at
	}
	return s.pickLow(at, w.n, pageSize)
}

// native is the place that the kernel would choose.
func (s *space) native(w want) uint64 {
	if w.huge {
		if at := s.gap(w.n + hugePage); at != 0 {
			if sub := (w.off - at) & (hugePage - 1); sub != 0 {
				return at + sub
			}
			return at + hugePage
		}
	}
	return s.gap(w.n)
}

// gap is the highest place for n bytes that is free natively.
func (s *space) gap(n uint64) uint64 {
	lo, hi := s.layout.HighLo+brkRoom, s.mmapHi
	for {
		at := s.maps.gapBelow(lo, hi, n, pageSize)
		if at == 0 {
			return 0
		}
		if hi = s.haunted(at, at+n); hi == 0 {
			return at
		}
	}
}

// haunted is where the first ghost in [lo, hi) begins, 0 if there is none.
func (s *space) haunted(lo, hi uint64) uint64 {
	first := hi
	for _, g := range s.ghosts {
		if g.lo < hi && lo < g.hi {
			first = min(first, g.lo)
		}
	}
	if first == hi {
		return 0
	}
	return first
}

// free says that nothing lies in [lo, hi), natively either.
func (s *space) free(lo, hi uint64) bool {
	return len(s.maps.overlap(lo, hi)) == 0 && s.haunted(lo, hi) == 0
}

// pickLow chooses a place for code that natively lies at an address (0: that is not known), and
// remembers that one as taken.
func (s *space) pickLow(native, n, align uint64) uint64 {
	at := s.lowLike(native, n, align)
	if at == 0 {
		at = s.maps.gapBelow(s.layout.LowLo, s.layout.LowHi, n, align)
	}
	if at != 0 && native != 0 {
		s.ghosts = append(s.ghosts, ghost{native, native + n, at})
	}
	return at
}

// lowLike is the highest free low place alike to a native one.
func (s *space) lowLike(native, n, align uint64) uint64 {
	l := s.layout
	for at := l.LowHi&^alike | native&alike; native != 0 && native%align == 0; at -= alike + 1 {
		if at >= l.LowLo && at+n <= l.LowHi && len(s.maps.overlap(at, at+n)) == 0 {
			return at
		}
		if at <= alike {
			break
		}
	}
	return 0
}

// vanish gives the native places back of what lay in [lo, hi).
func (s *space) vanish(lo, hi uint64) {
	if !s.inLow(lo) {
		return
	}
	var left []ghost
	for _, g := range s.ghosts {
		end := g.at + (g.hi - g.lo)
		if g.at == 0 || end <= lo || hi <= g.at {
			left = append(left, g)
			continue
		}
		if g.at < lo {
			left = append(left, ghost{g.lo, g.lo + (lo - g.at), g.at})
		}
		if hi < end {
			left = append(left, ghost{g.lo + (hi - g.at), g.hi, hi})
		}
	}
	s.ghosts = left
}
