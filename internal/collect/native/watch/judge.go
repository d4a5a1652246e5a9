package watch

// What the next access to watched bytes means.

import "lime/internal/waste"

// touch is an access to the bytes of a point, as seen behind it.
type touch struct {
	thread        int
	reads, writes bool
	system        bool   // by a system call
	call          bool   // a call's store of its return address: what was known of the bytes ends
	unknown       bool   // which instruction it was is not known
	within        access // that it made; if it is not known where, wide enough to hold it
	bytes         int    // of the point that it touched
	value         uint64
	elem          waste.Elem   // of what it stored
	at            func() Place // where it is, asked only of what wastes
}

// verdict is what a touch decides of a kind.
type verdict struct {
	kind     waste.Kind
	fraction float64 // of the point's bytes that are waste
}

// judge says what a touch decides of a point, and whether the point is of no use any more.
func (p *point) judge(t *touch) (list []verdict, over bool) {
	if t.unknown {
		return nil, true
	}
	switch {
	case t.call || t.system && t.writes:
		return p.not(p.open), true
	case t.system:
		list = p.not(p.open & waste.Of(waste.DeadStore))
	case p.store:
		list = p.judgeStore(t)
	default:
		list = p.judgeLoad(t)
	}
	for _, v := range list {
		p.open &^= waste.Of(v.kind)
	}
	return list, p.open == 0
}

// not is the verdict that nothing of some kinds was waste.
func (p *point) not(kinds waste.Set) (list []verdict) {
	for k := range waste.Kinds {
		if kinds.Has(k) {
			list = append(list, verdict{k, 0})
		}
	}
	return list
}

// judgeStore judges what follows a store.
func (p *point) judgeStore(t *touch) []verdict {
	share := float64(t.bytes) / float64(p.bytes)
	if t.thread != p.owner {
		if t.writes {
			return p.not(p.open) // who stored last is another one
		}
		return p.not(p.open & waste.Of(waste.DeadStore))
	}
	var list []verdict
	if p.open.Has(waste.DeadStore) {
		if t.reads {
			share = 0
		}
		list = append(list, verdict{waste.DeadStore, share})
	}
	if p.open.Has(waste.SilentStore) && t.writes {
		list = append(list, verdict{waste.SilentStore, one(p.same(t))})
	}
	return list
}

// judgeLoad judges what follows a load: stores of its own thread that change nothing change
// nothing. Those of others end the watch, for what stood there before is not known if they came
// just when the sampled load was made.
func (p *point) judgeLoad(t *touch) []verdict {
	switch {
	case t.thread == p.owner && t.reads:
		return []verdict{{waste.SilentLoad, one(p.same(t) || t.writes)}}
	case t.writes && (t.thread != p.owner || !p.same(t)):
		return p.not(p.open)
	case t.writes:
		p.value = t.value // as good as the old one
	}
	return nil
}

// same reports whether what stands at a point is, as far as numbers go, what stood there before.
func (p *point) same(t *touch) bool {
	if p.bytes == 8 || t.elem == waste.Float32 && p.bytes == 4 {
		return waste.Same(t.elem, []uint64{p.value}, []uint64{t.value}, p.tolerance)
	}
	return p.value == t.value
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
