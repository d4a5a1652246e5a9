// Who shares a section's work. A thread that hands work out, or starts threads and waits for their
// end, is there as long as they are and waits nearly all the time: it needs no core of its own, and
// that it works less than they is no imbalance.

package analysis

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"lime/internal/origin"
	"lime/internal/profile"
)

// members tells such helpers from the threads that share the work.
type members struct {
	tab      *profile.Tables
	instrs   bool // a block's time is its instructions
	sampled  bool
	function []profile.FunctionID // by node; None: no function is known
	own      []bool               // by node: the program's own code
}

func newMembers(m *profile.Meta, tab *profile.Tables) *members {
	x := &members{tab: tab, instrs: m.NodeTime != "stored", sampled: m.CountLabel == profile.Sampled, function: make([]profile.FunctionID, len(tab.Nodes)), own: make([]bool, len(tab.Nodes))}
	owner := newRuntimes(tab)
	for v := range tab.Nodes {
		n := &tab.Nodes[v]
		x.function[v] = n.Function
		os := owner.owners(profile.NodeID(v))
		x.own[v] = n.Function >= 0 && os[len(os)-1] == origin.Program && !x.library(n)
	}
	return x
}

// library reports whether a block's function is a library's.
func (x *members) library(n *profile.Node) bool {
	if n.Image >= 0 && int(n.Image) < len(x.tab.Images) && origin.LibraryImage(x.tab.Images[n.Image].Path) {
		return true
	}
	if len(n.Frames) == 0 {
		return false
	}
	f := n.Frames[len(n.Frames)-1].File
	return f >= 0 && int(f) < len(x.tab.Files) && origin.LibraryFile(x.tab.Files[f].Path)
}

// helpers marks the parts of threads that help those that share an instance's work; nil if there is
// none. Those that wait for one another at a barrier, or were made by a runtime, all share it. At
// the end of threads helpers are those that
//   - work so little that the others would take no longer, by what is worth a word, had they done
//     that as well;
//   - have next to nothing to do with what the others spend most of their time in; and
//   - have a task of their own: they started all the others, or ran the program's own code where
//     none of the others was. (Who found nothing left to take did less of the same.)
//
// One thread alone shares its work with nobody: then there are no helpers.
func (x *members) helpers(kind profile.SectionKind, in *profile.Instance) []bool {
	if kind != profile.SectionJoin && kind != profile.SectionTail {
		return nil
	}
	out, keeper := idlers(in), x.keeper(in)
	if out == nil && keeper < 0 {
		return nil
	}
	w := x.work(in)
	found := make([]bool, len(in.Parts))
	for p := range found {
		idle := out != nil && out[p] && (x.startedAll(in, in.Parts[p].Thread) || w.hasOwn(p, out))
		found[p] = (idle || p == keeper) && w.elsewhere(p)
	}
	if !slices.Contains(found, true) {
		return nil
	}
	return found
}

// idlers are the parts that do next to nothing, if two others or more do the work.
func idlers(in *profile.Instance) []bool {
	order, longest, rest := make([]int, len(in.Parts)), 0.0, 0.0
	for i := range order {
		t := ran(&in.Parts[i])
		order[i], longest, rest = i, max(longest, t), rest+t
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ran(&in.Parts[a]), ran(&in.Parts[b])) })
	var out []bool
	sum := 0.0
	for i := 0; i+2 < len(order); i++ {
		if sum += ran(&in.Parts[order[i]]); sum >= worthwhile*longest*float64(len(order)-i-1) {
			break
		}
		if out == nil {
			out = make([]bool, len(order))
		}
		out[order[i]] = true
		rest -= ran(&in.Parts[order[i]])
	}
	if rest-longest < littleFound*longest { // one works alone
		return nil
	}
	return out
}

// keeper is the part of a sampled instance whose thread has made all the others, and works little
// against them: to feed a queue takes calls of the kernel, which are more of its time the busier the
// machine is, and of which a simulated machine counts none. -1: there is none.
func (x *members) keeper(in *profile.Instance) int {
	if !x.sampled || len(in.Parts) < 3 {
		return -1
	}
	longest := 0.0
	for i := range in.Parts {
		longest = max(longest, ran(&in.Parts[i]))
	}
	return slices.IndexFunc(in.Parts, func(p profile.Part) bool {
		return ran(&p) < keeperShare*longest && x.startedAll(in, p.Thread)
	})
}

// ran is for how long a part's thread ran.
func ran(p *profile.Part) float64 {
	time, lock, off := divided(p)
	return float64(time - lock - off)
}

// startedAll reports whether a thread started all others that do the work.
func (x *members) startedAll(in *profile.Instance, me profile.ThreadID) bool {
	for i := range in.Parts {
		t := in.Parts[i].Thread
		if t != me && (t < 0 || int(t) >= len(x.tab.Threads) || x.tab.Threads[t].Parent != me) {
			return false
		}
	}
	return true
}

// shared is where the parts of an instance were, by function.
type shared struct {
	time map[profile.FunctionID][]float64 // by part
	own  map[profile.FunctionID]bool
}

func (x *members) work(in *profile.Instance) *shared {
	s := &shared{time: map[profile.FunctionID][]float64{}, own: map[profile.FunctionID]bool{}}
	add := func(v profile.NodeID, part int32, time float64) {
		if v < 0 || int(v) >= len(x.function) || part < 0 || int(part) >= len(in.Parts) {
			return
		}
		f := x.function[v]
		if s.time[f] == nil {
			s.time[f] = make([]float64, len(in.Parts))
		}
		s.time[f][part] += time
		s.own[f] = s.own[f] || x.own[v]
	}
	for _, c := range in.Times {
		add(profile.NodeID(c.Row), c.Part, float64(c.N))
	}
	for _, c := range in.Edges {
		if x.instrs && c.Row >= 0 && int(c.Row) < len(x.tab.Edges) {
			if v := x.tab.Edges[c.Row].To; v >= 0 && int(v) < len(x.tab.Nodes) {
				add(v, c.Part, float64(c.N)*float64(x.tab.Nodes[v].Instrs))
			}
		}
	}
	return s
}

// elsewhere reports whether most of the time of all is spent in functions in which a part spends next
// to nothing of its own. (A function run by chance, or counted for a neighbour, is nothing.)
func (s *shared) elsewhere(part int) bool {
	mine := 0.0
	for _, ts := range s.time {
		mine += ts[part]
	}
	there, all := 0.0, 0.0
	for _, ts := range s.time {
		sum := 0.0
		for _, t := range ts {
			sum += t
		}
		if all += sum; ts[part] >= worthwhile*mine && ts[part] > 0 {
			there += sum
		}
	}
	return there < littleFound*all
}

// hasOwn reports whether a part ran a function of the program's own that only idlers ran.
func (s *shared) hasOwn(part int, idle []bool) bool {
	for f, ts := range s.time {
		if !s.own[f] || ts[part] == 0 {
			continue
		}
		others := false
		for p, t := range ts {
			others = others || t > 0 && !idle[p]
		}
		if !others {
			return true
		}
	}
	return false
}

// sharers is a profile without helpers' parts.
type sharers struct {
	profile.Source
	members *members
}

func (s sharers) Instances(id profile.SectionID) iter.Seq2[*profile.Instance, error] {
	kind := s.Tables().Sections[id].Kind
	return func(yield func(*profile.Instance, error) bool) {
		for in, err := range s.Source.Instances(id) {
			if err == nil {
				in = without(in, s.members.helpers(kind, in))
			}
			if !yield(in, err) {
				return
			}
		}
	}
}

// without is an instance without some parts.
func without(in *profile.Instance, parts []bool) *profile.Instance {
	if parts == nil {
		return in
	}
	out, at := *in, make([]int32, len(parts))
	out.Parts = nil
	for i := range in.Parts {
		if at[i] = int32(len(out.Parts)); !parts[i] {
			out.Parts = append(out.Parts, in.Parts[i])
		}
	}
	for _, table := range []*[]profile.Count{&out.Edges, &out.Events, &out.Costs, &out.Times} {
		var kept []profile.Count
		for _, c := range *table {
			switch known := c.Part >= 0 && int(c.Part) < len(parts); {
			case !known: // who reads it says so
				kept = append(kept, c)
			case !parts[c.Part]:
				c.Part = at[c.Part]
				kept = append(kept, c)
			}
		}
		*table = kept
	}
	return &out
}

// helperVerdict says who is left out, and why.
func helperVerdict(s *Section, clock string, say func(code, severity, format string, args ...any)) {
	switch ids := slices.Sorted(maps.Keys(s.helpers)); len(ids) {
	case 0:
	case 1:
		say("helper", SeverityInfo, "Thread %d helps the others: it ran for %s, waited the rest of the time, and needs no core of its own. "+
			"It is left out here.", ids[0], timeWords(s.helpers[ids[0]], clock))
	default:
		sum := 0.0
		for _, t := range s.helpers {
			sum += t
		}
		say("helper", SeverityInfo, "%d threads help the others: they ran for %s in all, waited the rest of the time, and need no cores of their "+
			"own. They are left out here.", len(ids), timeWords(sum, clock))
	}
}
