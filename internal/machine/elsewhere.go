package machine

// Where pages lie in memory decides which of them drive each other out of the caches behind the
// first level, and frames are dealt by dice. To tell what of a thread's misses is the program's and
// what the dice dealt, the same accesses go through the tags of Placements more sets of caches, in
// which pages have the frames of the next seeds. Nothing follows from what happens there but
// counts: how often an instruction would have missed, had memory been dealt in another way.

// Placements is how many other placements of pages a run looks at. Where threads differ by dice
// alone, the one that was dealt worst is so far off in another placement as well, by half as much,
// in about one case of four: in three of them in one of seventy.
const Placements = 3

// Kinds of events that happen in other placements only, behind those of the machine: for each
// placement a miss in the second level, then for each one in the third.
const allKinds = NumKinds + 2*Placements

// KindNames are the names of all kinds of events, also of those that happen in other placements.
func KindNames() (names []string) {
	for _, info := range Kinds() {
		names = append(names, info.Name)
	}
	for _, level := range []Kind{L2Miss, LLCMiss} {
		for p := range Placements {
			names = append(names, Kinds()[level].Name+"-elsewhere-"+string(rune('1'+p)))
		}
	}
	return names
}

// InPlacement reports whether a kind is of events that happen in another placement only.
func (k Kind) InPlacement() bool { return k >= NumKinds }

// elsewhere is another placement of pages, and the tags of the caches in it.
type elsewhere struct {
	seed uint64
	l2   []recency // of each core; nil if the second level is the shared one
	last recency
}

// recency is a cache of which only the tags are known: of each set the lines in the order of their
// use, the one used last first. Other policies are taken for this one, too.
type recency struct {
	tags []uint32 // line + 1; 0: empty
	ways uint64
	sets uint64
	mask uint64 // sets - 1 if that is a power of two, else 0
}

func newRecency(sets, ways int) recency {
	r := recency{tags: make([]uint32, sets*ways), ways: uint64(ways), sets: uint64(sets)}
	if log2(sets) >= 0 {
		r.mask = r.sets - 1
	}
	return r
}

// use makes a line the one used last in its set, and says whether it was missing. tag tells the
// line from all others.
func (r *recency) use(line uint64, tag uint32) (miss bool) {
	set := line & r.mask
	if r.mask == 0 {
		set = line % r.sets
	}
	tags := r.tags[set*r.ways : (set+1)*r.ways]
	before := tag
	for i, t := range tags {
		tags[i] = before
		if t == tag {
			return false
		}
		before = t
	}
	return true
}

// use takes a line that a core has missed in its first level to the caches behind it: mem is where
// it lies in the machine's own placement.
func (e *elsewhere) use(f *frames, core int, line, mem uint64) (l2Miss, llcMiss bool) {
	number, offset := mem>>f.shift>>colourBits, mem&(1<<f.shift-1)
	tag := uint32(number<<f.shift|offset) + 1
	mem = (number<<colourBits|colour(line>>f.shift, e.seed))<<f.shift | offset
	if e.l2 == nil {
		return e.last.use(mem, tag), false
	}
	if !e.l2[core].use(mem, tag) {
		return false, false
	}
	return true, e.last.use(mem, tag)
}

// elsewhere takes an access that has missed in the first level to the other placements.
func (h *hierarchy) elsewhere(core int, line uint64, f *found) {
	for i := range h.others {
		l2, llc := h.others[i].use(h.frames, core, line, f.mem)
		f.l2Else |= uint8(bit(l2)) << i
		f.llcElse |= uint8(bit(llc)) << i
	}
}

// elsewhere counts the misses of an access in other placements. One that finds its line with
// another core does so in all of them.
func (r *runner) elsewhere(b *blockState, instr int, f *found) {
	if f.l2Else == 0 || f.contended() || b.erases(instr, L1DMiss) || b.erases(instr, L2Miss) {
		return
	}
	for i := range Kind(Placements) {
		if f.l2Else>>i&1 != 0 {
			r.event(b, r.block, instr, NumKinds+i, 1, 0)
		}
		if f.llcElse>>i&1 != 0 && !b.erases(instr, LLCMiss) {
			r.event(b, r.block, instr, NumKinds+Placements+i, 1, 0)
		}
	}
}
