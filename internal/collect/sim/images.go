// The files that are mapped into the program, by run-time addresses.

package sim

import (
	"strings"

	"lime/internal/binfile"
	"lime/internal/collect/image"
	"lime/internal/collect/known"
	"lime/internal/guest"
)

type images struct{ image.Set }

// add takes in a newly mapped file.
func (m *images) add(g guest.Image) *image.File {
	im := image.Open(g.Path)
	im.Lo, im.Hi, im.Bias = g.Lo, g.Hi, g.Bias
	im.Load()
	im.Close() // the program may map a thousand
	m.Add(im)
	return im
}

// entries calls do with the run-time address of every function that a file defines, and its names.
func entries(im *image.File, do func(name string, at uint64)) {
	for _, s := range im.Code() {
		if code := s.Kind == binfile.SymFunc || s.Kind == binfile.SymIFunc; code && s.Addr != 0 {
			name, _, _ := strings.Cut(s.Name, "@") // a version
			do(name, s.Addr+im.Bias)
		}
	}
}

func (m *images) at(pc uint64) *image.File { return m.At(pc) }

// function finds the function that holds a run-time address; its entry is a
// run-time address, 0 if unknown.
func (m *images) function(pc uint64) (name string, entry uint64) {
	if im, s, ok := m.Func(pc); ok {
		return s.Name, s.Addr + im.Bias
	}
	return "", 0
}

// start is where the function begins that holds pc, 0 if that is unknown.
func (m *images) start(pc uint64) uint64 {
	if im := m.At(pc); im != nil {
		if at := im.Start(pc - im.Bias); at != 0 {
			return at + im.Bias
		}
	}
	return 0
}

func (m *images) own(pc uint64) bool { return m.Own(pc) }

// loader takes in what is mapped into the program.
type loader struct {
	memory    *memory
	openCalls *openCalls
	places    *places
	probes    *probes
	heap      *heapBook
	images    *images
	out       *output
	focus     *focus
}

func (l *loader) imageMapped(g guest.Image) {
	im := l.images.add(g)
	l.places.walker.Forget()
	l.out.tables.image(im)
	entries(im, func(name string, at uint64) {
		if f := l.openCalls.meaning(name); f != nil && l.openCalls.entries[at] == nil {
			l.openCalls.entries[at] = f
			l.openCalls.scopes = l.openCalls.scopes || f.Role == known.Through
			l.probes.setProbe(at)
		}
		l.focus.mapped(name, at)
	})
	if l.heap != nil {
		l.heap.mapped(im)
	}
}
