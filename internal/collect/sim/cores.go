// The simulated cores, and who runs on which.

package sim

// core is one simulated core.
type core struct {
	n       int
	clock   uint64
	busy    *thread // nil: idle
	last    *thread // that ran on it, nil: none has
	quantum uint64  // clock at which its thread must make room, if others wait
	heapPos int     // in cores.active, -1 if idle
}

// cores is the machine's cores and the threads that wait for one. The
// choice depends on clocks and numbers only.
type cores struct {
	all    []core
	active activeHeap
	ready  []*thread     // have no core; by the time since when they wait, then by number
	length uint64        // of a quantum
	given  func(*thread) // threads in parallel: each gets a core of its own, and is told
}

func newCores(n int, quantum uint64) *cores {
	c := &cores{all: make([]core, n), length: quantum}
	for i := range c.all {
		c.all[i].n, c.all[i].heapPos = i, -1
	}
	return c
}

// activeHeap holds the cores that have a thread, the lowest clock first, then the lowest number.
type activeHeap []*core

func (h activeHeap) less(i, j int) bool {
	if h[i].clock != h[j].clock {
		return h[i].clock < h[j].clock
	}
	return h[i].n < h[j].n
}

func (h activeHeap) swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].heapPos, h[j].heapPos = i, j
}

func (h *activeHeap) push(c *core) {
	c.heapPos = len(*h)
	*h = append(*h, c)
	h.up(c.heapPos)
}

func (h *activeHeap) remove(i int) {
	last := len(*h) - 1
	h.swap(i, last)
	(*h)[last].heapPos = -1
	*h = (*h)[:last]
	if i < last {
		h.fix(i)
	}
}

// fix moves a core whose clock has changed to its place.
func (h activeHeap) fix(i int) {
	if !h.up(i) {
		h.down(i)
	}
}

func (h activeHeap) up(i int) (moved bool) {
	for i > 0 && h.less(i, (i-1)/2) {
		h.swap(i, (i-1)/2)
		i, moved = (i-1)/2, true
	}
	return moved
}

func (h activeHeap) down(i int) {
	for {
		least := 2*i + 1
		if least >= len(h) {
			return
		}
		if least+1 < len(h) && h.less(least+1, least) {
			least++
		}
		if !h.less(least, i) {
			return
		}
		h.swap(i, least)
		i = least
	}
}

// next is the core to run.
func (c *cores) next() *core {
	if len(c.active) == 0 {
		return nil
	}
	return c.active[0]
}

// behind is the lowest clock of the other cores; ok is false if there are none.
func (c *cores) behind(me *core) (clock uint64, other *core) {
	for i := 0; i < len(c.active) && i < 3; i++ { // the root, or one of its children
		x := c.active[i]
		if x != me && (other == nil || x.clock < other.clock || x.clock == other.clock && x.n < other.n) {
			other = x
		}
	}
	if other == nil {
		return 0, nil
	}
	return other.clock, other
}

// first reports whether me is the core that must run next.
func (c *cores) first(me *core) bool {
	if c.given != nil {
		return true // what is done is done in the order in which it happens
	}
	clock, other := c.behind(me)
	return other == nil || me.clock < clock || me.clock == clock && me.n < other.n
}

// moved puts a core whose clock has changed back in order.
func (c *cores) moved(k *core) {
	if k.heapPos >= 0 {
		c.active.fix(k.heapPos)
	}
}

// place gives a thread that is ready a core, or lets it wait for one.
func (c *cores) place(t *thread) {
	if c.given != nil {
		t.core = &core{n: int(t.id), clock: max(t.at, t.readyAt), busy: t, heapPos: -1}
		c.given(t)
		return
	}
	if k := c.idleFor(t); k != nil {
		c.assign(k, t)
		return
	}
	i := len(c.ready)
	for i > 0 && later(c.ready[i-1], t) {
		i--
	}
	c.ready = append(c.ready, nil)
	copy(c.ready[i+1:], c.ready[i:])
	c.ready[i] = t
}

func later(a, b *thread) bool {
	return a.readyAt > b.readyAt || a.readyAt == b.readyAt && a.id > b.id
}

// may says that the program lets t run on core k.
func (t *thread) may(k *core) bool {
	if t.g == nil {
		return true
	}
	mask := t.g.Affinity()
	return mask == nil || k.n/8 < len(mask) && mask[k.n/8]&(1<<(k.n%8)) != 0
}

// idleFor prefers the core on which the thread ran last, for its caches' sake; then, for the
// others' sake, one to which no other thread would like to come back; then one that is idle at the
// time.
func (c *cores) idleFor(t *thread) *core {
	if t.lastCore >= 0 && c.all[t.lastCore].busy == nil && t.may(&c.all[t.lastCore]) {
		return &c.all[t.lastCore]
	}
	var best *core
	worth := -1
	for i := range c.all {
		k := &c.all[i]
		if k.busy != nil || !t.may(k) {
			continue
		}
		w := 0
		if k.free() {
			w += 2
		}
		if k.clock <= t.readyAt {
			w++
		}
		if w > worth {
			best, worth = k, w
		}
	}
	return best
}

// free says that no thread would like to come back to the core.
func (k *core) free() bool { return k.last == nil || k.last.gone || k.last.lastCore != k.n }

func (c *cores) assign(k *core, t *thread) {
	k.busy, k.last, t.core, t.lastCore = t, t, k, k.n
	k.clock = max(k.clock, t.readyAt)
	t.queued += k.clock - t.readyAt
	k.quantum = k.clock + c.length
	c.active.push(k)
}

// release takes the thread off its core, which goes to the next one that waits.
func (c *cores) release(t *thread) {
	k := t.core
	if k == nil {
		c.unqueue(t)
		return
	}
	t.core, k.busy = nil, nil
	if c.given != nil {
		return
	}
	c.active.remove(k.heapPos)
	if next := c.waitsFor(k); next != nil {
		c.unqueue(next)
		c.assign(k, next)
	}
}

// hold lets a core stand still with its thread.
func (c *cores) hold(k *core) { c.active.remove(k.heapPos) }

// give gives the core of a thread that is held to the next one that waits for it, at a clock.
func (c *cores) give(t *thread, at uint64) {
	k := t.core
	c.resume(k, at)
	c.release(t)
}

// resume lets it go on, not before a clock.
func (c *cores) resume(k *core, at uint64) {
	k.clock = max(k.clock, at)
	c.active.push(k)
}

// waitsFor is the thread that waits longest and may run on core k.
func (c *cores) waitsFor(k *core) *thread {
	for _, t := range c.ready {
		if t.may(k) {
			return t
		}
	}
	return nil
}

func (c *cores) unqueue(t *thread) {
	for i, x := range c.ready {
		if x == t {
			c.ready = append(c.ready[:i], c.ready[i+1:]...)
			return
		}
	}
}

// yield puts the core's thread behind those that wait, if there are any, and
// takes it off a core on which it may no longer run.
func (c *cores) yield(k *core) {
	if c.given != nil {
		return
	}
	t := k.busy
	if next := c.waitsFor(k); t.may(k) && (next == nil || next.readyAt > k.clock) {
		return
	}
	c.release(t)
	t.readyAt = k.clock
	c.place(t)
}

// settle gives idle cores to threads that wait, after the program has changed where they may run.
func (c *cores) settle() {
	for i := 0; i < len(c.ready) && len(c.active) < len(c.all); {
		t := c.ready[i]
		if k := c.idleFor(t); k != nil {
			c.unqueue(t)
			c.assign(k, t)
			continue
		}
		i++
	}
}
