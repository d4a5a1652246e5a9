package machine

import "unsafe"

// filter holds, for each set of a core's first-level data cache, the lines used last in it. An
// access to one of them changes nothing in the model but their order, takes no time, and is left
// out of the trace: whoever executes the program (generated code; Recorder, which is the same in
// plain form) looks each access up here, and keeps the sets up to date within a turn. The model
// takes lines out between turns, when they leave the cache or must not be written any more.
//
// With least recently used replacement a set has two lines, and an access that is recorded tells
// which of the two was used last before it, so that the model's order is exact. With other policies
// it has one, the use of which changes nothing.
//
// A line may be written without a record after a write that was recorded, if cores have not
// contended for it. If they have, it takes two writes of the same instruction to the same bytes:
// what is written there is to be known.
//
// The layout is known to the assembly in package cpu, and to the engine.
type filter struct {
	words     []uint64 // filterHead words, then setWords for each set
	contended []uint8  // of the machine
	shift     uint
}

// Words of the head.
const (
	filterMask      = iota // bits of the address that name the set
	filterContended        // address of contended
	filterLines            // lines a set: 0 (every access is recorded), 1, 2
	filterHead      = 8
)

// Words of a set: the addresses of the line used last and of the one before, each followed by the
// same address again if the line may be written.
const (
	read0 = iota
	write0
	read1
	write1
	setWords
)

const (
	filterShift    = 6       // log2 of the line size for which there are filters
	noLine         = 1 << 63 // no address
	contendedSlots = 1 << 19 // lines are told apart by their low bits
)

func newFilter(l1d *array, shift uint, contended []uint8) filter {
	f := filter{words: make([]uint64, filterHead+setWords*int(l1d.sets)), contended: contended, shift: shift}
	for i := filterHead; i < len(f.words); i++ {
		f.words[i] = noLine
	}
	f.words[filterContended] = uint64(uintptr(unsafe.Pointer(&contended[0])))
	f.words[filterMask] = (l1d.sets - 1) << filterShift
	switch {
	case !l1d.pow2 || shift != filterShift:
	case l1d.policy == LRU && l1d.ways > 1:
		f.words[filterLines] = 2
	default:
		f.words[filterLines] = 1
	}
	return f
}

// set returns the words of the set of an address.
func (f *filter) set(addr uint64) []uint64 {
	i := filterHead + (addr&f.words[filterMask])>>filterShift*setWords
	return f.words[i : i+setWords : i+setWords]
}

// forget takes a line out.
func (f *filter) forget(line uint64) {
	addr := line << f.shift
	s := f.set(addr)
	if s[read0] == addr {
		s[read0], s[write0] = noLine, noLine
	}
	if s[read1] == addr {
		s[read1], s[write1] = noLine, noLine
	}
}

// readOnly makes writes to a line be recorded.
func (f *filter) readOnly(line uint64) { f.setWrite(line, noLine) }

// writable makes writes to a line not be recorded.
func (f *filter) writable(line uint64) { f.setWrite(line, line<<f.shift) }

func (f *filter) setWrite(line, to uint64) {
	addr := line << f.shift
	s := f.set(addr)
	if s[read0] == addr {
		s[write0] = to
	}
	if s[read1] == addr {
		s[write1] = to
	}
}

// Recorder leaves out of a trace what generated code leaves out. It is the plain form of that, for
// tests.
type Recorder struct {
	f   *filter
	out []uint64
}

// Recorder returns the recorder of a core.
func (m *Machine) Recorder(core int) *Recorder { return &Recorder{f: &m.caches.cores[core].filter} }

// Filter returns the address of a core's filter, for generated code.
func (m *Machine) Filter(core int) uintptr {
	return uintptr(unsafe.Pointer(&m.caches.cores[core].filter.words[0]))
}

// FilterLines returns how many lines a set of the filters has.
func (m *Machine) FilterLines() int { return int(m.caches.cores[0].filter.words[filterLines]) }

// FilterMask returns which bits of an address name the set.
func (m *Machine) FilterMask() uint64 { return m.caches.cores[0].filter.words[filterMask] }

// Record returns what is left of a trace in which every access was recorded. It is good until the
// next call.
func (r *Recorder) Record(m *Machine, full []uint64) []uint64 {
	r.out = r.out[:0]
	var b *blockState
	for at := 0; at < len(full); {
		w := full[at]
		if w&blockTag != 0 {
			r.block(w)
			b, at = &m.blocks[uint32(w)>>1], at+1
			continue
		}
		a := &b.Accesses[w>>indexShift]
		addr := w & addressBits
		switch {
		case a.Rep:
			r.repeated(w, full[at+1], uint64(a.Size))
			at += 2
		default:
			r.access(w, addr, uint64(a.Size), a.Write)
			at += 1 + orders(addr, uint64(a.Size))
		}
	}
	return r.out
}

// block records the entry of a block, which is counted if it comes right behind the last.
func (r *Recorder) block(w uint64) {
	if n := len(r.out); n > 0 && uint32(r.out[n-1]) == uint32(w) {
		r.out[n-1] += 1 << countShift
		return
	}
	r.out = append(r.out, w)
}

// access records an access, unless it is known to change nothing.
func (r *Recorder) access(w, addr, size uint64, write bool) {
	s := r.f.set(addr)
	w0, w1 := s[read0], s[read1]
	if write {
		w0, w1 = s[write0], s[write1]
	}
	in := func(line uint64) bool { return addr >= line && size <= 64 && addr-line <= 64-size }
	switch {
	case in(w0):
		return
	case in(w1):
		r.swap(s)
		return
	}
	r.out = append(r.out, w)
	first, last := addr>>filterShift, (addr+size-1)>>filterShift
	r.line(first, write)
	if last != first {
		r.line(last, write)
	}
}

func (r *Recorder) swap(s []uint64) {
	s[read0], s[write0], s[read1], s[write1] = s[read1], s[write1], s[read0], s[write0]
}

// line records which line was used last in the set of a line, and makes that line the last.
func (r *Recorder) line(line uint64, write bool) {
	addr := line << filterShift
	s := r.f.set(addr)
	r.out = append(r.out, s[read0]|1)
	lines := r.f.words[filterLines]
	if lines == 0 {
		return
	}
	switch {
	case s[read0] == addr:
	case s[read1] == addr:
		r.swap(s)
	default:
		if lines == 2 {
			s[read1], s[write1] = s[read0], s[write0]
		}
		s[read0], s[write0] = addr, noLine
	}
	if write && r.f.contended[line%contendedSlots] == 0 {
		s[write0] = addr
	}
}

// repeated records a repeated access, and empties the sets that it comes to.
func (r *Recorder) repeated(w, count, size uint64) {
	r.out = append(r.out, w, count)
	bytes := count >> 1 * size
	addr := w & addressBits
	sets := r.f.words[filterMask]>>filterShift + 1
	for n := min((addr&63+bytes+63)>>filterShift, sets); n > 0; n-- {
		s := r.f.set(addr)
		s[read0], s[write0], s[read1], s[write1] = noLine, noLine, noLine, noLine
		addr += 64
	}
}
