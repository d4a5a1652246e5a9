// The program that a process runs: its code, and the functions of it that are hooked.

package native

import (
	"lime/internal/collect/known"
	"lime/internal/collect/native/hook"
	"lime/internal/profile"
	"lime/internal/section"
	"lime/internal/unit"
)

// program is what is known of the program that a process runs. It may replace itself by another
// one.
type program struct {
	pid     int32
	name    string
	prog    *launched // nil: it ran already
	ring    *hook.Ring
	hooks   *hook.Installed
	golang  bool // it is one of Go's, and its goroutines are watched
	table   []known.Func
	images  *images
	code    *code
	sampler *sampler
}

// sitePath is the call path of a place.
func (p *program) sitePath(s section.Site) int32 {
	at := int32(profile.None)
	for i := len(s.Stack) - 1; i >= 0; i-- {
		at = p.sampler.tree.child(at, p.code.at(uint64(s.Stack[i].Call)).b.id)
	}
	if at == profile.None {
		at = p.sampler.tree.child(at, profile.None)
	}
	return at
}

// watches reports whether waits for other threads are seen: else a futex may be any of them, and is
// no reason of its own.
func (p *program) watches() bool { return p.hooks != nil }

// target is the function that a record tells of, 0 if it is none.
func (p *program) target(function int) uint64 {
	if function < len(p.table) {
		return p.code.definition(p.table[function].Name)
	}
	return p.hooks.Whole(function - len(p.table))
}

func (p *program) frame(ret uint64) section.Frame {
	f := section.Frame{Call: unit.Addr(p.code.callBefore(ret))}
	if _, lo, _, _ := p.code.bounds(ret - 1); lo != 0 {
		f.Func = unit.Addr(lo)
	}
	return f
}

// functionAt names a function, and tells whether an address is its beginning.
func (p *program) functionAt(pc uint64) (name string, begins bool) {
	im, s, ok := p.images.symbol(pc)
	return s.Name, ok && s.Addr+im.Bias == pc
}
