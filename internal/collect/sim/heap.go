// The memory that the program has allocated, and where it asked for it.

package sim

import (
	"slices"
	"sort"

	"lime/internal/collect/image"
	"lime/internal/engine"
)

// allocator is a function that hands out memory, or takes it back.
type allocator struct {
	name   string
	size   []int // numbers of the arguments whose product is the size; none: it hands out nothing
	out    int   // argument that points to where the address goes; none: it is the result
	free   int   // argument that is taken back; none
	source string
}

// allocators is the table of what lime knows by name. Those of C++ and Rust call malloc, but it is
// their caller who wants the memory.
func allocators() []allocator {
	const itanium, rust = "Itanium C++ ABI; C++17, 21.6.2", "alloc::alloc, Rust 1.70"
	const posix, glibc = "POSIX.1-2017, System Interfaces", "glibc manual, Memory Allocation; Memory-mapped I/O"
	one := []int{0}
	table := []allocator{
		{"malloc", one, none, none, "C17, 7.22.3.4"},
		{"calloc", []int{0, 1}, none, none, "C17, 7.22.3.2"},
		{"realloc", []int{1}, none, 0, "C17, 7.22.3.5"},
		{"reallocarray", []int{1, 2}, none, 0, glibc},
		{"aligned_alloc", []int{1}, none, none, "C17, 7.22.3.1"},
		{"memalign", []int{1}, none, none, glibc},
		{"posix_memalign", []int{2}, 0, none, posix},
		{"valloc", one, none, none, glibc},
		{"free", nil, none, 0, "C17, 7.22.3.3"},
		{"mmap", []int{1}, none, none, posix},
		{"mmap64", []int{1}, none, none, glibc},
		{"munmap", nil, none, 0, posix},
		{"__rust_alloc", one, none, none, rust},
		{"__rust_alloc_zeroed", one, none, none, rust},
		{"__rust_realloc", []int{3}, none, 0, rust},
	}
	for _, name := range []string{"_Znwm", "_Znam"} { // operator new, new[]
		for _, with := range []string{"", "RKSt9nothrow_t", "St11align_val_t", "St11align_val_tRKSt9nothrow_t"} {
			table = append(table, allocator{name + with, one, none, none, itanium})
		}
	}
	return table
}

// heapBook knows the blocks that the program holds, by where they were asked for.
type heapBook struct {
	eng    *engine.Engine
	places *places
	images *images
	blocks *blockIndex
	names  map[string]*allocator
	at     map[uint64]*allocator // by address of the function
	probes map[uint64]bool
	small  map[uint64]block // by address
	starts map[uint64]int   // by number of largeBlock bytes: how many blocks of small start there
	large  []block          // by address, in order
	open   map[*thread]*allocation
	calls  map[uint64]*caller // by return address
}

// caller is a place that calls an allocator.
type caller struct {
	own   bool
	site  uint64 // of the call
	walks int    // how often the stack was walked, if it is not the program's own
}

// block is memory that was handed out.
type block struct{ addr, size, site uint64 }

// allocation is an open call of an allocator.
type allocation struct {
	ret, rsp uint64
	size     uint64
	out      uint64
}

// largeBlock is the size from which blocks stand in order; shorter ones are found by trying the
// addresses before.
const (
	largeBlock = 4096
	blockAlign = 16 // of what malloc hands out on x86-64
)

func newHeap() *heapBook {
	h := &heapBook{
		names: map[string]*allocator{}, at: map[uint64]*allocator{}, probes: map[uint64]bool{},
		small: map[uint64]block{}, starts: map[uint64]int{}, open: map[*thread]*allocation{}, calls: map[uint64]*caller{},
	}
	table := allocators()
	for i := range table {
		h.names[table[i].name] = &table[i]
	}
	return h
}

// mapped looks for allocators in an image.
func (h *heapBook) mapped(im *image.File) {
	entries(im, func(name string, at uint64) {
		if a := h.names[name]; a != nil && h.at[at] == nil {
			h.at[at] = a
			h.setProbe(at)
		}
	})
}

func (h *heapBook) setProbe(at uint64) {
	if !h.probes[at] {
		h.probes[at] = true
		h.eng.SetProbe(at)
	}
}

// probe handles a thread at a probe of the heap's.
func (h *heapBook) probe(t *thread) {
	pc, sp := t.ctx.RIP, t.ctx.GPR[rsp]
	o := h.open[t]
	if o != nil && o.rsp < sp { // it has returned, or was left behind by an exception or a longjmp
		delete(h.open, t)
		if o.ret == pc {
			h.returned(t, o)
		}
		o = nil
	}
	if a := h.at[pc]; a != nil && o == nil { // what an allocator asks for itself is its own affair
		h.entered(t, a)
	}
}

func (h *heapBook) entered(t *thread, a *allocator) {
	if a.free != none {
		h.drop(argument(t, a.free))
	}
	if len(a.size) == 0 {
		return
	}
	sp := t.ctx.GPR[rsp]
	ret, _ := h.places.word(sp)
	o := &allocation{ret: ret, rsp: sp, size: 1}
	for _, n := range a.size {
		o.size *= argument(t, n)
	}
	if a.out != none {
		o.out = argument(t, a.out)
	}
	h.open[t] = o
	h.setProbe(ret)
}

func (h *heapBook) returned(t *thread, o *allocation) {
	addr := t.ctx.GPR[rax]
	if o.out != 0 {
		addr, _ = h.places.word(o.out)
	}
	if addr == 0 || int64(addr) < 0 { // mmap fails with -1
		return
	}
	h.keep(block{addr, o.size, h.site(t, o)})
}

// maxWalks is how often the stack is walked for calls that return to one place of a library.
const maxWalks = 4096

// site is the program's own call that led to the allocation.
func (h *heapBook) site(t *thread, o *allocation) uint64 {
	c := h.calls[o.ret]
	if c == nil {
		c = &caller{own: h.images.own(o.ret - 1), site: h.blocks.callBefore(o.ret)}
		h.calls[o.ret] = c
	}
	if !c.own && c.walks < maxWalks {
		c.walks++
		if f := h.places.ownReturn(h.places.stack(t)); f != nil {
			return h.blocks.callBefore(f.ret)
		}
	}
	return c.site
}

func (h *heapBook) keep(b block) {
	if b.size < largeBlock && b.addr%blockAlign == 0 {
		if _, ok := h.small[b.addr]; !ok {
			h.starts[b.addr/largeBlock]++
		}
		h.small[b.addr] = b
		return
	}
	i := sort.Search(len(h.large), func(i int) bool { return h.large[i].addr >= b.addr })
	if i < len(h.large) && h.large[i].addr == b.addr {
		h.large[i] = b
		return
	}
	h.large = slices.Insert(h.large, i, b)
}

func (h *heapBook) drop(addr uint64) {
	if _, ok := h.small[addr]; ok {
		delete(h.small, addr)
		if h.starts[addr/largeBlock]--; h.starts[addr/largeBlock] == 0 {
			delete(h.starts, addr/largeBlock)
		}
	}
	i := sort.Search(len(h.large), func(i int) bool { return h.large[i].addr >= addr })
	if i < len(h.large) && h.large[i].addr == addr {
		h.large = slices.Delete(h.large, i, i+1)
	}
}

// maxBefore is how many blocks before an address are tried: others may lie between it and the start
// of its arena.
const maxBefore = 64

// find returns the block that holds an address. A block inside another, as an arena's, comes first.
func (h *heapBook) find(addr uint64) (block, bool) {
	for at := addr &^ (blockAlign - 1); at+largeBlock > addr && at > 0; at -= blockAlign {
		if h.starts[at/largeBlock] == 0 {
			at &^= largeBlock - 1
			continue
		}
		if b, ok := h.small[at]; ok {
			if addr < b.addr+b.size {
				return b, true
			}
			break
		}
	}
	i := sort.Search(len(h.large), func(i int) bool { return h.large[i].addr > addr }) - 1
	for least := i - maxBefore; i >= 0 && i > least; i-- {
		if b := h.large[i]; addr < b.addr+b.size {
			return b, true
		}
	}
	return block{}, false
}
