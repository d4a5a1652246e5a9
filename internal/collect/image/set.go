package image

// All files that are mapped into a program.

import (
	"lime/internal/binfile"
	"lime/internal/unwind"
)

// Set is the files that are mapped, in the order in which they came; where two overlap, the later
// one counts.
type Set struct {
	List []*File
	last *File
}

// Add takes in a file that was mapped.
func (m *Set) Add(f *File) { m.List, m.last = append(m.List, f), nil }

// Forget forgets all files, and closes them.
func (m *Set) Forget() {
	for _, f := range m.List {
		f.Close()
	}
	m.List, m.last = nil, nil
}

// At finds the file that holds an address, nil if none does.
func (m *Set) At(pc uint64) *File {
	if l := m.last; l != nil && pc >= l.Lo && pc < l.Hi {
		return l
	}
	for i := len(m.List) - 1; i >= 0; i-- {
		if f := m.List[i]; pc >= f.Lo && pc < f.Hi {
			m.last = f
			return f
		}
	}
	return nil
}

// Func finds the function that holds an address. The symbol's own address is a link-time one.
func (m *Set) Func(pc uint64) (f *File, s binfile.Symbol, ok bool) {
	if f = m.At(pc); f == nil {
		return nil, s, false
	}
	s, ok = f.Func(pc - f.Bias)
	return f, s, ok
}

// Own reports whether code is the program's own.
func (m *Set) Own(pc uint64) bool {
	f := m.At(pc)
	return f != nil && f.Own(pc-f.Bias)
}

// Unwind is what the stack walker asks for.
func (m *Set) Unwind(pc uint64) (unwind.Image, bool) {
	f := m.At(pc)
	if f == nil {
		return unwind.Image{}, false
	}
	return unwind.Image{Table: f.Frames(), Bias: f.Bias}, true
}
