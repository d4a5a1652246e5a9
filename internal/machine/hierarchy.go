package machine

// watched marks, in a first-level state, a line over which cores have contended: writes to it are
// filtered out only after one that said nothing new, so that the bytes written on each side stay
// known.
const watched state = 0x80

func (s state) base() state { return s &^ watched }

// privates are the caches of one core.
type privates struct {
	l1i, l1d *array
	l2       *array   // nil when the second level is the shared one
	left     *leavers // of the second level
	filter   filter
	recent   []uint64 // by set of the data cache, the line of the last access, as traces name it
	code     []uint64 // by set of the instruction cache, the line used last in it, + 1
	steady   uint64   // not 0; changes, to a value that no core has had, when code does or the order of use of its pages
}

func newPrivates(l1i, l1d, l2 *array, f filter) privates {
	return privates{l1i: l1i, l1d: l1d, l2: l2, left: newLeavers(l2), filter: f, recent: make([]uint64, l1d.sets),
		code: make([]uint64, l1i.sets), steady: 1}
}

// order makes the line that was used last in a set, as the filter tells (the word after an access
// to line), the last there.
func (p *privates) order(line, last uint64) {
	recent := &p.recent[p.l1d.set(line)]
	if *recent != last && last>>63 == 0 && p.l1d.policy == LRU {
		if i := p.l1d.find(last >> p.filter.shift); i >= 0 && held(p.l1d.state(i)) {
			p.l1d.touch(i)
		}
	}
	*recent = line<<p.filter.shift | 1
}

// held reports whether a line in this state is there.
func held(s state) bool { return s != invalid && s.base() != lost }

// hit performs an access that needs nothing but the order of use to change, and reports whether it
// was one. way is where the line stands or stood, -1 if there is no such way.
func (p *privates) hit(line uint64, write bool) (way int, hit bool) {
	i := p.l1d.find(line)
	if i < 0 {
		return i, false
	}
	if st := p.l1d.state(i); st != modified && (write || !held(st)) {
		return i, false
	}
	p.l1d.touch(i)
	if write {
		p.filter.writable(line)
	}
	return i, true
}

// Site is a place in the program that accesses memory: the block and its instruction.
type Site struct {
	Block BlockID
	Instr uint16
}

// hierarchy is all caches and the directory. Its operations are atomic: the serial schedule
// of the simulated cores is the order of all accesses.
//
// The first level knows lines by their virtual addresses, everything behind it by where they lie in
// memory: line is the one number, mem the other.
type hierarchy struct {
	frames    *frames
	cores     []privates
	dir       *directory
	others    []elsewhere // other placements of pages
	contended []uint8     // by the low bits of a line's number: not nil if cores have contended for such a line
	unsteady  uint64      // how often a core's steady has changed
}

// unsettle notes that the order of use of a core's lines or pages of code changes.
func (h *hierarchy) unsettle(p *privates) {
	h.unsteady++
	p.steady = 1 + h.unsteady
}

// found says where an access was served and what it took.
type found struct {
	l1Miss, l2Miss, llcMiss bool
	l2Else, llcElse         uint8  // by other placement of pages: it would have missed there
	conflict                bool   // with l2Miss or llcMiss: the line left for want of room in its set, where pages fell together
	lostLine                bool   // the core had the line and another core took it
	upgrade                 bool   // had to invalidate other copies before writing
	transfer                bool   // another core's modified copy was fetched
	trueSharing             bool   // with lostLine or upgrade: the bytes overlap with what the other core wrote
	other                   Site   // with lostLine: where the other core wrote
	wrote                   uint64 // with lostLine: which bytes of the line it wrote
	lostBefore              uint64 // with lostLine: when the line was last on its way, if cores fought for it
	way                     int    // in the directory, if it was asked
	mem                     uint64 // with l1Miss: where the line lies in memory
	writebacks              int    // dirty lines that moved out over the bus
	memWrites               int    // dirty lines that went to memory
}

// access performs one data access of core to line. bytes has a bit for each byte of the line that
// it touches. A way of the first level that names the line is at index i; -1: none does.
func (h *hierarchy) access(core, i int, line uint64, write bool, bytes uint64, site Site, f *found) {
	p := &h.cores[core]
	if i < 0 || !held(p.l1d.state(i)) {
		h.miss(core, i, line, write, bytes, site, f)
		return
	}
	if p.l1d.touch(i); write {
		h.write(core, p, i, line, bytes, site, f)
	}
}

// miss is access to a line that the first level does not hold. A way that still names it is at
// index i; -1: none does.
func (h *hierarchy) miss(core, i int, line uint64, write bool, bytes uint64, site Site, f *found) {
	p := &h.cores[core]
	f.l1Miss = true
	f.lostLine = i >= 0 && p.l1d.state(i).base() == lost
	i = h.fill(core, p, i, line, write, bytes, f)
	if write {
		h.write(core, p, i, line, bytes, site, f)
	}
}

// home is where the directory has a line that stands in way i of the first level; in2 is its way in
// the private second level, if there is one.
func (p *privates) home(i int) (way, in2 int) {
	if p.l2 == nil {
		return int(p.l1d.slots[i].note), -1
	}
	in2 = int(p.l1d.slots[i].note)
	return int(p.l2.slots[in2].note), in2
}

// write gives core the right to write a line that it holds in way i of its first level.
func (h *hierarchy) write(core int, p *privates, i int, line, bytes uint64, site Site, f *found) {
	st := p.l1d.state(i)
	if st == modified {
		p.filter.writable(line)
		return
	}
	way, in2 := p.home(i)
	l := &h.dir.lines[way]
	if st.base() == modified && l.wrote&bytes == bytes && l.writer == site { // nothing new
		p.filter.writable(line)
		return
	}
	if st.base() == shared {
		if h.dir.others(way, core) {
			f.upgrade, f.way = true, way
			mem, _ := h.dir.at(way)
			h.take(way, core, line, mem, true)
			st |= h.dir.mark(way)
		}
		l.owner = int16(core)
	}
	if st.base() != modified {
		p.l1d.setState(i, modified|st&watched)
		if in2 >= 0 {
			p.l2.setState(in2, modified)
		}
		l.wrote = 0
		if st&watched == 0 {
			p.filter.writable(line)
		}
	}
	l.wrote |= bytes
	l.writer = site
}

// take removes (invalidate) or downgrades the copies of all cores but one.
func (h *hierarchy) take(way, core int, line, mem uint64, invalidate bool) {
	d := h.dir
	for w := range d.sharing {
		for set := *d.sharers(way, w); set != 0; set &= set - 1 {
			c := w*64 + trailingZeros(set)
			if c == core {
				continue
			}
			if invalidate {
				h.cores[c].drop(line, mem, lost)
				d.remove(way, c)
			} else {
				h.cores[c].downgrade(line, mem, d.mark(way))
			}
		}
	}
	d.lines[way].owner = -1
}

// drop takes a line away from a core; why is lost or invalid.
func (p *privates) drop(line, mem uint64, why state) (dirty bool) {
	p.filter.forget(line)
	if i := p.l1d.find(line); i >= 0 {
		dirty = p.l1d.state(i).base() == modified
		p.l1d.setState(i, why)
	}
	if p.l2 == nil {
		return dirty
	}
	if i := p.l2.find(mem); i >= 0 {
		dirty = dirty || p.l2.state(i).base() == modified
		p.l2.setState(i, why)
	}
	return dirty
}

func (p *privates) downgrade(line, mem uint64, mark state) {
	p.filter.readOnly(line)
	p.l1d.downgrade(p.l1d.find(line), mark)
	if p.l2 != nil {
		p.l2.downgrade(p.l2.find(mem), mark)
	}
}

// downgrade makes what stands in a way shared, if there is such a way.
func (a *array) downgrade(i int, mark state) {
	if i >= 0 && a.state(i).base() >= exclusive && a.state(i).base() != lost {
		a.setState(i, shared|mark)
	}
}

// fill brings a line into the first level and returns its way there. A way that still names it is
// at index i.
func (h *hierarchy) fill(core int, p *privates, i int, line uint64, write bool, bytes uint64, f *found) int {
	mem := h.frames.line(line)
	f.mem = mem
	h.elsewhere(core, line, f)
	if p.l2 == nil {
		st := h.fetch(core, line, mem, write, bytes, f)
		return h.insertL1(core, p, i, line, st, f.way, f)
	}
	in2 := p.l2.find(mem)
	if in2 >= 0 {
		if st := p.l2.state(in2).base(); held(st) {
			p.l2.touch(in2)
			return h.insertL1(core, p, i, line, st, in2, f)
		}
		f.lostLine = f.lostLine || p.l2.state(in2).base() == lost
	}
	f.l2Miss, f.conflict = true, p.left.conflict(p.l2, mem)
	st := h.fetch(core, line, mem, write, bytes, f)
	in2 = h.insertL2(core, p, in2, mem, st.base(), f)
	return h.insertL1(core, p, i, line, st, in2, f)
}

// fetch gets a line from the shared level, from another core, or from memory; it returns the state
// in which the core may hold it.
func (h *hierarchy) fetch(core int, line, mem uint64, write bool, bytes uint64, f *found) state {
	d := h.dir
	way := d.find(mem)
	f.way = way
	if way < 0 {
		f.conflict = f.conflict || d.left.conflict(d.array, mem)
		if h.cores[core].l2 == nil {
			f.l2Miss = true
		} else {
			f.llcMiss = true
		}
		way = h.insertShared(mem, f)
		f.way = way
		d.add(way, core)
		d.lines[way].owner = int16(core)
		return exclusive
	}
	d.touch(way)
	l := &d.lines[way]
	if f.lostLine {
		if l.fought {
			f.lostBefore = d.busyUntil(way)
		}
		h.contend(core, way, line)
		f.other, f.wrote = l.writer, l.wrote
		f.trueSharing = l.wrote&bytes != 0
	}
	if l.owner >= 0 && int(l.owner) != core {
		f.transfer, l.dirty = true, true
	}
	if d.others(way, core) {
		if write {
			f.upgrade = l.owner < 0
			h.take(way, core, line, mem, true)
		} else if l.owner >= 0 {
			h.take(way, core, line, mem, false)
		}
	}
	d.add(way, core)
	if d.others(way, core) {
		return shared | d.mark(way)
	}
	l.owner = int16(core)
	return exclusive | d.mark(way)
}

// contend notes that a core has come back to a line that was taken from it.
func (h *hierarchy) contend(core, way int, line uint64) {
	h.dir.lines[way].fought = true
	h.contended[line%contendedSlots] = 1
	h.cores[core].filter.readOnly(line)
}

// insertShared brings a line from memory into the shared level; whatever it replaces leaves all
// private caches too (inclusion).
func (h *hierarchy) insertShared(mem uint64, f *found) int {
	d := h.dir
	way := d.victim(mem)
	if old, ok := d.at(way); ok {
		d.left.left(old, d.slots[way].stamp)
		dirty := d.lines[way].dirty
		line := h.frames.virtual(old)
		for w := range d.sharing {
			for set := *d.sharers(way, w); set != 0; set &= set - 1 {
				p := &h.cores[w*64+trailingZeros(set)]
				dirty = p.drop(line, old, invalid) || dirty
				h.dropCode(p, line)
			}
		}
		if dirty {
			f.memWrites++
		}
	}
	d.put(way, mem)
	return way
}

// dropCode takes a line of code away.
func (h *hierarchy) dropCode(p *privates, line uint64) {
	i := p.l1i.find(line)
	if i < 0 {
		return
	}
	p.l1i.setState(i, invalid)
	if c := &p.code[p.l1i.set(line)]; *c == line+1 {
		*c = 0
		h.unsettle(p)
	}
}

// usedCode notes the line of code used last in its set.
func (p *privates) usedCode(line uint64) {
	p.code[p.l1i.set(line)] = line + 1
}

// insertL1 puts a line into the first level, in the way that still names it, so that no line stands
// twice, or else (i < 0) in the victim's. It returns the way. The next level has the line in way
// home.
func (h *hierarchy) insertL1(core int, p *privates, i int, line uint64, st state, home int, f *found) int {
	if i < 0 {
		i = p.l1d.victim(line)
	}
	before := p.l1d.slots[i].note
	p.l1d.slots[i].note = uint32(home)
	old := p.l1d.insert(i, line, st)
	if p.l2 == nil && old != 0 && old.line() != line {
		h.evicted(core, int(before), old.state().base() == modified, f)
	}
	return i
}

// insertL2 is insertL1 for the private second level.
func (h *hierarchy) insertL2(core int, p *privates, i int, mem uint64, st state, f *found) int {
	if i < 0 {
		i = p.l2.victim(mem)
	}
	before := p.l2.slots[i].note
	used := p.l2.slots[i].stamp
	p.l2.slots[i].note = uint32(f.way)
	old := p.l2.insert(i, mem, st)
	if old == 0 || old.line() == mem {
		return i
	}
	p.left.left(old.line(), used)
	dirty := old.state().base() == modified
	line := h.frames.virtual(old.line())
	if j := p.l1d.find(line); j >= 0 && p.l1d.state(j).base() != lost { // the second level includes the first
		dirty = dirty || p.l1d.state(j).base() == modified
		p.l1d.setState(j, invalid)
		p.filter.forget(line)
	}
	h.evicted(core, int(before), dirty, f)
	return i
}

// evicted tells the directory that a core no longer holds the line in one of its ways.
func (h *hierarchy) evicted(core, way int, dirty bool, f *found) {
	if dirty {
		f.writebacks++
	}
	h.dir.remove(way, core)
	l := &h.dir.lines[way]
	if l.owner == int16(core) {
		l.owner = -1
	}
	l.dirty = l.dirty || dirty
}

// fetchCode performs an instruction fetch. Code is read only, so that the directory keeps no
// account of instruction caches beyond inclusion.
func (h *hierarchy) fetchCode(core int, line uint64, f *found) {
	p := &h.cores[core]
	h.unsettle(p)
	p.usedCode(line)
	if i := p.l1i.find(line); i >= 0 && p.l1i.state(i) != invalid {
		p.l1i.touch(i)
		return
	}
	f.l1Miss = true
	h.fillCode(core, p, line, f)
	i := p.l1i.find(line)
	if i < 0 {
		i = p.l1i.victim(line)
	}
	p.l1i.insert(i, line, shared)
}

// fillCode brings a line of code into the private second level.
func (h *hierarchy) fillCode(core int, p *privates, line uint64, f *found) {
	mem := h.frames.line(line)
	f.mem = mem
	h.elsewhere(core, line, f)
	if p.l2 == nil {
		h.fetch(core, line, mem, false, 0, f)
		return
	}
	i := p.l2.find(mem)
	if i >= 0 && held(p.l2.state(i)) {
		p.l2.touch(i)
		return
	}
	f.l2Miss = true
	st := h.fetch(core, line, mem, false, 0, f)
	h.insertL2(core, p, i, mem, st.base(), f)
}
