// Where ways may lead on which threads wait for one another, by the code of the function in which one
// waits (package busywait has its blocks): which places everybody has come past who waits there, and
// where they all come to afterwards.

package sim

import (
	"slices"
	"strings"

	"lime/internal/collect/busywait"
	"lime/internal/collect/known"
	"lime/internal/graph"
	"lime/internal/x86"
)

// route is a way through a function, past a wait.
type route struct{ entry, exit uint64 }

// mostRoutes is how many are tried around one wait, the shortest first: a library comes past two
// atomic instructions or three between its arrival and its wait (std::barrier counts who waits). Each
// that is none costs some passages of the barrier (TestInlinedBarriersInParallel).
const mostRoutes = 4

// routes lists the ways around a place where threads wait, which may be in a loop.
func (w ways) routes(at uint64, loop extents) []route {
	b := w.r.beside
	list, asked := b.routes[at]
	if !asked {
		if f := w.function(at); f != nil {
			list = w.routesIn(f, at, loop)
		}
		b.routes[at] = list
	}
	return list
}

// function is the code of the program's own function that holds an address, nil if it is not known.
func (w ways) function(at uint64) *busywait.Function {
	im, s, ok := w.r.images.Func(at)
	if !ok || s.Size == 0 || s.Size > longestFunction || !w.r.images.own(at) {
		return nil
	}
	entry := s.Addr + im.Bias
	text := w.r.memory.code(entry, int(s.Size))
	f := &busywait.Function{Parts: busywait.Cut(text, entry), Text: text}
	if len(f.Parts) == 0 {
		return nil
	}
	w.deadEnds(f)
	f.Proc = busywait.Flow(f.Parts)
	return f
}

// deadEnds takes for the end of a way what nobody goes on behind: calls that never return, and what only
// fills up the room behind a jump. (A jump through a table may lead to all that nothing else leads to.)
func (w ways) deadEnds(f *busywait.Function) {
	targets := map[uint64]bool{}
	for i := range f.Parts {
		targets[f.Parts[i].Target] = true
	}
	for i := range f.Parts {
		p := &f.Parts[i]
		fills := i > 0 && f.Parts[i-1].Branch == x86.BranchJump && !targets[p.Addr]
		if fills {
			insts, ok := p.Insts(f.Text, f.Parts[0].Addr)
			fills = ok && busywait.Pads(insts)
		}
		if fills || p.Branch == x86.BranchCall && known.Fails(w.name(p.Target)) {
			p.Branch = x86.BranchTrap
		}
	}
}

// name is that of the function at an address, be it but the way to it.
func (w ways) name(at uint64) string {
	name, _ := w.r.images.function(at)
	name, _, _ = strings.Cut(name, "@")
	return name
}

// routesIn lists those in a function. They begin where threads can meet; and, for flags that are
// plain stores, behind the last call.
func (w ways) routesIn(f *busywait.Function, at uint64, loop extents) (list []route) {
	from := f.Holding(at)
	if from < 0 {
		return nil
	}
	behind := route{}
	for e := from; e != graph.None && len(list) < mostRoutes; e = f.Proc.Idom[e] {
		exit := wayEnd(f, e, from)
		if exit == 0 {
			continue
		}
		p := &f.Parts[e]
		if behind.entry == 0 && p.Addr < at && !loop.have(p.Addr) && w.returnsTo(f, p.Addr) {
			behind = route{p.Addr, exit}
		}
		for _, pc := range w.meetings(p, at) {
			if !loop.have(pc) && len(list) < mostRoutes {
				list = append(list, route{pc, exit})
			}
		}
	}
	if behind.entry != 0 {
		list = append(list, behind)
	}
	return list
}

// wayEnd is where all come, from a block on, that leads to a wait, who have waited or not: behind the
// loop in which they wait, if the block is in front of one. 0 if there is no such place, or if a thread
// may come by the block several times before it waits.
func wayEnd(f *busywait.Function, from, wait int32) uint64 {
	p := f.Proc
	if l := p.Inner[from]; l != graph.None && !p.Loops[l].Body[wait] {
		return 0
	}
	around := int32(graph.None)
	for l := p.Inner[wait]; l != graph.None && !p.Loops[l].Body[from]; l = p.Loops[l].Parent {
		around = l
	}
	for x := p.Pdom[wait]; x >= 0 && int(x) < len(f.Parts); x = p.Pdom[x] {
		if (around == graph.None || !p.Loops[around].Body[x]) && graph.Above(x, from, p.Pdom) {
			return f.Parts[x].Addr
		}
	}
	return 0
}

// returnsTo reports whether a block is what a call returns to.
func (w ways) returnsTo(f *busywait.Function, at uint64) bool {
	i := f.Holding(at - 1)
	return i >= 0 && f.Parts[i].End == at && (f.Parts[i].Branch == x86.BranchCall || f.Parts[i].Branch == x86.BranchCallInd)
}

// meetings lists the instructions of a block in front of an address at which threads can meet, the last
// one first. Who gives its core away, or waits in the system, meets nobody.
func (w ways) meetings(p *busywait.Part, before uint64) (list []uint64) {
	for at := p.Addr; at < min(p.End, before); {
		in, ok := w.r.memory.decode(at)
		if !ok {
			break
		}
		if meets(in) && !(in.Branch == x86.BranchCall && w.name(in.Target(at)) == "sched_yield") {
			list = append(list, at)
		}
		at += uint64(in.Len)
	}
	slices.Reverse(list)
	return list
}

// onRoute puts t, which waits at a place, on a way around that which may be a barrier's, and reports
// whether there is one: if it is found to be none, it is one that begins further out. sp is the height
// of the stack in the function.
func (w ways) onRoute(t *thread, at uint64, loop extents, sp uint64) bool {
	r := w.r
	list := w.routes(at, loop)
	for i, x := range list {
		g := r.barriers.candidates[x.entry]
		switch {
		case g == nil && r.openCalls.entries[x.entry] != nil, g != nil && g.state == candidateRefuted:
			continue
		case g == nil:
			g = w.watchWay(t, x.entry, x.exit, sp)
			g.call, g.further = true, i+1 < len(list)
		case g.call && g.exit == x.exit && !t.inside(g) && (g.seen[t] || g.party[t]):
			r.barriers.refute(g) // it has come out, and waits there again
			continue
		}
		return true
	}
	return false
}
