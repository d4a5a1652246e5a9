// What a round does as a whole, and what stays the same from one round to the next.

package busywait

// round is what is known of all ways round the loop.
type round struct {
	again     bool  // there is one
	back      state // what is where at its end
	addresses set   // what the addresses of what it loads depend on
	exits     []exit
	attempts  []attempt
}

// exit is a branch out of the loop, and what it depends on.
type exit struct {
	at   At
	test value
}

// attempt is an atomic instruction that puts a value into a word if it finds there what it expects.
type attempt struct {
	at           At
	put, expects value
	compares     bool // cmpxchg: it puts it there only then
	raced        bool // the word was found free on the way there: who fails has been overtaken
}

// retries reports whether the attempt fails only if others have changed the word since it was
// loaded.
func (t *attempt) retries(f fixed) bool { return t.compares && f.loads(t.expects) }

// fixed is what holds the same in every round.
type fixed struct {
	varying set  // all else
	loaded  set  // by what memory holds
	counts  bool // some of what varies depends on itself
}

func (f fixed) holds(deps set) bool { return deps&f.varying == 0 }

func (f fixed) loads(v value) bool { return v.loaded || v.deps&f.loaded != 0 }

// fixed finds what varies: what depends on itself from round to round, or on what no place holds, and
// what depends on that. ok is false if a place depends on itself that is no counter. end is behind
// the last place.
func (r *round) fixed(end int) (f fixed, ok bool) {
	changed := set(0)
	for i := range end {
		if int(r.back.at[i].is) != i {
			changed |= only(i)
		}
	}
	ok, f.varying = true, only(world)
	changed.each(func(i int) {
		if v := r.back.at[i]; r.reached(v.deps, changed)&only(i) != 0 {
			f.varying |= only(i)
			f.counts, ok = true, ok && v.counter
		}
	})
	own := f.varying
	changed.each(func(i int) {
		v := r.back.at[i]
		all := r.reached(v.deps, changed)
		if all&own != 0 {
			f.varying |= only(i)
		}
		if v.loaded || r.anyLoaded(all&changed) {
			f.loaded |= only(i)
		}
	})
	return f, ok
}

// reached is all that places of some set depend on, over any number of rounds, with the set.
func (r *round) reached(from, changed set) set {
	for seen := set(0); from != seen; {
		fresh := from &^ seen
		seen = from
		fresh.each(func(i int) {
			if changed&only(i) != 0 {
				from |= r.back.at[i].deps
			}
		})
	}
	return from
}

func (r *round) anyLoaded(places set) (yes bool) {
	places.each(func(i int) { yes = yes || r.back.at[i].loaded })
	return yes
}
