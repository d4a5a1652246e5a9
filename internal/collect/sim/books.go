// Where each instruction of a thread went: every one that it executed is counted in a section, or
// was taken out for one of the reasons below. The sums are held against what the engine executed.

package sim

import (
	"maps"
	"slices"

	"lime/internal/profile"
)

// outOf is why instructions are counted in no section.
type outOf uint8

const (
	outLoop   outOf = iota // rounds of loops in which the thread waited (package spin)
	outCall                // inside of calls that wait, from the call to the return
	outWay                 // of a runtime's code, on the way into the program's own, or back into it after a wait
	outIdle                // a runtime's thread that has no work
	outRegion              // outside of what is measured
	outOfs
)

// book is the account of a thread's instructions.
type book struct {
	executed uint64 // as the engine counts
	cut      uint64 // in segments
	counted  uint64 // of these, in segments that a section has
	out      [outOfs]uint64
}

// without notes that a thread is not counted for some edges.
func (sg *segments) without(t *thread, why outOf, list []edgeCount) {
	t.book.out[why] += sg.places.instrs(list)
}

// closed notes that a segment of t has ended.
func (sg *segments) closed(t *thread, p *segment) {
	p.by = t
	t.book.cut += sg.places.instrs(p.edges)
}

// counts notes that a section has a segment; sections may nest.
func (sg *segments) counts(p *segment) {
	if !p.written {
		p.written = true
		p.by.book.counted += sg.places.instrs(p.edges)
	}
}

// names of the reasons in the profile.
func outNames() [outOfs]string {
	return [outOfs]string{
		outLoop: profile.OutLoop, outCall: profile.OutCall, outWay: profile.OutRuntime, outIdle: profile.OutIdle,
		outRegion: profile.OutRegion,
	}
}

// account writes what became of the threads' instructions. Goroutines are rows that others have,
// too, so theirs and their threads' are one sum.
func (o *output) account() {
	rows := map[profile.ThreadID]*book{}
	for _, t := range slices.Concat(o.roster.threads, running(o.roster.threads)) {
		o.segments.lastOf(t)
	}
	rows[profile.None] = &o.goroutines.table.book
	for _, t := range o.roster.threads {
		if t.row == profile.None || t.hosts != nil {
			rows[profile.None].add(t.book)
		} else {
			rows[profile.ThreadID(t.row)] = t.book
		}
	}
	for _, row := range slices.Sorted(maps.Keys(rows)) {
		for _, a := range rows[row].list() {
			a.Thread = row
			o.sink.AddAccount(a)
		}
	}
}

// lastOf books what a thread has done since its last segment.
func (sg *segments) lastOf(t *thread) {
	if t.ctx != nil && !t.gone {
		sg.forget(t, outWay)
	}
	sg.without(t, outWay, t.carry)
	t.carry = nil
}

func (b *book) add(o *book) {
	b.executed, b.cut, b.counted = b.executed+o.executed, b.cut+o.cut, b.counted+o.counted
	for k := range b.out {
		b.out[k] += o.out[k]
	}
}

// list is the book's rows in the profile.
func (b *book) list() (rows []profile.Accounted) {
	add := func(what string, n uint64) {
		if n > 0 {
			rows = append(rows, profile.Accounted{What: what, Instrs: n})
		}
	}
	add(profile.Executed, b.executed)
	add(profile.InSections, b.counted)
	sum := b.cut
	for k, name := range outNames() {
		add(name, b.out[k])
		sum += b.out[k]
	}
	add(profile.OutNoSection, b.cut-b.counted)
	add(profile.Unaccountable, max(sum, b.executed)-min(sum, b.executed))
	return rows
}
