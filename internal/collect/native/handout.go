// Work that goes to whoever comes first: dynamic loops, pools, stealing. With fewer cores than
// threads, who had a core did it, and the threads' CPU times are no shares that the program dealt
// out: a time line with a core for every thread would show an imbalance that there is not.

package native

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"lime/internal/collect"
	"lime/internal/profile"
	"lime/internal/section"
)

// episodes are the meetings of threads that have begun.
type episodes struct {
	out    *output
	roster *roster
	shared *shared

	begun map[uint64]*episode // by what names the meeting
}

// episode is a meeting of threads that has begun: how much CPU time each had had when the first of
// them came.
type episode struct{ cpu map[*thread]uint64 }

// comes remembers, when a thread comes to the end of a section, how much it has worked since the
// first one came.
func (es *episodes) comes(t *thread, p *piece, object, at uint64) {
	e := es.begun[object]
	if object == 0 || !es.shared.events.switches {
		return
	}
	if e == nil {
		e = &episode{map[*thread]uint64{}}
		for _, o := range es.roster.threads {
			if !o.ended {
				e.cpu[o] = o.cpu.at(at)
			}
		}
		es.begun[object] = e
	}
	now := t.cpu.at(at)
	p.after, p.met, t.met, t.came = now-min(e.cpu[t], now), e, e, arrival{p, t.cpu.idle}
}

// met ends the meeting that a thread leaves: the others may have come to the next one already.
func (es *episodes) met(t *thread, object uint64) {
	if e := es.begun[object]; e != nil && e == t.met {
		delete(es.begun, object)
	}
}

// arrival is what a thread came to the end of a section with, and for how long it had been idle by then.
type arrival struct {
	with *piece
	idle uint64
}

// handouts tell, by section, how much less threads worked than the longest of their instances, and
// for how much of that they are proved to have waited: single instances tell little.
type handouts map[handoutKey]*handout

// handoutKey is a section, with or without the part of a keeper, and its passages at whose end a thread
// has spun, or those at which none has: they are not known equally well.
type handoutKey struct {
	row        int32
	team       int // the how manieth of those that take of the same work
	kept, spun bool
}

type handout struct{ less, waited uint64 }

// ownShare of the mean is more than what a thread does that begins when all work has been handed out.
const ownShare = 0.25

// handedOut is for how long each part's thread works with a core for each, if the work of most of its
// section goes to whoever comes first; nil if it does not, and the CPU times themselves tell.
func (o *output) handedOut(in *section.Instance, row int32, cpu []uint64) []uint64 {
	if len(in.Parts) < 2 || !slices.Contains([]section.Kind{section.Barrier, section.Built, section.Region, section.Join}, in.Kind) {
		return nil
	}
	if in.Kind == section.Barrier && o.code != nil && o.singles.end(o.code, uint64(in.Place)) {
		return nil
	}
	k := keeper(in)
	if k < 0 {
		return o.dealtAmong(in, handoutKey{row: row}, cpu)
	}
	if even := o.withKeeper(in, row, cpu, k); even != nil {
		return even
	}
	others := *in
	others.Parts = slices.Delete(slices.Clone(in.Parts), k, k+1)
	even := o.dealtAmong(&others, handoutKey{row: row, kept: true}, slices.Delete(slices.Clone(cpu), k, k+1))
	if even == nil {
		return nil
	}
	return slices.Insert(even, k, cpu[k])
}

// withKeeper is the same if the keeper has taken work like the others: it ran the same code, and what
// it is proved to have waited is less than half of what it did less than any of them. Else nil.
func (o *output) withKeeper(in *section.Instance, row int32, cpu []uint64, k int) []uint64 {
	after, known := whenTheFirstCame(in)
	if !known || !o.sameCode(in.Parts, k) || 2*provedWaits(in, cpu, after)[k] > slices.Max(cpu)-cpu[k] {
		return nil
	}
	return o.dealtAmong(in, handoutKey{row: row}, cpu)
}

// sameCode reports whether most samples of a part are in functions in which others have some, too.
func (o *output) sameCode(parts []section.Part, k int) bool {
	r, others := roleOf(o.code, &parts[k]), role{at: map[*function]bool{}}
	for i := range parts {
		if i != k {
			maps.Copy(others.at, roleOf(o.code, &parts[i]).at)
		}
	}
	return r.mostlyIn(&others)
}

// dealtAmong deals the work of each team out among its threads. Who takes of no work of the others' has
// its own.
func (o *output) dealtAmong(in *section.Instance, key handoutKey, cpu []uint64) []uint64 {
	all := teams(o.code, in.Parts)
	if len(all) < 2 {
		return o.dealtInTeam(in, key, cpu)
	}
	out, dealt := slices.Clone(cpu), false
	for i, team := range all {
		of := *in
		of.Parts, key.team = nil, i
		var own []uint64
		for _, k := range team {
			of.Parts, own = append(of.Parts, in.Parts[k]), append(own, cpu[k])
		}
		if len(team) == 1 {
			continue
		}
		if even := o.dealtInTeam(&of, key, own); even != nil {
			dealt = true
			for j, k := range team {
				out[k] = even[j]
			}
		}
	}
	if !dealt {
		return nil
	}
	return out
}

func (o *output) dealtInTeam(in *section.Instance, key handoutKey, cpu []uint64) []uint64 {
	if waits := o.waits(in, key, cpu); waits != nil {
		return evenly(cpu, waits)
	}
	return nil
}

// keeper is the part of a thread that waits for the others, which it has made, and came first, or made
// them all and is not joined as they are: none of what they did was for it, unless it took of their
// work. -1: there is none.
func keeper(in *section.Instance) int {
	first := 0
	for i := range in.Parts {
		if p := lastPiece(&in.Parts[i]); p.awaits && p.madeOthers(in.Parts) {
			return i
		}
	}
	for i := range in.Parts {
		if lastPiece(&in.Parts[i]).to < lastPiece(&in.Parts[first]).to {
			first = i
		}
	}
	if p := lastPiece(&in.Parts[first]); !p.awaits && (in.Kind != section.Join || !p.madeOthers(in.Parts)) {
		return -1
	}
	return first
}

// madeOthers reports whether all other parts are of threads that the piece's thread has made: who waits
// for a scope of Rust's calls no join.
func (p *piece) madeOthers(parts []section.Part) bool {
	return p.thread != nil && !slices.ContainsFunc(parts, func(o section.Part) bool {
		t := lastPiece(&o).thread
		return t == nil || t != p.thread && t.parent != p.thread
	})
}

// waits is for how long each thread of an instance waits at its end; nil if its work was not handed
// out. Who begins when the first one has come finds nothing any more where work is handed out: if it
// had much to do all the same, that was its own. And what threads differ by must not be what they
// have waited for one another instead.
func (o *output) waits(in *section.Instance, key handoutKey, cpu []uint64) []uint64 {
	if hasTasks(in) {
		return idled(in, cpu)
	}
	after, known := whenTheFirstCame(in)
	if !known {
		return nil
	}
	key.spun = slices.ContainsFunc(in.Parts, func(p section.Part) bool { return lastPiece(&p).cameUnseen })
	h := o.handouts[key]
	if h == nil {
		h = &handout{}
		o.handouts[key] = h
	}
	waits := provedWaits(in, cpu, after)
	if lastPiece(&in.Parts[slices.Index(cpu, slices.Max(cpu))]).cameUnseen { // this one tells nothing
		if h.less > 0 && 2*h.waited >= h.less {
			return nil
		}
		return make([]uint64, len(cpu))
	}
	less := uint64(len(cpu))*slices.Max(cpu) - total(cpu)
	h.less += less
	if !mayBeHandedOut(in, cpu, after, o.idle.cores) {
		h.waited += less
		return nil
	}
	h.waited += total(waits)
	if 2*h.waited >= h.less {
		return nil
	}
	return waits
}

// mayBeHandedOut reports whether nothing speaks against it but what threads had left when the first
// one was done.
func mayBeHandedOut(in *section.Instance, cpu, after []uint64, cores int) bool {
	mean := float64(total(cpu)) / float64(len(cpu))
	for i := range cpu {
		if after[i] >= cpu[i] && float64(cpu[i]) >= ownShare*mean {
			return false
		}
	}
	over := float64(slices.Max(cpu)) - mean
	return !waitedInstead(in, cpu) && (len(cpu) > cores || deprived(in, cpu, mean-ownShare*over))
}

// provedWaits is for how long each thread must have waited at the end, whether work was handed out or
// dealt out before. With a core from when it came, it would have waited for no longer than any other
// one still worked; with one from the beginning, for no longer than it worked less than the longest.
func provedWaits(in *section.Instance, cpu, after []uint64) []uint64 {
	most, left, last := slices.Max(cpu), slices.Max(after), uint64(0)
	for i := range in.Parts {
		last = max(last, lastPiece(&in.Parts[i]).to)
	}
	waits := make([]uint64, len(cpu))
	for i, c := range cpu {
		waits[i] = min(most-c, left, last-min(lastPiece(&in.Parts[i]).came(), last))
	}
	return waits
}

// came is when a piece's thread had nothing more to do. Who is let go while it spins ends its piece
// then, and had come before. A goroutine that has counted down and not been seen to wait since then may
// have lost its core there, and would have come for more.
func (p *piece) came() uint64 {
	switch {
	case p.spunFrom != 0:
		return min(p.spunFrom, p.to)
	case !p.counts:
		return p.to
	case p.idleAt == 0:
		return math.MaxUint64
	}
	return p.idleAt
}

// hasTasks reports whether threads do tasks while they wait at an instance's end.
func hasTasks(in *section.Instance) bool {
	return slices.ContainsFunc(in.Parts, func(p section.Part) bool {
		return slices.ContainsFunc(p.Spans, func(s any) bool { return s.(*piece).tasks })
	})
}

// idled is the same where threads do tasks while they wait, which always go to whoever comes first:
// nobody sees what is left of them, but whether a thread had one, or wanted a core for one.
func idled(in *section.Instance, cpu []uint64) []uint64 {
	waits, most := make([]uint64, len(cpu)), slices.Max(cpu)
	for i, c := range cpu {
		p := lastPiece(&in.Parts[i])
		if p.met == nil {
			return nil
		}
		waits[i] = min(most-c, p.idled)
	}
	return waits
}

func total(list []uint64) (sum uint64) {
	for _, x := range list {
		sum += x
	}
	return sum
}

// whenTheFirstCame is how much each part's thread worked after the first one came to the end of the
// instance.
func whenTheFirstCame(in *section.Instance) (after []uint64, known bool) {
	i := slices.IndexFunc(in.Parts, func(p section.Part) bool { return lastPiece(&p).met != nil })
	if i < 0 {
		return afterTheFirst(in)
	}
	first := lastPiece(&in.Parts[i])
	for i := range in.Parts {
		p := lastPiece(&in.Parts[i])
		switch {
		case p.met == first.met:
			after = append(after, p.after)
		case p.met == nil && in.Kind == section.Join && p.siblingOf(first):
			now := p.cpuFrom + p.cpu
			after = append(after, now-min(first.met.cpu[p.thread], now))
		default:
			return nil, false
		}
	}
	return after, true
}

// siblingOf reports whether one thread has made both pieces' threads. Of those that are counted down
// the last one lets their maker go on before it ends, and has come to their end then.
func (p *piece) siblingOf(o *piece) bool {
	return p.thread != nil && o.thread != nil && p.thread.parent != nil && p.thread.parent == o.thread.parent
}

// afterTheFirst is the same of goroutines, which may come to an end more than once, so that the last
// time counts, and of threads that wait at a condition or in a loop, which only turns out to be a
// meeting when it is over. Times off a processor that are not remembered any more count as worked.
func afterTheFirst(in *section.Instance) (after []uint64, known bool) {
	first := uint64(math.MaxUint64)
	for i := range in.Parts {
		p := lastPiece(&in.Parts[i])
		if p.thread == nil || p.thread.goroutine == nil && !p.thread.cpu.known {
			return nil, false
		}
		first = min(first, p.came())
	}
	spun := slices.ContainsFunc(in.Parts, func(p section.Part) bool { return lastPiece(&p).cameUnseen })
	for i := range in.Parts {
		after = append(after, workedSince(first, lastPiece(&in.Parts[i]), spun))
	}
	return after, true
}

// workedSince is how long a part's thread worked from a moment on. Of who has spun at the end nothing is
// claimed: nobody knows how much of it was to wait. spun: others have, and it may have before, giving its
// core away more often than is remembered; of what is forgotten nothing is claimed then.
func workedSince(first uint64, p *piece, spun bool) uint64 {
	if p.cameUnseen {
		return 0
	}
	from := max(first, p.thread.start)
	if spun {
		from = max(from, p.thread.cpu.blank)
	}
	from = min(from, p.to)
	off := p.thread.cpu.offIn(from, p.to)
	return p.to - from - min(off, p.to-from)
}

func lastPiece(p *section.Part) *piece { return p.Spans[len(p.Spans)-1].(*piece) }

// waitedInstead reports whether waiting is more of what the threads differ by than anything else: who
// does less because he waits for others' work comes to the end together with the others, too, as
// stages of a pipeline do.
func waitedInstead(in *section.Instance, cpu []uint64) bool {
	longest := slices.Index(cpu, slices.Max(cpu))
	own, waited, less := waitsOf(in.Parts[longest].Spans), uint64(0), uint64(0)
	for i, c := range cpu {
		w := waitsOf(in.Parts[i].Spans)
		less += cpu[longest] - c
		waited += min(w-min(own, w), cpu[longest]-c)
	}
	return 2*waited > less
}

// waitsOf is for how long a part's thread waited for others' work.
func waitsOf(spans []any) (ns uint64) {
	for _, s := range spans {
		p := s.(*piece)
		for i := range p.off {
			if profile.FamilyOf(p.off[i].kind) == profile.FamilyWait {
				ns += p.off[i].wait
			}
		}
	}
	return ns
}

// deprived reports whether all would have come to some time on a core if they had had one all the
// while since the first one began: where there are cores for all threads, other programs may have had
// them.
func deprived(in *section.Instance, cpu []uint64, all float64) bool {
	began := make([]uint64, len(cpu))
	for i := range in.Parts {
		began[i] = in.Parts[i].Spans[0].(*piece).from
	}
	first := slices.Min(began)
	for i := range in.Parts {
		had := cpu[i] + began[i] - first
		for _, s := range in.Parts[i].Spans {
			had += s.(*piece).queued
		}
		if float64(had) < all {
			return false
		}
	}
	return true
}

// evenly divides the CPU time of an instance among its parts, so that each waits at its end for as
// long as is proved: on as many cores as threads, who comes first would have come as often as the
// others.
func evenly(cpu, waits []uint64) []uint64 {
	whole := (total(cpu) + total(waits)) / uint64(len(cpu))
	each := make([]uint64, len(cpu))
	for i, w := range waits {
		each[i] = whole - min(w, whole)
	}
	return each
}

// noteDealt says which imbalance is not told, and what is known instead.
func (r *run) noteDealt(notes collect.Notes, wall uint64) {
	dealt := 0
	for _, p := range r.all() {
		dealt += p.out.dealt
	}
	if dealt == 0 || wall == 0 {
		return
	}
	notes.Set(profile.NoteHandedOut, fmt.Sprintf("in %d instances of sections the work went to whoever came first, "+
		"and who had one of %d cores decided who that was: their imbalance is told "+
		"as far as any of them had work left when others had none. On the real cores %.0f %% of the time was work", dealt, cores(),
		100*float64(r.sumWork())/float64(wall)/float64(cores())), 1)
}
