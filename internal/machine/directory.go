package machine

// directory is the shared level with, for each of its lines, the cores that hold copies. It
// includes everything that the private caches hold. A line stays in its way until it leaves: too
// much hangs on it to move it.
//
// The directory of a large cache does not fit the caches of the host, and what it costs is mostly
// the host's misses; so what is needed together stands together, and is small.
type directory struct {
	*array  // without entries, if lines' tags fit into its notes
	lines   []dirLine
	sharing int      // 64-bit words of sharers per line
	more    []uint64 // sharers of each line from core 64 on
	busy    []busy   // of lines that cores took from each other
	idle    []int32  // places in busy that are not in use
	left    *leavers
}

// dirLine is what the directory knows of the line in a way.
type dirLine struct {
	sharers uint64 // of the first 64 cores, those that hold copies
	// Of the last core that wrote: what it wrote, and where in the program. For telling true from
	// false sharing.
	wrote  uint64 // bit i = byte i of the line
	writer Site
	owner  int16 // core that may write the line, or -1
	dirty  bool  // differs from memory
	fought bool  // a core has come back to the line after another took it
	busy   int32 // its place in busy, 0 if it has none
}

// busy is the last time in which core after core took a line: from when, and until when the last
// one of them waits for it.
type busy struct{ from, until uint64 }

// tagSets is how many sets a directory must have for tags of 32 bits: with them, lines are numbers
// of 41 bits at most.
const tagSets = 1 << 10

func newDirectory(sets, ways int, policy Policy, cores int) *directory {
	n := sets * ways
	d := &directory{sharing: (cores + 63) / 64, lines: make([]dirLine, n), busy: make([]busy, 1)}
	if sets >= tagSets && policy == LRU {
		d.array = newTagless(sets, ways, policy)
	} else {
		d.array = newArray(sets, ways, policy)
	}
	d.more, d.left = make([]uint64, n*(d.sharing-1)), newLeavers(d.array)
	for i := range d.lines {
		d.lines[i].owner = -1
	}
	return d
}

// find is the way that holds a line, or -1.
func (d *directory) find(line uint64) int {
	if d.entries != nil {
		return d.array.find(line)
	}
	set, tag, hints := d.set(line), d.tag(line), hintWord(line)
	base := set * d.ways
	for at := set * d.per; at < (set+1)*d.per; at++ {
		for m := likely(d.words[at], hints); m != 0; m &= m - 1 {
			if i := base + lane(m); d.slots[i].note == tag {
				return i
			}
		}
		base += 8
	}
	return -1
}

// tag is a line's number divided by the number of sets, + 1.
func (d *directory) tag(line uint64) uint32 {
	if d.pow2 {
		return uint32(line>>d.setBits) + 1
	}
	return uint32(line/d.sets) + 1
}

// at is the line in a way, if there is one.
func (d *directory) at(way int) (line uint64, ok bool) {
	if d.entries != nil {
		e := d.entries[way]
		return e.line(), e != 0
	}
	t := d.slots[way].note
	return uint64(t-1)*d.sets + uint64(way/d.ways), t != 0
}

// put puts a line that nobody holds into a way.
func (d *directory) put(way int, line uint64) {
	l := &d.lines[way]
	if l.busy != 0 {
		d.idle = append(d.idle, l.busy)
	}
	*l = dirLine{owner: -1, writer: l.writer}
	for w := 1; w < d.sharing; w++ {
		*d.sharers(way, w) = 0
	}
	set := d.set(line)
	d.tell(set, way-set*d.ways, line)
	if d.entries != nil {
		d.entries[way] = newEntry(line, shared)
	} else {
		d.slots[way].note = d.tag(line)
	}
	d.touch(way)
}

// sharers is a word of the set of the cores that hold the line.
func (d *directory) sharers(way, word int) *uint64 {
	if word == 0 {
		return &d.lines[way].sharers
	}
	return &d.more[way*(d.sharing-1)+word-1]
}

func (d *directory) has(way, core int) bool { return *d.sharers(way, core/64)>>(core%64)&1 != 0 }
func (d *directory) add(way, core int)      { *d.sharers(way, core/64) |= 1 << (core % 64) }
func (d *directory) remove(way, core int)   { *d.sharers(way, core/64) &^= 1 << (core % 64) }

// others reports whether a core other than core holds a copy.
func (d *directory) others(way, core int) bool {
	for w := range d.sharing {
		set := *d.sharers(way, w)
		if w == core/64 {
			set &^= 1 << (core % 64)
		}
		if set != 0 {
			return true
		}
	}
	return false
}

// mark is watched if cores have contended for the line in a way.
func (d *directory) mark(way int) state {
	if d.lines[way].fought {
		return watched
	}
	return 0
}

// handOver is a request at time now for a line that other cores have. The directory serves the
// requests for a line one after the other: the next when the line has come to whom it was promised.
// A request takes as long as given; one that leaves the copies of others alone keeps nobody
// waiting. It returns how long the request waits for those before it.
//
// Cores run in turns, so a request may come from before the ones already served: it then finds the
// line free.
func (d *directory) handOver(way int, now, cycles uint64, moves bool) (wait uint64) {
	b := &d.busy[d.lines[way].busy]
	if now < b.until && now+cycles > b.from {
		wait = b.until - now
	}
	if !moves {
		return wait
	}
	if d.lines[way].busy == 0 {
		b = d.newBusy(way)
	}
	if wait == 0 {
		b.from, b.until = now, now
	}
	b.until += cycles
	return wait
}

// newBusy gives the line in a way a place in busy.
func (d *directory) newBusy(way int) *busy {
	if n := len(d.idle); n > 0 {
		d.lines[way].busy, d.idle = d.idle[n-1], d.idle[:n-1]
	} else {
		d.lines[way].busy = int32(len(d.busy))
		d.busy = append(d.busy, busy{})
	}
	b := &d.busy[d.lines[way].busy]
	*b = busy{}
	return b
}

// busyUntil is when the line in a way was last on its way to a core, 0 if it never was.
func (d *directory) busyUntil(way int) uint64 { return d.busy[d.lines[way].busy].until }
