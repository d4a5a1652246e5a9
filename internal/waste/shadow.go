package waste

// The shadow of memory. Every aligned word of four bytes has a cell for stores, shared by all
// threads, and one for loads in every thread that has loaded on the page. A cell is the context
// that was last there, for all four bytes, or the number of a quad that says so for each; 0 if
// nothing is known.

const (
	pageShift   = 12
	pageBytes   = 1 << pageShift
	cellBytes   = 4
	pageCells   = pageBytes / cellBytes
	lineBytes   = 64
	recentPages = 256
)

// Marks in a cell.
const (
	mixed = 1 << 31 // the rest is the number of a quad
	read  = 1 << 30 // of stores: somebody has loaded it since
	who   = read - 1
)

// quad is what a cell says of each of its bytes.
type quad [cellBytes]uint32

// spares are the quads, and which of them are free.
type spares struct {
	quads []quad
	free  []uint32
}

func (s *spares) take(q quad) uint32 {
	if n := len(s.free); n > 0 {
		at := s.free[n-1]
		s.free = s.free[:n-1]
		s.quads[at] = q
		return at | mixed
	}
	s.quads = append(s.quads, q)
	return uint32(len(s.quads)-1) | mixed
}

// cells are those of a page.
type cells [pageCells]uint32

// set makes a cell's bytes those of c.
func (t *cells) set(s *spares, i, c uint32) {
	if old := t[i]; old&mixed != 0 {
		s.free = append(s.free, old&^mixed)
	}
	t[i] = c
}

// put sets what is known of the byte range [lo, hi) of one cell.
func (t *cells) put(s *spares, i, lo, hi, c uint32) {
	if hi-lo == cellBytes {
		t.set(s, i, c)
		return
	}
	var q quad
	if old := t[i]; old&mixed != 0 {
		q = s.quads[old&^mixed]
	} else if old == c {
		return
	} else {
		q = quad{old, old, old, old}
	}
	for b := lo; b < hi; b++ {
		q[b] = c
	}
	if q == (quad{c, c, c, c}) {
		t.set(s, i, c)
	} else if old := t[i]; old&mixed != 0 {
		s.quads[old&^mixed] = q
	} else {
		t[i] = s.take(q)
	}
}

// byteOf is what is known of one byte of a cell.
func (t *cells) byteOf(s *spares, i, b uint32) uint32 {
	if c := t[i]; c&mixed != 0 {
		return s.quads[c&^mixed][b]
	}
	return t[i]
}

// each changes what is known of the bytes [lo, hi) of a page, where something is.
func (t *cells) each(s *spares, lo, hi uint32, f func(uint32) uint32) {
	for i := lo / cellBytes; i*cellBytes < hi; i++ {
		from, to := within(i, lo, hi)
		switch c := t[i]; {
		case c == 0:
		case c&mixed == 0 && to-from == cellBytes:
			t[i] = f(c)
		default:
			for b := from; b < to; b++ {
				if old := t.byteOf(s, i, b); old != 0 {
					t.put(s, i, b, b+1, f(old))
				}
			}
		}
	}
}

// within are the bytes of cell i that are in [lo, hi).
func within(i, lo, hi uint32) (from, to uint32) {
	return max(lo, i*cellBytes) - i*cellBytes, min(hi, (i+1)*cellBytes) - i*cellBytes
}

// page is the shadow of a page.
type page struct {
	stores *cells
	loads  []threadLoads
	lines  *[pageBytes / lineBytes]line
}

// threadLoads are the loads of one thread.
type threadLoads struct {
	thread uint32
	*cells
}

// recentPage is a page that the running thread was on.
type recentPage struct {
	number uint64 // plus one
	page   *page
	stores *cells
	loads  *cells // of the running thread; nil if it has none
	shared bool   // other threads have loaded there
}

// at finds a page, or makes it.
func (d *Detector) at(number uint64) *recentPage {
	r := &d.recent[number%recentPages]
	if r.number == number+1 {
		return r
	}
	p := d.pages[number]
	if p == nil {
		p = &page{stores: &cells{}}
		d.pages[number] = p
	}
	*r = recentPage{number: number + 1, page: p, stores: p.stores}
	for i := range p.loads {
		if p.loads[i].thread == d.thread {
			r.loads = p.loads[i].cells
		} else {
			r.shared = true
		}
	}
	return r
}

// mine are the running thread's loads on a page.
func (r *recentPage) mine(d *Detector) *cells {
	if r.loads == nil {
		r.loads = &cells{}
		r.page.loads = append(r.page.loads, threadLoads{d.thread, r.loads})
	}
	return r.loads
}

// parts passes an access page by page.
func (d *Detector) parts(addr uint64, n int, use func(p *recentPage, lo, hi uint32)) {
	for n > 0 {
		lo := uint32(addr % pageBytes)
		hi := uint32(min(uint64(lo)+uint64(n), pageBytes))
		use(d.at(addr>>pageShift), lo, hi)
		addr, n = addr+uint64(hi-lo), n-int(hi-lo)
	}
}

// known passes the pages of a range of which anything is known.
func (d *Detector) known(addr, n uint64, use func(p *page, lo, hi uint32)) {
	if n == 0 || addr+n < addr {
		return
	}
	first, last := addr>>pageShift, (addr+n-1)>>pageShift
	one := func(number uint64, p *page) {
		base := number << pageShift
		use(p, uint32(max(addr, base)-base), uint32(min(addr+n-base, pageBytes)))
	}
	if last-first > uint64(len(d.pages)) {
		for number, p := range d.pages {
			if number >= first && number <= last {
				one(number, p)
			}
		}
		return
	}
	for number := first; number <= last; number++ {
		if p := d.pages[number]; p != nil {
			one(number, p)
		}
	}
}

func (p *page) forget(s *spares, lo, hi uint32) {
	p.stores.fill(s, lo, hi, 0)
	for i := range p.loads {
		p.loads[i].fill(s, lo, hi, 0)
	}
}

// fill makes all bytes of [lo, hi) those of c.
func (t *cells) fill(s *spares, lo, hi, c uint32) {
	for i := lo / cellBytes; i*cellBytes < hi; i++ {
		from, to := within(i, lo, hi)
		t.put(s, i, from, to, c)
	}
}
