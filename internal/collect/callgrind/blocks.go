package callgrind

import (
	"cmp"
	"maps"
	"slices"
)

// maxGap is the longest instruction: code that is further apart does not fall through.
const maxGap = 15

// code is what is known of the program's code, over all threads.
type code struct {
	keys   []Key // of all instructions that ran, by object and address
	info   []*Instr
	counts [][]uint64 // by instruction, then by dump
	at     map[Key]int
	block  []int // by instruction: its block
	blocks []block
	next   []int // by block: the block that follows without a gap in the same function, or -1
}

// block is a run of instructions.
type block struct{ first, last int }

// edge is a way from one block to another; to is -1 for an end.
type edge struct {
	from, to int
	kind     edgeKind
}

type edgeKind uint8

const (
	taken edgeKind = iota
	fall
	jump
	jumpInd
	call
	callInd
	ret
	end
)

// newCode merges the instructions of all dumps and cuts them into blocks.
func newCode(dumps []*Dump) *code {
	c := &code{at: map[Key]int{}}
	seen := map[Key]*Instr{}
	for _, d := range dumps {
		for k, in := range d.Instrs {
			if seen[k] == nil || seen[k].File == "" && in.File != "" {
				seen[k] = in
			}
		}
	}
	c.keys = slices.SortedFunc(maps.Keys(seen), compareKeys)
	for i, k := range c.keys {
		c.at[k] = i
		c.info = append(c.info, seen[k])
		row := make([]uint64, len(dumps))
		for d := range dumps {
			if in := dumps[d].Instrs[k]; in != nil {
				row[d] = in.count()
			}
		}
		c.counts = append(c.counts, row)
	}
	c.cut(dumps)
	return c
}

func compareKeys(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Addr, b.Addr))
}

// cut finds the blocks: they begin where something jumps to or is called, after
// a jump or call, where the function changes, and where the counts do.
func (c *code) cut(dumps []*Dump) {
	begins := make([]bool, len(c.keys)+1)
	mark := func(k Key) {
		if i, ok := c.at[k]; ok {
			begins[i] = true
		}
	}
	for _, d := range dumps {
		for k, in := range d.Instrs {
			for _, j := range in.Jumps {
				mark(Key{k.Object, j.To})
				begins[c.at[k]+1] = true
			}
			for _, call := range in.Calls {
				mark(call.To)
				begins[c.at[k]+1] = true
			}
		}
	}
	c.block = make([]int, len(c.keys))
	for i := range c.keys {
		if i == 0 || begins[i] || !c.follows(i) || !slices.Equal(c.counts[i], c.counts[i-1]) {
			c.blocks = append(c.blocks, block{i, i})
		}
		b := len(c.blocks) - 1
		c.blocks[b].last, c.block[i] = i, b
	}
	for b := range c.blocks {
		next := -1
		if b+1 < len(c.blocks) && c.follows(c.blocks[b+1].first) {
			next = b + 1
		}
		c.next = append(c.next, next)
	}
}

// follows tells whether instruction i may be the one after i-1.
func (c *code) follows(i int) bool {
	a, b := c.info[i-1], c.info[i]
	return a.Object == b.Object && a.Function == b.Function && b.Addr-a.Addr <= maxGap
}

// visits returns how often a block ran in a dump.
func (c *code) visits(b, dump int) uint64 { return c.counts[c.blocks[b].first][dump] }

// targetOf returns the block at a place, or -1.
func (c *code) targetOf(k Key) int {
	if i, ok := c.at[k]; ok {
		return c.block[i]
	}
	return -1
}

// flow works out a dump's edges: those that callgrind gives (jumps, calls), and
// the falls, returns and ends that must lie between them.
func (c *code) flow(dumps []*Dump, dump int) map[edge]uint64 {
	f := flow{code: c, dump: dump, edges: map[edge]uint64{}, in: make([]uint64, len(c.blocks)), left: make([]uint64, len(c.blocks))}
	for b := range c.blocks {
		f.left[b] = c.visits(b, dump)
	}
	for b := range c.blocks {
		f.given(b, dumps[dump].Instrs[c.keys[c.blocks[b].last]])
	}
	for b := range c.blocks {
		f.between(b, dumps[dump].Instrs[c.keys[c.blocks[b].last]])
	}
	return f.edges
}

// flow is the working state of code.flow.
type flow struct {
	*code
	dump  int
	edges map[edge]uint64
	in    []uint64 // by block: what is known to come in
	left  []uint64 // by block: visits whose way out is not known yet
}

func (f *flow) add(e edge, n uint64) {
	if n == 0 {
		return
	}
	f.edges[e] += n
	if e.to >= 0 {
		f.in[e.to] += n
	}
	if e.kind != ret {
		f.left[e.from] -= min(n, f.left[e.from])
	}
}

// given adds the jumps and calls at the end of block b.
func (f *flow) given(b int, in *Instr) {
	if in == nil {
		return
	}
	for _, j := range in.Jumps {
		kind := jump
		switch {
		case j.Conditional:
			kind = taken
		case len(in.Jumps) > 1:
			kind = jumpInd
		}
		f.add(edge{b, f.targetOf(Key{in.Object, j.To}), kind}, min(j.Taken, f.left[b]))
	}
	for _, k := range in.Calls {
		kind := call
		if len(in.Calls) > 1 {
			kind = callInd
		}
		f.add(edge{b, f.targetOf(k.To), kind}, min(k.Count, f.left[b]))
	}
}

// between adds what leads from block b to the next one. What comes into the
// next block and is not known from elsewhere must come from b: by a fall, or by
// the return of a call at b's end. What is left of b then ends there.
func (f *flow) between(b int, in *Instr) {
	next := f.next[b]
	if next >= 0 {
		missing := f.visits(next, f.dump) - min(f.in[next], f.visits(next, f.dump))
		if in != nil && len(in.Calls) > 0 {
			called := uint64(0)
			for _, k := range in.Calls {
				called += k.Count
			}
			back := min(missing, called)
			f.add(edge{b, next, ret}, back)
			missing -= back
		}
		f.add(edge{b, next, fall}, min(missing, f.left[b]))
	}
	f.add(edge{b, -1, end}, f.left[b])
}
