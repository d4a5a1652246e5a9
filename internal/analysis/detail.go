package analysis

import (
	"cmp"
	"slices"

	"lime/internal/origin"
	"lime/internal/profile"
	"lime/internal/stat"
)

func pearson(a, b []float64) float64 { return stat.Pearson(a, b) }

func squaredBounds(r2 float64, n, others int) (lo, hi float64) {
	return stat.SquaredInterval(r2, n, others)
}

// detail fills in what one instance's events show of a cause: counts and times, members, rivals,
// paths.
func (r *runner) detail(c *Cause, f finding, o *outcome, instances int) {
	c.Seq = o.seq
	c.Threads = r.threadCounts(o, r.counts(o, &f))
	c.Members = r.memberLines(o, f.cluster)
	c.Rivals = r.rivals(o, f)
	c.Paths = r.paths(o, f)
	c.Subject = r.subjectOf(c)
	c.Sentence = r.sentence(c, f, instances) + c.Subject.words()
}

// counts returns the cause's event per part.
func (r *runner) counts(o *outcome, f *finding) []uint64 {
	if f.key.hw {
		counts, _ := magnitudes(r.tab, o.m.in)
		return partCounts(counts, f.event, len(o.m.in.Parts))
	}
	edge := r.countedEdge(o, f)
	if head := r.prog.testedBelow(edge); f.name == EventLoop && head != graphNone {
		return r.iterations(o, head)
	}
	return o.m.edgeCounts(edge)
}

// testedBelow is the head of the loop that an edge stays in, if the loop's work comes before the test
// which decides that: then it has one iteration more than the edge is taken. None if the test comes
// first, be it in several blocks of its line.
func (p *program) testedBelow(edge int32) (head int32) {
	e := p.g.Edge(edge)
	if p.s.Back[edge] {
		return e.To
	}
	head = p.s.Continues(edge)
	if head == graphNone || p.s.LoopTest(head) || p.nodeKey(profile.NodeID(head)) == p.nodeKey(profile.NodeID(e.From)) {
		return graphNone
	}
	return head
}

// iterations counts the visits of the head of a loop that is tested at its bottom: one for each
// entry, and one for each time round.
func (r *runner) iterations(o *outcome, head int32) []uint64 {
	n := make([]uint64, len(o.m.in.Parts))
	for _, e := range r.prog.g.In(head) {
		for i, c := range o.m.edgeCounts(e) {
			n[i] += c
		}
	}
	return n
}

// countedEdge is the finding's edge, or for a loop the edge on its line and in its cluster that is
// taken most often.
func (r *runner) countedEdge(o *outcome, f *finding) int32 {
	if f.name != EventLoop {
		return f.edge
	}
	total := o.m.edgeTotals(len(r.prog.edges))
	best := f.edge
	for _, e := range o.m.events {
		if e.hw || o.label[e.group] != f.cluster {
			continue
		}
		from := r.prog.edges[e.row].From
		if from >= 0 && r.prog.nodeKey(from) == f.key.lineKey && total[e.row] > total[best] {
			best = e.row
		}
	}
	return best
}

// threadCounts puts the counts beside the times, by thread.
func (r *runner) threadCounts(o *outcome, n []uint64) []ThreadCount {
	out := make([]ThreadCount, len(o.m.in.Parts))
	for i := range o.m.in.Parts {
		p := &o.m.in.Parts[i]
		t := float64(p.Time())
		out[i] = ThreadCount{Thread: p.Thread, Name: threadName(r.tab, p.Thread), Count: n[i], Time: t, Wait: o.timing.time - t}
	}
	slices.SortStableFunc(out, func(a, b ThreadCount) int { return cmp.Compare(a.Thread, b.Thread) })
	return out
}

// maxMembers is the number of lines listed under a cause.
const maxMembers = 200

// memberLines folds a cluster's events by line and family.
func (r *runner) memberLines(o *outcome, cluster int32) []Member {
	if have, ok := o.lines[cluster]; ok {
		return have
	}
	at := map[causeKey]int{}
	var out []Member
	for _, e := range o.m.events {
		if o.label[e.group] != cluster {
			continue
		}
		key, kind := r.memberKey(e)
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, r.member(e))
		}
		out[i].Events++
		if !slices.Contains(out[i].Kinds, kind) {
			out[i].Kinds = append(out[i].Kinds, kind)
		}
	}
	slices.SortStableFunc(out, compareMembers)
	o.lines[cluster] = out[:min(len(out), maxMembers)]
	return o.lines[cluster]
}

func (r *runner) memberKey(e event) (causeKey, string) {
	if e.hw {
		ev := &r.tab.Events[e.row]
		return causeKey{lineKey: frameKey(ev.Frames, ev.Addr), hw: true}, r.prog.kindName(ev.Kind)
	}
	key := causeKey{lineKey: r.prog.nodeKey(r.edgeNode(e.row))}
	return key, r.edgeName(e.row, key.lineKey)
}

func (r *runner) member(e event) Member {
	if e.hw {
		return Member{Place: r.prog.eventPlace(&r.tab.Events[e.row]), Family: FamilyHardware}
	}
	return Member{Place: r.prog.nodePlace(r.edgeNode(e.row)), Family: FamilyControl}
}

// edgeNode is the node at which an edge is shown: where it comes from, or the place visited.
func (r *runner) edgeNode(edge int32) profile.NodeID {
	e := &r.prog.edges[edge]
	if e.From >= 0 {
		return e.From
	}
	return e.To
}

func compareMembers(a, b Member) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Function, b.Function), cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Family, b.Family), cmp.Compare(a.Address, b.Address))
}

// maxRivals is the number of rivals listed under a cause.
const maxRivals = 5

// rivals are clusters that would explain the times about as well in the stead of the finding's: the
// model's R^2 with the rival stays within the confidence bounds of the R^2 that was found.
func (r *runner) rivals(o *outcome, f finding) []Rival {
	if have, ok := o.others[f.cluster]; ok {
		return have
	}
	o.others[f.cluster] = r.findRivals(o, f)
	return o.others[f.cluster]
}

func (r *runner) findRivals(o *outcome, f finding) []Rival {
	at := slices.IndexFunc(o.model.Steps, func(s stat.Step) bool { return int32(s.Index) == f.cluster })
	if at < 0 {
		return nil
	}
	lo, _ := stat.SquaredInterval(o.model.R2, o.threads, len(o.model.Steps)-1)
	lo = max(lo, 0.9*o.model.R2)
	chosen := map[int]bool{}
	for _, s := range o.model.Steps {
		chosen[s.Index] = true
	}
	swapped := o.choice.Swap(o.model, at)
	order := make([]int, 0)
	for c, r2 := range swapped {
		if !chosen[c] && r2 >= lo && stat.Dot(o.clusters.Row(c), o.m.t)*f.corr > 0 {
			order = append(order, c)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(swapped[b], swapped[a]) })
	var out []Rival
	for _, c := range order[:min(len(order), maxRivals)] {
		out = append(out, r.rival(o, c, f, swapped[c]))
	}
	return out
}

// rival describes a cluster by its first leader, or its first event.
func (r *runner) rival(o *outcome, c int, f finding, r2 float64) Rival {
	v := Rival{R2: r2, Correlation: stat.Dot(o.clusters.Row(c), o.clusters.Row(int(f.cluster)))}
	if o.controls[c] {
		if ls := r.leaders(o, finding{cluster: int32(c), beta: 1}); len(ls) > 0 {
			best := slices.MaxFunc(ls, func(a, b finding) int { return cmp.Compare(a.score, b.score) })
			v.Place, v.Event = r.prog.nodePlace(profile.NodeID(best.node)), best.name
			return v
		}
	}
	for _, e := range o.m.events {
		if o.label[e.group] == int32(c) {
			_, v.Event = r.memberKey(e)
			v.Place = r.member(e).Place
			break
		}
	}
	return v
}

// maxPath is the number of frames shown of a call path; maxPaths the number of paths, none of which
// has less than pathShare of the calls of the most frequent one.
const (
	maxPath   = 16
	maxPaths  = 3
	pathShare = 0.1
)

// paths walks from the cause's function to its callers: from each of those that call it most often
// in the instance, and on by the calls made most often.
func (r *runner) paths(o *outcome, f finding) [][]Frame {
	v := f.node
	if f.key.hw {
		v = int32(r.tab.Events[f.event].Node)
	}
	if v < 0 || int(v) >= r.prog.g.Len() {
		return nil
	}
	total := o.m.edgeTotals(len(r.prog.edges))
	entry := r.prog.s.Entry(v)
	var out [][]Frame
	for _, call := range r.calls(entry, total) {
		if p := r.path(entry, call, total); len(p) > 0 && !slices.ContainsFunc(out, func(q []Frame) bool { return slices.Equal(p, q) }) {
			out = append(out, p)
		}
	}
	return out[:min(len(out), maxPaths)]
}

// path is the path that ends in a call of the procedure at entry, outermost first.
func (r *runner) path(entry, call int32, total []uint64) []Frame {
	seen := map[int32]bool{}
	var path []Frame
	for len(path) < maxPath && call != graphNone && !seen[entry] {
		seen[entry] = true
		v := r.prog.g.Edge(call).From
		p := r.prog.nodePlace(profile.NodeID(v))
		if !origin.LibraryFile(p.File) && !origin.LibraryImage(p.Image) { // what lies between the program's own calls is no news
			path = append(path, Frame{File: p.File, Line: p.Line, Function: p.Function})
		}
		entry = r.prog.s.Entry(v)
		call = graphNone
		if next := r.calls(entry, total); len(next) > 0 {
			call = next[0]
		}
	}
	slices.Reverse(path)
	return path
}

// calls are the calls that enter a procedure, the most frequent first; those are left out that are
// rare beside it, and its own recursion.
func (r *runner) calls(entry int32, total []uint64) []int32 {
	var out []int32
	for _, e := range r.prog.g.In(entry) {
		c := r.prog.g.Edge(e)
		if c.Call && c.From >= 0 && total[e] > 0 && r.prog.s.Entry(c.From) != entry {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b int32) int { return cmp.Compare(total[b], total[a]) })
	for i, e := range out {
		if float64(total[e]) < pathShare*float64(total[out[0]]) {
			return out[:i]
		}
	}
	return out
}
