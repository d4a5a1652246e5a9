// Who tells a condition that somebody may go on, and whether anybody waits there. Who comes last to a
// barrier does so when all others wait. Who puts something into a queue, or takes something out, does
// so each time: if once nobody waited, the condition is no barrier's, however few threads there are.

package native

// heard is what is known of a condition.
type heard struct {
	unheard bool // somebody told it though nobody waited
	maybe   bool // a thread has gone on and nobody was seen to let it: it may wait again, unseen
}

// hearings are those of the conditions, by address.
type hearings map[uint64]heard

// tells notes that somebody tells a condition. Of one that was there before lime nobody knows at first
// who waits there.
func (m hearings) tells(object uint64, waits, old bool) {
	h, known := m[object]
	m[object] = heard{unheard: h.unheard || !waits && !h.maybe && (known || !old)}
}

func (m hearings) unsure(object uint64) {
	h := m[object]
	h.maybe = true
	m[object] = h
}
