// When a goroutine goes on where threads run in parallel. The threads on which Go's scheduler puts
// goroutines have the host's cores as these come: those that are let go together stand behind one
// another on one thread, while the others have no core to take one over. So each goes on when it
// could, on as many cores as the scheduler has processors.

package sim

// goSeats are these cores.
type goSeats struct {
	free   []uint64         // by seat: the clock up to which it was taken
	of     map[*thread]int  // the seat of the goroutine that a thread runs
	had    map[*thread]bool // threads that have run one
	images *images
	memory *memory
	looked int    // at so many images
	inC    bool   // a goroutine has gone on in C, where it needs no processor
	procs  uint64 // where the scheduler's number of processors is, 0 if that is not known
}

func newGoSeats(b *beside, im *images, m *memory) *goSeats {
	if b == nil {
		return nil
	}
	return &goSeats{of: map[*thread]int{}, had: map[*thread]bool{}, images: im, memory: m}
}

// take gives a thread that a goroutine comes to a seat, and returns when the goroutine goes on there that
// could from a clock on: at once, if a seat was free by then or there may be one more, else on the one
// that was free first.
func (s *goSeats) take(m *thread, ready uint64) uint64 {
	s.give(m)
	s.had[m] = true
	first, taken := -1, make([]bool, len(s.free))
	for _, i := range s.of {
		taken[i] = true
	}
	for i, at := range s.free {
		if !taken[i] && (first < 0 || at < s.free[first]) {
			first = i
		}
	}
	// none, if a processor has gone to another thread while a goroutine was in a system call
	if first < 0 || s.free[first] > ready && len(s.free) < s.most() {
		first = len(s.free)
		s.free = append(s.free, 0)
	}
	s.of[m] = first
	return max(ready, s.free[first])
}

// most is how many goroutines may run at a time; of programs without symbols, on how many threads
// some have run.
func (s *goSeats) most() int {
	for ; s.looked < len(s.images.List); s.looked++ {
		im := s.images.List[s.looked]
		if v, ok := im.DefinedVariable("runtime.gomaxprocs"); ok {
			s.procs = v + im.Bias
		}
	}
	if n, ok := s.memory.value(s.procs, 4); ok && s.procs != 0 {
		return int(int32(n))
	}
	return len(s.had)
}

// give frees a thread's seat: its goroutine has gone, by the thread's clock. It may be called on none.
func (s *goSeats) give(m *thread) {
	if s == nil {
		return
	}
	if i, ok := s.of[m]; ok {
		s.free[i] = max(s.free[i], m.now())
		delete(s.of, m)
	}
}

// seat sets the clock of a thread that a goroutine comes to. If it could go on since it was let (by
// another one, or by who collects garbage), or has only lost its thread, it does so when there is a
// seat; who has slept, when the time is over that it asked for; else the thread's clock tells: it comes
// from a system call, or a timer has let it go. Within a
// function of the table it waits for no seat: only what the function waits for is told there.
func (gr *goroutines) seat(m, t *thread) {
	x := t.goroutine
	ready, known := max(x.leftAt, t.at), x.left == leftReady || x.left == leftInner
	if (x.left != leftOff || t.awaits == offCPU) && x.ready > 0 {
		ready, known = max(ready, x.ready), true
	}
	if x.left == leftOff && t.awaits == sleepWait && x.asked > 0 {
		ready, known = ready+x.asked, true
	}
	x.ready, x.asked = 0, 0
	if gr.seats != nil {
		if at := gr.seats.take(m, ready); x.left != leftInner {
			ready = at
		}
		if known && m.core != nil {
			m.core.clock, m.host.from = ready, ready
		}
	}
	gr.clocks.advance(m, ready) // its thread may have run ahead of this one, which cannot have it sooner
}
