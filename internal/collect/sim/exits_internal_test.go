package sim

import (
	"math/rand"
	"testing"
)

// actor is a thread that handles exits and gives the lock up meanwhile, when and as often as it is told.
type actor struct {
	t       *thread
	goOn    chan bool
	stopped chan bool
}

// TestWhoseExitIsAtHand has threads handle exits that give the lock up, so that each goes on when some
// others are inside of theirs, in all orders. Whoever goes on finds its own at hand, none if it is in
// none, and keeps its place until it gives the lock up itself.
func TestWhoseExitIsAtHand(t *testing.T) {
	for seed := range int64(50) {
		r := &run{meter: countMeter{}, images: &images{}, out: &output{}, end: &end{}, focus: &focus{}}
		r.beside = &beside{r: r, turnstile: turnstile{cores: 4}}
		r.wire(nil)
		rng, actors := rand.New(rand.NewSource(seed)), make([]*actor, 4)
		for i := range actors {
			a := &actor{&thread{core: &core{}}, make(chan bool), make(chan bool)}
			actors[i] = a
			go a.play(t, r, rng.Int63())
		}
		for left := actors; len(left) > 0; {
			i := rng.Intn(len(left))
			left[i].goOn <- true
			if <-left[i].stopped {
				left = append(append([]*actor{}, left[:i]...), left[i+1:]...)
			}
		}
	}
}

// play handles some exits; the driver lets one actor go on at a time.
func (a *actor) play(t *testing.T, r *run, seed int64) {
	rng := rand.New(rand.NewSource(seed))
	<-a.goOn
	r.mu.Lock()
	for range 3 {
		r.beside.wants(a.t)
		r.exits.handling(a.t, func() {
			for range 1 + rng.Intn(3) {
				a.outside(t, r, a.t)
			}
			if rng.Intn(2) == 0 { // time passes
				r.exits.handling(nil, func() { a.outside(t, r, nil) })
				a.holds(t, r, a.t)
			}
		})
		r.beside.wants(a.t)
		a.outside(t, r, nil) // in no exit, as who waits for others at a trial
		if a.t.host.place != placeTaken {
			t.Error("its place was given away in another one's name")
		}
	}
	r.mu.Unlock()
	a.stopped <- true
}

// outside gives the lock up until the driver says so.
func (a *actor) outside(t *testing.T, r *run, cur *thread) {
	a.holds(t, r, cur)
	r.beside.outside(func() { a.stopped <- false; <-a.goOn })
	a.holds(t, r, cur)
}

func (a *actor) holds(t *testing.T, r *run, cur *thread) {
	if r.exits.cur != cur {
		t.Errorf("the exit at hand is not that of who handles one")
	}
}
