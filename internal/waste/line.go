package waste

// Lines are kept by page.
const (
	pageBytes   = 4096
	linesOfPage = pageBytes / lineBytes
)

// line is what is known of a cache line that threads touch.
type line struct {
	writer  uint32 // context of the last store
	stores  uint32 // how often the thread that stores has changed, and one
	parties []party
}

// party is a thread that has touched a line.
type party struct {
	thread uint32
	seen   uint32 // line.stores when it touched the line last
	bytes  uint64 // that it has touched
}

// line tells of an access to a line, or two.
func (d *Detector) line(c Context, addr uint64, n int, store bool) {
	for n > 0 {
		off := addr % lineBytes
		part := min(uint64(n), lineBytes-off)
		page := d.lines[addr/pageBytes]
		if page == nil {
			page = &[linesOfPage]line{}
			d.lines[addr/pageBytes] = page
		}
		d.touch(&page[addr%pageBytes/lineBytes], c, addr, ^uint64(0)>>(lineBytes-part)<<off, uint32(part), store)
		addr, n = addr+part, n-int(part)
	}
}

func (d *Detector) touch(l *line, c Context, addr, bytes uint64, n uint32, store bool) {
	me := l.party(d.thread)
	me.bytes |= bytes
	if w := d.sites[l.writer].thread; l.writer != 0 && w != d.thread && me.seen != l.stores {
		if me.bytes&l.party(w).bytes == 0 {
			d.index.add(FalseSharing, Context(l.writer), addr, n)
		}
		me = l.party(d.thread)
	}
	if store {
		if l.writer == 0 || d.sites[l.writer].thread != d.thread {
			l.stores++
		}
		l.writer = uint32(c)
	}
	me.seen = l.stores
}

// party finds a thread of a line, or makes it.
func (l *line) party(thread uint32) *party {
	for i := range l.parties {
		if l.parties[i].thread == thread {
			return &l.parties[i]
		}
	}
	l.parties = append(l.parties, party{thread: thread})
	return &l.parties[len(l.parties)-1]
}
