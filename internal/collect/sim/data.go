// What data an address is, and what data instructions miss on.

package sim

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"lime/internal/collect/image"
	"lime/internal/cpu"
	"lime/internal/guest"
	"lime/internal/machine"
)

// dataFinder says what data an address is, and remembers what instructions miss on.
type dataFinder struct {
	memory *memory
	images *images
	roster *roster
	heap   *heapBook // nil: nobody asks
	data   *dataBook // with a machine: what its instructions miss on
	tls    tlsBook
}

// place is a piece of the program's memory as people know it: a variable, what was allocated at a
// line, a stack.
type place struct {
	kind  placeKind
	name  string
	site  uint64 // placeHeap: the call that asked for it
	owner int    // placeStack, placeTLS: the thread, or ownThread
}

type placeKind uint8

const (
	placeUnknown placeKind = iota
	placeSymbol
	placeHeap
	placeStack
	placeTLS
	placeImage
)

const ownThread = -1 // the thread that has the miss

// votes counts what an instruction misses on.
type votes struct {
	list []vote
	all  int

	behind, conflicts int // of them, behind the first level; of those, conflicts
}

type vote struct {
	place
	n      int
	lo, hi uint64 // offsets
}

// maxPlaces is how many places are told apart at an instruction.
const maxPlaces = 16

func (v *votes) add(p place, offset uint64) {
	v.all++
	for i := range v.list {
		if c := &v.list[i]; c.place == p {
			c.n++
			c.lo, c.hi = min(c.lo, offset), max(c.hi, offset)
			return
		}
	}
	if len(v.list) < maxPlaces {
		v.list = append(v.list, vote{p, 1, offset, offset})
	}
}

// words names the place that most of the misses are on, and the next one, if together they are
// most. An address follows "at".
func (v *votes) words() string {
	order := slices.Clone(v.list)
	slices.SortStableFunc(order, func(a, b vote) int { return cmp.Compare(b.n, a.n) })
	var words []string
	n := 0
	for i := range order[:min(len(order), 2)] {
		if w := order[i].words(); w != "" && 5*order[i].n >= v.all {
			words = append(words, w)
			n += order[i].n
		}
	}
	if 2*n < v.all {
		return ""
	}
	return strings.Join(words, " and ")
}

func (v *vote) words() string {
	span := fmt.Sprintf("+%#x", v.lo)
	if v.hi > v.lo {
		span += fmt.Sprintf(" to +%#x", v.hi)
	}
	switch v.kind {
	case placeSymbol:
		return v.name + span
	case placeHeap:
		return fmt.Sprintf("memory allocated at %#x", v.site)
	case placeStack, placeTLS:
		what := map[placeKind]string{placeStack: "stack", placeTLS: "thread-local data"}[v.kind]
		if v.owner == ownThread {
			return "the thread's own " + what
		}
		return fmt.Sprintf("the %s of thread %d", what, v.owner)
	case placeImage:
		return "data of " + v.name
	}
	return ""
}

// dataBook says what data the instructions miss on, by address of the instruction.
type dataBook struct {
	missed, fought, against map[uint64]*votes
}

func newDataBook() *dataBook {
	return &dataBook{missed: map[uint64]*votes{}, fought: map[uint64]*votes{}, against: map[uint64]*votes{}}
}

func count(m map[uint64]*votes, pc uint64) *votes {
	if m[pc] == nil {
		m[pc] = &votes{}
	}
	return m[pc]
}

// sampled takes an access that missed.
func (f *dataFinder) sampled(ctx *cpu.Context, s machine.Sample, pc uint64) {
	t := f.roster.byCtx[ctx]
	if t == nil {
		return
	}
	p, offset := f.placeOf(t, s.Addr)
	if !s.Contended {
		v := count(f.data.missed, pc)
		v.add(p, offset)
		if s.Behind {
			v.behind++
		}
		if s.Conflict {
			v.conflicts++
		}
		return
	}
	count(f.data.fought, pc).add(p, offset)
	if s.Other != 0 {
		count(f.data.against, pc).add(f.placeOf(t, s.Other))
	}
}

// conflicted says whether most misses behind the first level are conflicts.
func (v *votes) conflicted() bool { return v != nil && v.conflicts > 0 && 2*v.conflicts >= v.behind }

// placeOf says what an address is to thread t, and how far into it.
func (f *dataFinder) placeOf(t *thread, addr uint64) (place, uint64) {
	if im := f.images.at(addr); im != nil {
		if s, ok := im.Variable(addr - im.Bias); ok {
			return place{kind: placeSymbol, name: s.Name}, addr - im.Bias - s.Addr
		}
		return place{kind: placeImage, name: filepath.Base(im.Path)}, addr - im.Lo
	}
	if p, ok := f.threadPlace(t, addr); ok {
		return p, 0
	}
	if f.heap == nil {
		return place{}, 0
	}
	if b, ok := f.heap.find(addr); ok {
		return place{kind: placeHeap, site: b.site}, addr - b.addr
	}
	return place{}, 0
}

// controlBlock is how long a thread's control block is at most, which begins where FS points:
// struct pthread of glibc has 2,304 bytes, musl's 200. Nothing that a program stores to follows it.
const controlBlock = 4 << 10

// tlsBook is how much thread-local data lies below a thread's control block.
type tlsBook struct {
	images int // that have been looked at
	size   uint64
}

// room adds what images have brought since: each module's data ends where that of the one before
// begins, rounded to its alignment (ELF Handling For Thread-Local Storage, 3.4.6, variant II). A
// library that dlopen loads may have its data elsewhere; then stack slots are called thread-local,
// no more of them than it has data.
func (x *tlsBook) room(list []*image.File) uint64 {
	for ; x.images < len(list); x.images++ {
		bin := list[x.images].Bin
		if bin == nil {
			continue
		}
		if tls := bin.TLS; tls.Size > 0 && tls.Size < 1<<30 {
			align := max(tls.Align, 1)
			x.size = (x.size + tls.Size + align - 1) / align * align
		}
	}
	return x.size
}

// threadPlace finds the thread in whose stack an address lies: its own first, then that of any
// other.
func (f *dataFinder) threadPlace(t *thread, addr uint64) (place, bool) {
	m, ok := f.memory.proc.Mapping(addr)
	if !ok {
		return place{}, false
	}
	for _, other := range append([]*thread{t}, f.roster.threads...) {
		if other.gone || other.ctx == nil {
			continue
		}
		owner := int(other.id)
		if other == t {
			owner = ownThread
		}
		if f.inControlBlock(other, addr) {
			return place{kind: placeTLS, owner: owner}, true
		}
		if f.onStack(other, &m, addr) {
			return place{kind: placeStack, owner: owner}, true
		}
	}
	return place{}, false
}

// inControlBlock reports whether an address is in a thread's control block, or in the data below it.
func (f *dataFinder) inControlBlock(t *thread, addr uint64) bool {
	fs := t.ctx.FSBase
	return f.hasControlBlock(fs) && addr+f.tls.room(f.images.List) >= fs && addr < fs+controlBlock
}

// hasControlBlock reports whether FS points to a control block, whose first word is its own address
// (ELF Handling For Thread-Local Storage, 3.4.6). Go without C has a few words of its heap there.
func (f *dataFinder) hasControlBlock(fs uint64) bool {
	self, ok := f.memory.word(fs)
	return ok && fs != 0 && self == fs
}

// onStack reports whether an address of mapping m is on a thread's stack. The stacks of goroutines
// lie in Go's heap: the descriptor of each begins with where. Other stacks are mappings: the one
// that the kernel made, or one that has the thread's control block, and ends there: what comes next
// in memory was mapped before, and is one mapping with it. Where else a stack pointer points, a heap
// may be.
func (f *dataFinder) onStack(t *thread, m *guest.Mapped, addr uint64) bool {
	if g := t.acting().goroutine; g != nil {
		lo, _ := f.memory.word(g.g)
		hi, ok := f.memory.word(g.g + 8)
		return ok && addr >= lo && addr < hi
	}
	sp, fs := t.ctx.GPR[rsp], t.ctx.FSBase
	if sp < m.Lo || sp >= m.Hi {
		return false
	}
	return m.File == "[stack]" || f.hasControlBlock(fs) && sp < fs && fs < m.Hi && addr <= fs
}
