// Loops that wait by their code alone (package busywait), where threads run in parallel: nobody has to
// be seen in one, and followed round it, before its rounds are no work.

package sim

import (
	"slices"

	"lime/internal/collect/busywait"
	"lime/internal/collect/spin"
	"lime/internal/engine"
)

// coded knows them. Only functions that run are looked at.
type coded struct {
	memory *memory
	images *images
	blocks *blockIndex
	asked  map[uint64][]*codedLoop // by where their function begins
	of     []*codedLoop            // by BlockID, the outermost
}

// codedLoop is such a loop.
type codedLoop struct {
	spans  extents // its code
	at     uint64  // where it waits
	kind   waitEvent
	open   bool // whether it is a lock's is not known: who leaves it may try to take what it looks at
	counts bool // it has counters
	seen   *spinner
}

// at is the loop in which an instruction is, nil if there is none.
func (cd *coded) at(pc uint64) *codedLoop {
	if cd == nil || !cd.images.own(pc) {
		return nil
	}
	for _, l := range cd.function(pc) {
		if l.spans.have(pc) {
			return l
		}
	}
	return nil
}

// sync takes in the engine's blocks that are new.
func (cd *coded) sync() {
	all := cd.blocks.sync()
	for len(cd.of) < len(all) {
		cd.of = append(cd.of, cd.at(all[len(cd.of)].PC))
	}
}

// function lists the loops that wait of the function that holds an address.
func (cd *coded) function(pc uint64) []*codedLoop {
	im, s, ok := cd.images.Func(pc)
	if !ok || s.Size == 0 || s.Size > longestFunction {
		return nil
	}
	entry := s.Addr + im.Bias
	list, ok := cd.asked[entry]
	if !ok {
		list = loopsThatWait(cd.memory.code(entry, int(s.Size)), entry)
		cd.asked[entry] = list
	}
	return list
}

// longestFunction is how many bytes of a function are looked at.
const longestFunction = 1 << 20

// loopsThatWait finds them in a function's code. What is called in a loop is followed.
func loopsThatWait(text []byte, entry uint64) (list []*codedLoop) {
	f := busywait.Function{Parts: busywait.Cut(text, entry), Text: text}
	if len(f.Parts) == 0 {
		return nil
	}
	f.Proc = busywait.Flow(f.Parts)
	for _, w := range f.Waits() {
		l := &codedLoop{at: w.PC, kind: spinWait, counts: w.Counts}
		if w.Takes {
			l.kind = lockWait
		} else {
			l.open = w.Tries || f.MayTake(w.Parts)
		}
		for _, i := range w.Parts {
			l.spans = append(l.spans, extent{f.Parts[i].Addr, f.Parts[i].End})
		}
		list = append(list, l)
	}
	return list
}

// inCode is t in a loop that waits by its code alone, nil if it is in none.
func (ls *loops) inCode(t *thread) *spinner {
	l := ls.rounds.coded.at(t.ctx.RIP)
	if l == nil || l.open {
		return nil
	}
	if l.seen == nil {
		l.seen = ls.coded(t, l)
	}
	return l.seen
}

func (ls *loops) coded(t *thread, l *codedLoop) *spinner {
	s := &spinner{t: t, blocks: map[engine.BlockID]bool{}, heads: map[uint64]bool{}, own: map[uint64]bool{}, call: l.at,
		takes: l.kind == lockWait, spans: l.spans, until: never, keeps: never}
	s.loop = &spin.Loop{Fixed: !l.counts, Rounds: spin.Endless, Seen: spin.Endless, Below: map[uint64]uint64{}}
	for _, x := range l.spans {
		s.loop.Blocks, s.loop.Below[x.lo] = append(s.loop.Blocks, x.lo), 0
		for _, id := range ls.blocks.beginningIn(x.lo, x.hi) {
			pc := ls.eng.Blocks()[id].PC
			s.loop.Stops, s.loop.Below[pc] = append(s.loop.Stops, pc), 0
			s.blocks[id], s.heads[pc], s.own[pc] = true, true, true
		}
	}
	s.seen = len(ls.eng.Blocks())
	return s
}

// proved takes in what a thread that was followed has shown of a loop.
func (cd *coded) proved(s *spinner) {
	if cd == nil {
		return
	}
	for _, pc := range s.loop.Stops {
		if l := cd.at(pc); l != nil && (l.open || s.kind() == lockWait) {
			l.open, l.kind, l.seen = false, s.kind(), nil
		}
	}
}

// takeCoded takes the rounds of such loops out of a segment.
func (rd *rounds) takeCoded(t *thread, p *segment, all []hopsIn) (units uint64) {
	for _, in := range all {
		if n := min(rd.takeAround(p, in.hops), t.busy); n > 0 {
			t.busy -= n
			units += n
			p.note(in.loop.kind, in.loop.at, n)
		}
	}
	return units
}

// hopsIn is the hops in a loop.
type hopsIn struct {
	loop *codedLoop
	hops []hop
}

// inCoded is those that a segment holds.
func (rd *rounds) inCoded(p *segment) (all []hopsIn) {
	if rd.coded == nil {
		return nil
	}
	rd.coded.sync()
	edges, blocks := rd.eng.Edges(), rd.eng.Blocks()
	for i := range p.edges {
		e := &p.edges[i]
		d := &edges[e.id]
		if d.From < 0 || d.Kind != engine.EdgeTaken && d.Kind != engine.EdgeFall && d.Kind != engine.EdgeJump {
			continue
		}
		l := rd.coded.of[d.From]
		if l == nil || l.open || !l.spans.have(d.Target) {
			continue
		}
		k := slices.IndexFunc(all, func(in hopsIn) bool { return in.loop == l })
		if k < 0 {
			k, all = len(all), append(all, hopsIn{loop: l})
		}
		all[k].hops = append(all[k].hops, hop{from: blocks[d.From].PC, to: d.Target, n: e.n, edge: i})
	}
	return all
}

// takeAround takes what goes round out of a segment.
func (rd *rounds) takeAround(p *segment, list []hop) (units uint64) {
	circulate(list)
	edges, blocks := rd.eng.Edges(), rd.eng.Blocks()
	taken := map[engine.BlockID]uint64{}
	for _, h := range list {
		from := edges[p.edges[h.edge].id].From
		units += h.around * uint64(blocks[from].Instrs)
		taken[from] += h.around
	}
	if units > 0 && rd.meter.Mode() == engine.Trace {
		units = rd.takeHardware(p, taken)
	}
	for _, h := range list {
		p.edges[h.edge].n -= h.around
	}
	return units
}

// hop is a way from one block to the next that was gone so many times.
type hop struct {
	from, to uint64
	n        uint64
	around   uint64 // of these, on rounds
	edge     int    // index in its segment
}

// circulate finds which hops were parts of rounds: what is left goes round nowhere, and leads from where a
// thread has come into the loop to where it has left it, as the hops of its rounds come back to where they
// began.
func circulate(list []hop) {
	from := map[uint64][]int{}
	for i := range list {
		from[list[i].from] = append(from[list[i].from], i)
	}
	over := map[uint64]bool{} // no round leads through it any more
	for i := range list {
		for !over[list[i].from] {
			around(list, from, over, list[i].from)
		}
	}
}

// around goes on from a block until it comes back to where it was, or to an end.
func around(list []hop, from map[uint64][]int, over map[uint64]bool, pc uint64) {
	var path []int
	on := map[uint64]int{pc: 0}
	for {
		next := -1
		for _, i := range from[pc] {
			if h := &list[i]; h.around < h.n && !over[h.to] {
				next = i
				break
			}
		}
		if next < 0 {
			over[pc] = true
			return
		}
		path, pc = append(path, next), list[next].to
		if k, ok := on[pc]; ok {
			takeRound(list, path[k:])
			return
		}
		on[pc] = len(path)
	}
}

// takeRound takes a round as often as it was gone.
func takeRound(list []hop, round []int) {
	n := ^uint64(0)
	for _, i := range round {
		n = min(n, list[i].n-list[i].around)
	}
	for _, i := range round {
		list[i].around += n
	}
}
