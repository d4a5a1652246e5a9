package view

// state is what a thread does at a moment.
type state int

// The states, in the order of a tile's bytes. Nothing is known of the rest of the time.
const (
	stateWork state = iota
	stateWait
	stateLock
	stateOff
	states
)

// segments calls emit for all that a thread did from lo to hi, in order and without overlap: a part
// that begins inside of another one (a nested section) hides it until it ends.
func (l *lane) segments(lo, hi uint64, emit func(c *cell, from, to uint64)) {
	var open []*cell
	t := uint64(0)
	until := func(next uint64) {
		for n := len(open); n > 0; n = len(open) {
			c := open[n-1]
			if stop := min(c.end(), next); stop > t {
				if from, to := max(t, lo), min(stop, hi); to > from {
					emit(c, from, to)
				}
				t = stop
			}
			if c.end() > next {
				return
			}
			open = open[:n-1]
		}
	}
	for i := l.from(lo); i < len(l.cells) && l.cells[i].start < hi; i++ {
		until(l.cells[i].start)
		t = max(t, l.cells[i].start)
		open = append(open, &l.cells[i])
	}
	until(hi)
}

// shares divides the time of a part from lo to hi after its start among the states. Where in its
// work a part waited for locks is not known: it is spread evenly.
func (c *cell) shares(lo, hi float64) [states]float64 {
	var out [states]float64
	arrive := float64(c.work)
	if lo < arrive {
		work := min(hi, arrive) - lo
		if c.lock > 0 || c.off > 0 {
			whole := max(arrive, float64(c.lock)+float64(c.off))
			out[stateLock] = work * float64(c.lock) / whole
			out[stateOff] = work * float64(c.off) / whole
		}
		out[stateWork] = work - out[stateLock] - out[stateOff]
	}
	if hi > arrive {
		out[stateWait] = hi - max(lo, arrive)
	}
	return out
}
