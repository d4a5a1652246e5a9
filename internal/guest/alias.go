package guest

import (
	"golang.org/x/sys/unix"
)

// The same memory may lie in several places: maps of one file, of one object of shared memory,
// duplicates made by mremap. Code that is written in one place and run in another must be known as
// changed.

// fileID names a file, or an object of shared memory, behind mappings.
type fileID struct{ dev, ino uint64 }

func (f *mappedFile) id() fileID { return fileID{f.dev, f.ino} }

// sharedMemoryDev is the device of shared memory without a name, as the kernel shows it (00:01).
const sharedMemoryDev = 1

// newShared names a new object of shared memory: MAP_SHARED without a file, or of /dev/zero.
func (s *space) newShared() *mappedFile {
	s.shared++
	return &mappedFile{path: "/dev/zero (deleted)", dev: sharedMemoryDev, ino: s.shared}
}

// Twin is a writable place that shows the same memory as another: what lies in [Lo, Hi) lies from
// At on, too.
type Twin struct {
	Lo, Hi, At uint64
	Exec       bool
}

// index lists what the two questions below are about, when the mappings have changed.
func (t *mapTable) index() {
	if t.indexed {
		return
	}
	t.indexed, t.writers, t.codeFiles = true, t.writers[:0], map[fileID]bool{}
	for _, m := range t.rows {
		if m.file == nil {
			continue
		}
		if m.shared && m.prot&unix.PROT_WRITE != 0 {
			t.writers = append(t.writers, m)
		}
		if m.prot&unix.PROT_EXEC != 0 {
			t.codeFiles[m.file.id()] = true
		}
	}
}

// hasCode says that a file is mapped as code.
func (t *mapTable) hasCode(f fileID) bool {
	t.index()
	return t.codeFiles[f]
}

// same is the part of o, in o's addresses, that shows what m shows.
func (m mapping) same(o mapping) (mapping, bool) {
	if m.file == nil || o.file == nil || m.file.id() != o.file.id() {
		return mapping{}, false
	}
	lo, hi := max(m.off, o.off), min(m.off+m.hi-m.lo, o.off+o.hi-o.lo)
	if lo >= hi {
		return mapping{}, false
	}
	return o.sub(o.lo+lo-o.off, o.lo+hi-o.off), true
}

// twins are the other places where what lies in m may be written.
func (t *mapTable) twins(m mapping) (out []Twin) {
	if m.file == nil {
		return nil
	}
	t.index()
	for _, w := range t.writers {
		if part, ok := m.same(w); ok && w.lo != m.lo {
			lo := m.lo + part.off - m.off
			out = append(out, Twin{Lo: lo, Hi: lo + part.hi - part.lo, At: part.lo, Exec: w.prot&unix.PROT_EXEC != 0})
		}
	}
	return out
}

// changed tells the engine that memory is about to be mapped, unmapped, written or to get other
// rights. Code may have lain there, or elsewhere with the same memory, or will lie there.
func (s *space) changed(lo, hi uint64, prot int) {
	tell := prot&unix.PROT_EXEC != 0
	for _, m := range s.maps.overlap(lo, hi) {
		tell = tell || m.holdsCode()
	}
	if tell && s.invalidate != nil {
		s.invalidate(lo, hi)
	}
}

// holdsCode says that code may lie in the mapping, or be written there.
func (m mapping) holdsCode() bool {
	return m.prot&unix.PROT_EXEC != 0 || m.shared && m.file != nil
}

// madeWritable tells the engine of code that may be written through a new mapping, or one with new
// rights.
func (s *space) madeWritable(lo, hi uint64) {
	for _, m := range s.maps.overlap(lo, hi) {
		if m.shared && m.file != nil && m.prot&unix.PROT_WRITE != 0 {
			s.forgetCode(m)
		}
	}
}

// forgetCode tells the engine that what m shows has changed, or may from now on, wherever it is
// run.
func (s *space) forgetCode(m mapping) {
	if s.invalidate == nil || m.file == nil || !s.maps.hasCode(m.file.id()) {
		return
	}
	for _, x := range s.maps.rows {
		if part, ok := m.same(x); ok && x.prot&unix.PROT_EXEC != 0 {
			s.invalidate(part.lo, part.hi)
		}
	}
}

// fileWritten is told that a file was written to: it may be mapped as code.
func (p *Process) fileWritten(fd int) {
	if p.files.kind(fd) != kindFile {
		return
	}
	if f := p.files.id(fd); p.mem.maps.hasCode(f) {
		p.mem.forgetCode(mapping{hi: 1 << 62, file: &mappedFile{dev: f.dev, ino: f.ino}})
	}
}
