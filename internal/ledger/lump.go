package ledger

import (
	"cmp"
	"math"
	"slices"

	"lime/internal/profile"
)

// A compiler may write one test of the source down several times: the test of a loop at the end of
// each arm of a branch in it, say. Each copy has its own odds in the pool, though nothing but the
// arm decides which copy is met, and the account would charge the arm and take it back at the
// tests. So tests of one line that lead to the same places are lumped: they lead to one node of no
// cost, which decides for all of them.

// testGroups numbers the tests that are copies of one another; -1 = no copy known. Tests are copies
// if they stand on one line and have the same two targets. One that was only ever seen to go one
// way is a copy of the only other test of its line which goes there too.
func testGroups(g *guide) []int32 {
	targets := targetsOf(g.tab)
	lines := map[rowKey][]int32{}
	var order []rowKey
	for v := range g.tab.Nodes {
		if n := &g.tab.Nodes[v]; len(targets[v]) == 0 || len(n.Frames) == 0 || n.Frames[0].Line <= 0 {
			continue
		}
		k := g.key(classDecision, int32(v))
		if lines[k] == nil {
			order = append(order, k)
		}
		lines[k] = append(lines[k], int32(v))
	}
	group := make([]int32, len(g.tab.Nodes))
	for v := range group {
		group[v] = profile.None
	}
	next := int32(0)
	for _, k := range order {
		if vs := lines[k]; len(vs) > 1 {
			next = groupLine(vs, targets, group, next)
		}
	}
	return group
}

// targetsOf returns where the tests lead, by address: one or two places. What is no plain test has
// none.
func targetsOf(tab *profile.Tables) [][]uint64 {
	targets := make([][]uint64, len(tab.Nodes))
	other := make([]bool, len(tab.Nodes))
	for i := range tab.Edges {
		e := &tab.Edges[i]
		if !valid(e.From, len(targets)) {
			continue
		}
		if (e.Kind != profile.EdgeTaken && e.Kind != profile.EdgeFall) || !valid(e.To, len(targets)) || tab.Nodes[e.To].Addr == 0 {
			other[e.From] = true
			continue
		}
		if at := tab.Nodes[e.To].Addr; !slices.Contains(targets[e.From], at) {
			targets[e.From] = append(targets[e.From], at)
		}
	}
	for v := range targets {
		n := len(targets[v])
		if other[v] || n > 2 || n == 1 && tab.Nodes[v].Kind != profile.EndCond {
			targets[v] = nil
		}
		slices.Sort(targets[v])
	}
	return targets
}

func groupLine(vs []int32, targets [][]uint64, group []int32, next int32) int32 {
	var pairs []int32 // the first test of every pair of targets
	for _, v := range vs {
		if len(targets[v]) != 2 {
			continue
		}
		if i := slices.IndexFunc(pairs, func(u int32) bool { return slices.Equal(targets[u], targets[v]) }); i >= 0 {
			group[v] = group[pairs[i]]
			continue
		}
		group[v] = next
		next++
		pairs = append(pairs, v)
	}
	for _, v := range vs {
		if len(targets[v]) != 1 {
			continue
		}
		found := -1
		for i, u := range pairs {
			if slices.Contains(targets[u], targets[v][0]) {
				if found >= 0 {
					found = -2
					break
				}
				found = i
			}
		}
		if found >= 0 {
			group[v] = group[pairs[found]]
		}
	}
	return next
}

// lumps are the copies that an instance has met.
type lumps struct {
	of      []int32   // by node; -1 = none
	members [][]int32 // by lump
}

// findLumps puts copies together. Where a flow starts, ends or breaks in another way than along an
// edge, a test stays by itself.
func (f *flow) findLumps(group []int32) *lumps {
	l := &lumps{of: make([]int32, len(f.nodes))}
	byGroup := map[int32][]int32{}
	var order []int32
	var ends []lack
	place := 0
	for v := range int32(len(f.nodes)) {
		l.of[v] = -1
		ends = f.endsAt(v, &place, ends)
		g := group[f.nodes[v]]
		if g < 0 || len(ends) > 0 || f.off[v] == f.off[v+1] {
			continue
		}
		if byGroup[g] == nil {
			order = append(order, g)
		}
		byGroup[g] = append(byGroup[g], v)
	}
	for _, g := range order {
		if vs := f.alikeTests(byGroup[g]); len(vs) > 1 {
			for _, v := range vs {
				l.of[v] = int32(len(l.members))
			}
			l.members = append(l.members, vs)
		}
	}
	return l
}

// alikeTests returns those of some copies that go the same ways about as often as the one that is
// met most.
func (f *flow) alikeTests(vs []int32) []int32 {
	ref, most := int32(-1), uint64(0)
	for _, v := range vs {
		for i := f.off[v]; i < f.off[v+1]; i++ {
			if e := &f.edges[i]; e.total > most {
				ref, most = e.to, e.total
			}
		}
	}
	if ref < 0 {
		return nil
	}
	best, visits := 0.0, uint64(0)
	odds := make([]float64, len(vs))
	for k, v := range vs {
		n, all := f.goesTo(v, f.tab.Nodes[f.nodes[ref]].Addr)
		if all > 0 {
			odds[k] = float64(n) / float64(all)
		}
		if all > visits {
			best, visits = odds[k], all
		}
	}
	var same []int32
	for k, v := range vs {
		if math.Abs(odds[k]-best) <= maxApart {
			same = append(same, v)
		}
	}
	return same
}

// goesTo returns how often a node was left for an address, and for any.
func (f *flow) goesTo(v int32, addr uint64) (n, all uint64) {
	for i := f.off[v]; i < f.off[v+1]; i++ {
		e := &f.edges[i]
		all += e.total
		if e.to >= 0 && f.tab.Nodes[f.nodes[e.to]].Addr == addr {
			n += e.total
		}
	}
	return n, all
}

// index returns the node of the system that decides for a node of the flow.
func (l *lumps) index(v int32) int32 {
	if u := l.of[v]; u >= 0 {
		return int32(len(l.of)) + u
	}
	return v
}

// lumped returns the system with a node for every lump behind those of the flow.
func (f *flow) lumped(l *lumps) *system {
	plain := f.system()
	if len(l.members) == 0 {
		return plain
	}
	n := len(f.nodes) + len(l.members)
	s := &system{n: n, off: make([]int32, 1, n+1), excess: append(plain.excess, make([]float64, len(l.members))...)}
	add := func(v int32) {
		for i := f.off[v]; i < f.off[v+1]; i++ {
			s.to, s.count = append(s.to, plain.to[i]), append(s.count, plain.count[i])
		}
	}
	for v := range int32(len(f.nodes)) {
		if u := l.index(v); u != v {
			s.to, s.count = append(s.to, u), append(s.count, sum(plain.count[f.off[v]:f.off[v+1]]))
		} else {
			add(v)
		}
		s.off = append(s.off, int32(len(s.to)))
	}
	for _, vs := range l.members {
		for _, v := range vs {
			add(v)
		}
		s.off = append(s.off, int32(len(s.to)))
	}
	s.comps, s.comp = components(n, s.off, s.to)
	return s
}

// lumpChoices finds how the parts differ in the tests that are several blocks.
func (a *accountant) lumpChoices() {
	for _, vs := range a.lumps.members {
		var edges []int32
		n := make([]float64, a.f.parts)
		for _, v := range vs {
			for i := a.f.off[v]; i < a.f.off[v+1]; i++ {
				edges = append(edges, i)
			}
			for p, x := range a.f.visitsOf(v) {
				n[p] += float64(x)
			}
		}
		first, base := len(a.contrasts), a.dominant(edges)
		for _, i := range edges {
			a.way(i, base, n)
		}
		most := slices.MaxFunc(vs, func(u, v int32) int { return cmp.Or(cmp.Compare(a.n[u], a.n[v]), cmp.Compare(v, u)) })
		a.choose(choice{class: classDecision, id: a.id(most), usual: usual{base: -1}}, first)
	}
}
