// What the placement of pages deals: a miss behind the first level may be one because a page got
// the frame it got. Collectors that simulate caches count at each instruction how often it would
// have missed in other placements, too (machine.Placements). What a row charges the last thread with
// and would not in another placement is luck.

package ledger

import (
	"slices"

	"lime/internal/profile"
)

// placed are the events that a kind has in other placements of pages.
type placed struct {
	kinds int                                   // other placements that were looked at; 0: none
	of    map[profile.EventID][]profile.EventID // by event of a kind that depends on it; -1: it never happened
}

// countRow are the cells of an event in an instance.
type countRow []profile.Count

// placements finds them in a profile.
func placements(tab *profile.Tables) (p placed) {
	names := map[string]int32{} // kinds that have them
	for _, k := range tab.Kinds {
		if of, n, ok := profile.Elsewhere(k.Name); ok {
			p.kinds = max(p.kinds, n+1)
			names[of] = profile.None
		}
	}
	if p.kinds == 0 {
		return p
	}
	at := map[siteOf]profile.EventID{}
	p.of = map[profile.EventID][]profile.EventID{}
	for i := range tab.Events {
		e := &tab.Events[i]
		if !valid(profile.NodeID(e.Kind), len(tab.Kinds)) {
			continue
		}
		name := tab.Kinds[e.Kind].Name
		if _, ok := names[name]; ok {
			p.of[profile.EventID(i)] = slices.Repeat([]profile.EventID{profile.None}, p.kinds)
			at[siteOf{name, e.Addr, imageOf(tab, e)}] = profile.EventID(i)
		}
	}
	for i := range tab.Events {
		e := &tab.Events[i]
		if !valid(profile.NodeID(e.Kind), len(tab.Kinds)) {
			continue
		}
		if of, n, ok := profile.Elsewhere(tab.Kinds[e.Kind].Name); ok {
			if id, ok := at[siteOf{of, e.Addr, imageOf(tab, e)}]; ok {
				p.of[id][n] = profile.EventID(i)
			}
		}
	}
	return p
}

// siteOf is an event by what tells it from others.
type siteOf struct {
	kind  string
	addr  uint64
	image profile.ImageID
}

func imageOf(tab *profile.Tables, e *profile.Event) profile.ImageID {
	if !valid(e.Node, len(tab.Nodes)) {
		return profile.None
	}
	return tab.Nodes[e.Node].Image
}

// countRows are the rows of an instance's events, where other placements were looked at.
func (p *placed) countRows(in *profile.Instance) map[int32]countRow {
	if p.kinds == 0 {
		return nil
	}
	out := map[int32]countRow{}
	for lo := 0; lo < len(in.Events); {
		hi := lo
		for hi < len(in.Events) && in.Events[hi].Row == in.Events[lo].Row {
			hi++
		}
		out[in.Events[lo].Row] = in.Events[lo:hi]
		lo = hi
	}
	return out
}

// dealt is what an event charges the last part with, and would not in each of the other placements.
type dealt struct {
	id   profile.EventID
	luck []float64
}

// dealer compares what events are charged with to what they would be in the other placements.
type dealer struct {
	placed  *placed
	counted map[int32]countRow // the rows of the instance's events
	found   []dealt
}

// event takes one. A miss counts as what one costs on average, here as there: what makes those of
// one part dearer is not the placement's doing.
func (d *dealer) event(a *accountant, id profile.EventID, cost float64, ran []uint64) {
	others := d.placed.of[id]
	n := total(d.counted[int32(id)])
	if others == nil || n == 0 {
		return
	}
	row := a.row()
	charged := func(event profile.EventID) float64 {
		clear(row)
		for _, c := range d.counted[int32(event)] {
			if c.Part >= 0 && int(c.Part) < len(row) {
				row[c.Part] += float64(c.N) * cost / n
			}
		}
		a.priceOf(row, ran)
		return row[a.r.last]
	}
	luck, here := make([]float64, len(others)), charged(id)
	for k, other := range others {
		luck[k] = here - charged(other)
	}
	a.putBack(row)
	d.found = append(d.found, dealt{id, luck})
}

func total(counts countRow) (n float64) {
	for _, c := range counts {
		n += float64(c.N)
	}
	return n
}

// enter books what an instance says of luck.
func (d *dealt) enter(b *book) {
	if m := *b.place(classEvent, int32(d.id)); m > 0 {
		e := b.rows[b.members[m-1].row]
		e.luck = plus(e.luck, d.luck)
	}
}

// plus adds ys to xs, which may be shorter.
func plus(xs, ys []float64) []float64 {
	xs = grown(xs, len(ys))
	for i, y := range ys {
		xs[i] += y
	}
	return xs
}
