// A function that was inlined has its result tested by its caller, and where that test is decided
// already, compilers jump from the function's returns straight to what it decides about (jump
// threading). What is left is a test in the function. It decides for the caller.
package ledger

import (
	"slices"

	"lime/internal/profile"
)

// decidedBy is where the caller's own code goes on for which a test in an inlined function decides.
// One way leaves the function, another one goes on in it, and the one that leaves costs more: the
// function's returns lead to different places, or else to stay would cost what it costs to leave
// and what is done before. So the function's result is what matters, and the place is that of the
// caller.
func (b *book) decidedBy(v profile.NodeID) (Place, bool) {
	tab := b.l.tab
	if !valid(v, len(tab.Nodes)) || len(tab.Nodes[v].Frames) < 2 {
		return Place{}, false
	}
	frames, dear := tab.Nodes[v].Frames, int32(profile.None)
	ways := b.usedWays().from(v)
	for _, id := range ways {
		if k := tab.Edges[id].Kind; k != profile.EdgeTaken && k != profile.EdgeFall || b.counts.times[id] == 0 {
			return Place{}, false
		}
		if dear == profile.None || b.counts.worth(profile.EdgeID(id)) > b.counts.worth(profile.EdgeID(dear)) {
			dear = id
		}
	}
	if dear == profile.None {
		return Place{}, false
	}
	if slices.Contains(b.l.guide.rounds[int32(v)], int32(tab.Edges[dear].To)) {
		return Place{}, false // what costs more is one more round of a loop, whosever code it begins with
	}
	stays := func(id int32) bool { return inlinedWith(frames, tab.Nodes[tab.Edges[id].To].First, 0) }
	if !slices.ContainsFunc(ways, func(id int32) bool { return id != dear && stays(id) }) {
		return Place{}, false
	}
	next := b.straightOn(frames, tab.Edges[dear].To)
	to := tab.Nodes[next].First
	if len(to) == 0 || inlinedWith(frames, to, 0) {
		return Place{}, false
	}
	for k := 1; k < len(frames); k++ {
		if !inlinedWith(frames, to, k) {
			continue
		}
		at := to[len(to)-(len(frames)-k):]
		if at[0].Line <= 0 {
			return Place{}, false
		}
		return b.l.guide.placeOf(&tab.Nodes[next], next, tab.Nodes[next].Addr, at), true
	}
	return Place{}, false
}

// inlinedWith says whether code is of the k-th of some frames, which were inlined into one another:
// of the same function at the same place.
func inlinedWith(frames, code []profile.Frame, k int) bool {
	outer := frames[k+1:]
	i := len(code) - len(outer) - 1
	if i < 0 || code[i].Function != frames[k].Function || code[i].Offset != frames[k].Offset || code[i].File != frames[k].File {
		return false
	}
	for n, f := range outer {
		if lineOf(code[i+1+n]) != lineOf(f) {
			return false
		}
	}
	return true
}

// straightOn is where code leaves an inlined function, from a block on that has one way only: the
// compiler may count what it moves data with on the way out as the function's still.
func (b *book) straightOn(frames []profile.Frame, v profile.NodeID) profile.NodeID {
	tab := b.l.tab
	for range farStraight {
		ways := b.usedWays().from(v)
		if !inlinedWith(frames, tab.Nodes[v].First, 0) || len(ways) != 1 || !inFunction(tab.Edges[ways[0]].Kind) {
			break
		}
		v = tab.Edges[ways[0]].To
	}
	return v
}

// farStraight bounds the blocks that are followed: what a compiler puts between a jump and what it
// leads to.
const farStraight = 4
