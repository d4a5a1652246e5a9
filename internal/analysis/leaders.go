package analysis

import (
	"math"

	"lime/internal/profile"
	"lime/internal/stat"
)

// leaders finds the nodes that steer execution into a control-flow cluster, with their scores.
func (r *runner) leaders(o *outcome, base finding) []finding {
	set, sampled := r.members(o, base.cluster)
	var out []finding
	for _, v := range r.prog.g.Leaders(set, r.prog.s.Back) {
		f := base
		f.node, f.event = v, graphNone
		s := r.score(o, &f)
		f.score = base.beta * s
		r.name(o, &f)
		out = append(out, f)
	}
	return append(out, r.sampledLeaders(o, base, sampled)...)
}

// members splits a cluster's control-flow events into edges, and visits known without an edge.
func (r *runner) members(o *outcome, cluster int32) (edges, visits []int32) {
	for _, e := range o.m.events {
		switch {
		case e.hw || o.label[e.group] != cluster:
		case r.prog.edges[e.row].Kind == profile.EdgeVisit:
			visits = append(visits, e.row)
		default:
			edges = append(edges, e.row)
		}
	}
	return edges, visits
}

// score is the LIME paper's s_v (section 3.4): the correlation that the node introduces. It sets
// the finding's edge: the node's edge in the cluster with the highest correlation; calls before
// returns.
func (r *runner) score(o *outcome, f *finding) float64 {
	out, in := math.Inf(-1), math.Inf(-1)
	for _, e := range r.prog.g.Out(f.node) {
		g, ok := o.m.byEdge[e]
		if !ok || o.label[g] != f.cluster {
			continue
		}
		if c := o.m.corr[g]; c > out+1e-12 || c > out-1e-12 && isCall(r.prog.edges[e].Kind) {
			out, f.edge = c, e
		}
	}
	f.corr = out
	for _, e := range r.prog.g.In(f.node) {
		if !r.prog.s.Back[e] {
			in = math.Max(in, o.m.edgeCorr(e))
		}
	}
	if math.IsInf(in, -1) {
		in = 0
	}
	return out - in
}

// sampledLeaders does the same for profiles that know visits of places only: a place
// leads if it is in the cluster and none of the places before it is.
func (r *runner) sampledLeaders(o *outcome, base finding, visits []int32) []finding {
	if len(visits) == 0 {
		return nil
	}
	at := map[int32]int32{} // node -> its visit event
	for _, e := range o.m.events {
		if !e.hw && r.prog.edges[e.row].Kind == profile.EdgeVisit {
			at[int32(r.prog.edges[e.row].To)] = e.row
		}
	}
	var out []finding
	for _, e := range visits {
		f := base
		f.node, f.edge, f.event = int32(r.prog.edges[e].To), e, graphNone
		f.corr = o.m.edgeCorr(e)
		before, led := r.before(o, f.node, base.cluster, at)
		if f.node == graphNone || !led {
			continue
		}
		f.score = base.beta * (f.corr - before)
		f.key = causeKey{lineKey: r.prog.visitKey(profile.NodeID(f.node))}
		f.name = EventVisit
		out = append(out, f)
	}
	return out
}

// before returns the highest correlation of the visits of a node's predecessors, and whether none
// is in the cluster.
func (r *runner) before(o *outcome, v, cluster int32, at map[int32]int32) (float64, bool) {
	most, any := math.Inf(-1), false
	for _, e := range r.prog.g.In(v) {
		u := r.prog.g.Edge(e).From
		if u == graphNone || r.prog.s.Back[e] {
			continue
		}
		c := 0.0
		if visit, ok := at[u]; ok {
			if o.label[o.m.byEdge[visit]] == cluster {
				return 0, false
			}
			c = o.m.edgeCorr(visit)
		}
		most, any = math.Max(most, c), true
	}
	if !any {
		return 0, true
	}
	return most, true
}

// name decides what a leader's event is called and which line it stands for. The header of a loop
// that runs more often leads because of the loop, so it stands for the loop's test, wherever the
// compiler put it.
func (r *runner) name(o *outcome, f *finding) {
	if test, edge := r.loopTest(o, f); test != graphNone {
		f.node, f.edge, f.name = test, edge, EventLoop
	}
	f.key = causeKey{lineKey: r.prog.nodeKey(profile.NodeID(f.node))}
	if f.name == "" {
		f.name = r.edgeName(f.edge, f.key.lineKey)
	}
}

// loopTest returns, for the header of a loop with a back edge in the cluster, the test that decides
// on another iteration, and its edge that stays in the loop; None if the leader stands for itself.
func (r *runner) loopTest(o *outcome, f *finding) (node, edge int32) {
	s := r.prog.s
	best, most := int32(graphNone), math.Inf(-1)
	for _, e := range r.prog.g.In(f.node) {
		g, ok := o.m.byEdge[e]
		if s.Back[e] && ok && o.label[g] == f.cluster && !isCall(r.prog.edges[e].Kind) && o.m.corr[g] > most {
			best, most = e, o.m.corr[g]
		}
	}
	if best == graphNone || s.LoopTest(f.node) || !r.iterates(o, f.node, best) {
		return graphNone, graphNone
	}
	return s.LatchTest(best)
}

// iterates reports whether a loop header runs more often where a back edge does. A header that ends
// in a branch of the body can have several back edges whose counts vary against each other, while
// the loop runs as often in every thread: then the branch leads, not the loop.
func (r *runner) iterates(o *outcome, header, back int32) bool {
	visits := make([]uint64, len(o.m.raw))
	for _, e := range r.prog.g.Out(header) {
		if r.prog.edges[e].Kind != profile.EdgeReturn {
			o.m.addCounts(visits, e)
		}
	}
	v := make([]float64, len(visits))
	stat.Differences(v, visits)
	if stat.Unit(v) == 0 {
		return false
	}
	return stat.Dot(v, o.m.x.Row(int(o.m.byEdge[back]))) >= r.opt.ClusterThreshold
}

// edgeName names an edge's kind of event.
func (r *runner) edgeName(edge int32, at lineKey) string {
	if edge < 0 {
		return EventJump
	}
	switch e := &r.prog.edges[edge]; e.Kind {
	case profile.EdgeCall, profile.EdgeCallInd:
		return EventCall
	case profile.EdgeReturn:
		return EventReturn
	case profile.EdgeVisit:
		return EventVisit
	case profile.EdgeTaken, profile.EdgeFall:
		if r.prog.loops[at] {
			return EventLoop
		}
		if e.From >= 0 && r.tab.Nodes[e.From].Kind == profile.EndCond {
			return EventBranch
		}
	}
	return EventJump
}
