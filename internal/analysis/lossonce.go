// Waits that happened once. A thread that is kept from its core for a moment by what the machine
// brings about as well as the program makes others wait, too; that it happens again shows that it
// is the program's doing.

package analysis

// occurrences are the parts in which a thread waited for something, and for how long.
type occurrences struct{ parts, sum, squares float64 }

func (o occurrences) and(time float64) occurrences {
	return occurrences{o.parts + 1, o.sum + time, o.squares + time*time}
}

// once reports whether an event of waiting happened once, or next to that: no part has it twice,
// and one of them has so much of its time that it weighs like less than two.
func (l *lossParts) once(event int32) bool {
	o, n := l.spread[event], l.times[event]
	return n > 0 && float64(n) <= o.parts && o.sum*o.sum < 2*o.squares
}

// termOf is the term that a section's waits by an event belong to.
func (b *lossBuilder) termOf(s *summary, event int32) string {
	if b.r.ofMachine(event) && s.loss.once(event) {
		return TermUnproved
	}
	return familyTerms[b.r.lossTab.family[event]]
}
