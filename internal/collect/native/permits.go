// Semaphores of which threads take permits, work with them and give them back: with k permits, what
// is done with one takes the k-th part of its time at least, on however many cores.

package native

import (
	"slices"

	"lime/internal/collect/native/hook"
	"lime/internal/profile"
	"lime/internal/section"
)

// permits follow the semaphores of a process.
type permits struct {
	places *places

	semaphores map[uint64]*semaphore // of which it is known how many permits they have, by address
}

// semaphore is one that only this process uses. A permit that a thread gives back without having
// taken one is one more: so many threads have one at a time at most, whatever else the semaphore is
// used for. Who takes one by an attempt, or with a time limit, is not seen to have it.
type semaphore struct {
	most     uint64
	*guessed // of one that is made of a futex; else nil
}

// permit is one that a thread has.
type permit struct {
	call        uint64 // the program's own call that took it
	at          uint64
	cpu, rested uint64 // of the thread, then
}

// held is permits of a semaphore that were taken at one place in one piece.
type held struct {
	of     *semaphore
	call   uint64
	n, cpu uint64
	rested uint64
	within []uint64 // each of one more was had in so much of the thread's time
}

// counts begins a semaphore. One that other processes use, too, has permits that nobody sees.
func (ps *permits) counts(_ *thread, h *hook.Record, _ uint64) {
	value, shared := uint32(h.Arg1), uint32(h.Arg1>>32)
	delete(ps.semaphores, h.Arg0)
	if shared == 0 {
		ps.semaphores[h.Arg0] = &semaphore{most: uint64(value)}
	}
}

// takes notes that a thread waits for a permit. It has no core while it does so, and goes on with it;
// if a signal ends the wait, it asks again.
func (ps *permits) takes(t *thread, h *hook.Record, at uint64) {
	if ps.semaphores[h.Arg0] == nil {
		return
	}
	s := ps.places.site(h).Site
	if t.permits == nil {
		t.permits = map[uint64]permit{}
	}
	t.permits[h.Arg0] = permit{uint64(s.Place()), at, t.cpu.at(at), t.rested}
}

// givesBack notes for how long a thread had a permit. Of what it did in an earlier piece nothing is
// counted: that belongs to another section, maybe.
func (ps *permits) givesBack(t *thread, h *hook.Record, at uint64) {
	s := ps.semaphores[h.Arg0]
	if s == nil {
		return
	}
	p, took := t.permits[h.Arg0]
	delete(t.permits, h.Arg0)
	if !took {
		s.most++
		return
	}
	x := held{of: s, call: p.call, n: 1, cpu: t.cpu.at(at) - p.cpu, rested: t.rested - p.rested}
	if t.piece.from > p.at {
		x.cpu, x.rested = t.cpu.at(at)-t.piece.cpuFrom, 0
	}
	t.piece.addHeld(x)
}

func (p *piece) addHeld(x held) {
	for i := range p.held {
		if k := &p.held[i]; k.of == x.of && k.call == x.call {
			k.n, k.cpu, k.rested, k.within = k.n+x.n, k.cpu+x.cpu, k.rested+x.rested, append(k.within, x.within...)
			return
		}
	}
	p.held = append(p.held, x)
}

// heldIn is the permits that each part of an instance had, and the semaphores in order.
func heldIn(in *section.Instance) (parts [][]held, semaphores []*semaphore) {
	seen := map[*semaphore]bool{}
	for i := range in.Parts {
		var sum piece
		for _, s := range in.Parts[i].Spans {
			p := s.(*piece)
			for _, x := range p.held { // as much of it was spinning as of the piece
				x.cpu = uint64(float64(x.cpu) * float64(p.working()) / float64(max(1, p.cpu)))
				x.within = slices.Clone(x.within)
				sum.addHeld(x)
				if !seen[x.of] {
					seen[x.of], semaphores = true, append(semaphores, x.of)
				}
			}
		}
		parts = append(parts, sum.held)
	}
	return parts, semaphores
}

// forPermits makes waits for others' work waits for a permit, where a part takes one and gives it back.
func forPermits(waits []offWait, list []held) {
	for i := range waits {
		w := &waits[i]
		if w.kind == kindWork && slices.ContainsFunc(list, func(x held) bool { return x.call == w.call }) {
			w.kind = kindTurn
		}
	}
}

// permits makes parts wait for permits as long as they must: an instance takes as long as all that was
// done with a semaphore's permits, one after the other, divided by how many there are.
func (o *output) permits(x *profile.Instance, parts [][]held, semaphores []*semaphore) {
	for _, s := range semaphores {
		least := leastTime(parts, s)
		for i, list := range parts {
			p := &x.Parts[i]
			n, call := uses(list, s)
			if n == 0 || p.Arrive >= least {
				continue
			}
			wait := least - p.Arrive
			p.Arrive, p.LockWait = least, p.LockWait+wait
			id := int32(o.offEvent(offKey{kindTurn, call}))
			if !slices.ContainsFunc(x.Events, func(c profile.Count) bool { return c.Row == id && c.Part == int32(i) }) {
				x.Events = addCount(x.Events, id, int32(i), n) // else so often it was seen to wait
			}
			x.Costs = addCount(x.Costs, id, int32(i), wait)
		}
	}
}

// leastTime is how long it takes at least to do what was done with a semaphore's permits.
func leastTime(parts [][]held, s *semaphore) (ns uint64) {
	for _, list := range parts {
		for _, x := range list {
			if x.of == s {
				ns += x.cpu + x.rested + s.guess(x.within)
			}
		}
	}
	return ns / max(1, s.most)
}

// uses is how often a part took a permit of a semaphore, and where it did so most often.
func uses(list []held, s *semaphore) (n, call uint64) {
	most := uint64(0)
	for _, x := range list {
		if x.of != s {
			continue
		}
		if n += x.n; x.n >= most {
			most, call = x.n, x.call
		}
	}
	return n, call
}
