// Logical call paths: work that a runtime hands to whichever thread comes first goes on, as far as
// call paths are concerned, where the program gave it away.

package sim

import (
	"math"
	"slices"
)

// lineage is an open call of a logical call path; out leads outwards, nil at the end. No function
// stands in one twice: a call of one that is open already leads back to where that was entered first,
// so that a task which makes another one like it, and so on, does not make the tree grow.
type lineage struct {
	out   *lineage
	ret   uint64 // where the call returns to
	fn    uint64 // the function that made the call
	depth int
}

// base is where what a thread does goes on: up to the stack pointer top its own open calls count,
// around them those of from.
type base struct {
	from *lineage
	top  uint64
}

// wholeStack is the top of who was given nothing.
const wholeStack = math.MaxUint64

// base is the innermost work that t was given and of which it is known where.
func (t *thread) base() base {
	if t.goroutine != nil {
		return base{t.goroutine.made, wholeStack}
	}
	for i := len(t.frames) - 1; i >= 0; i-- {
		if c := &t.frames[i]; c.from != nil {
			return c.base()
		}
	}
	return base{top: wholeStack}
}

// base is that of what is done in a call by which a thread was given work.
func (c *call) base() base { return base{c.from, c.rsp} }

// lineages knows where work was given away that has not begun yet.
type lineages struct {
	memory  *memory
	places  *places
	images  *images
	blocks  *blockIndex
	nodes   map[lineageKey]*lineage
	starts  map[uint64]uint64 // the function that holds a call, by where it returns to
	bodies  map[uint64]*handout
	objects map[uint64]handed // by address
	copying map[uint64]bool   // functions of a runtime's that have been looked at for where they copy
}

type lineageKey struct {
	out *lineage
	ret uint64
}

// handout is what is known of a function in which given work begins.
type handout struct {
	common *lineage // what all have in common that have ever given it away
	object int      // the argument that says which it is
}

// handed is an object of work, by which its function is told what it is to do.
type handed struct {
	body uint64
	from *lineage
	kept bool // more than one task may begin with it; whatever else is to will be told of before
}

func newLineages(r *run) *lineages {
	return &lineages{memory: r.memory, places: r.places, images: r.images, blocks: r.blocks, nodes: map[lineageKey]*lineage{},
		starts: map[uint64]uint64{}, bodies: map[uint64]*handout{}, objects: map[uint64]handed{},
		copying: map[uint64]bool{}}
}

// of is t's logical call path, with the call that leads to the function at whose entry it stands.
func (ln *lineages) of(t *thread) *lineage {
	b := t.base()
	return ln.along(b, ln.places.within(t, b.top))
}

// along is the path of a stack. What nobody has called, as where goroutines return to, is no part of it.
func (ln *lineages) along(b base, stack []frameRef) *lineage {
	at := b.from
	for _, f := range slices.Backward(stack) {
		if _, ok := ln.blocks.endingAt(f.ret); ok && f.cfa <= b.top {
			at = ln.call(at, f.ret)
		}
	}
	return at
}

// mostLineages is how many calls of such paths are told apart; another one counts for its caller.
const mostLineages = 1 << 20

// call is the path of a call that is made at a path.
func (ln *lineages) call(at *lineage, ret uint64) *lineage {
	fn := ln.function(ret)
	for l := at; l != nil; l = l.out {
		if l.fn == fn {
			at = l.out
			break
		}
	}
	key := lineageKey{at, ret}
	l := ln.nodes[key]
	if l == nil {
		if len(ln.nodes) >= mostLineages {
			return at
		}
		l = &lineage{out: at, ret: ret, fn: fn, depth: at.calls() + 1}
		ln.nodes[key] = l
	}
	return l
}

// calls is how many calls a path has.
func (l *lineage) calls() int {
	if l == nil {
		return 0
	}
	return l.depth
}

// function is where the function begins that made a call; the call itself, if that is not known.
func (ln *lineages) function(ret uint64) uint64 {
	fn, ok := ln.starts[ret]
	if !ok {
		if fn = ln.images.start(ret - 1); fn == 0 {
			fn = ret
		}
		ln.starts[ret] = fn
	}
	return fn
}

// meet is what two paths have in common.
func meet(a, b *lineage) *lineage {
	for a != b {
		if a.calls() < b.calls() {
			a, b = b, a
		}
		a = a.out
	}
	return a
}

// gives notes that work which begins in a function is given away at a path; one of its arguments
// says which it is.
func (ln *lineages) gives(body uint64, from *lineage, argument int) {
	h := ln.bodies[body]
	if h == nil {
		h = &handout{common: from, object: argument}
		ln.bodies[body] = h
	}
	h.common = meet(h.common, from)
}

// begins is where the work was given away that t begins, at whose first instruction it stands; as
// much of it as is known.
func (ln *lineages) begins(t *thread) *lineage {
	body := t.ctx.RIP
	h := ln.bodies[body]
	if h == nil {
		return nil
	}
	at := argument(t, h.object)
	x, ok := ln.objects[at]
	if !ok || x.body != body {
		return h.common
	}
	if !x.kept {
		delete(ln.objects, at)
	}
	return x.from
}

// object notes the object of work that is given away.
func (ln *lineages) object(address uint64, x handed, argument int) {
	ln.gives(x.body, x.from, argument)
	ln.objects[address] = x
}

// isCopied: the object does not run, only copies of it do, of which nothing tells from which object
// they come.
func (ln *lineages) isCopied(object uint64) { delete(ln.objects, object) }

// objectOfTask is the argument by which a function of a task is given its object (kmp.h,
// kmp_routine_entry_t).
const objectOfTask = 1
