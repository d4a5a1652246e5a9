package ranks

import (
	"slices"

	"lime/internal/profile"
)

// Where the pieces of a thread's way join that are put together to its part in a meeting. How a
// runtime gets into a region's body and out of it is counted in none of them; without a way from
// one to the next the account would have to invent starts.

// joint is how a piece ends.
type joint struct {
	stack []profile.NodeID // the open calls
	at    profile.NodeID   // the block that it came to and did not leave; None: not known
}

// jointOf is how an instance's part ends.
func (f *file) jointOf(in *profile.Instance, part int) joint {
	return joint{in.Parts[part].ExitStack, f.stopped(in, part)}
}

// stopped is the only block to which a part came once more often than it left it.
func (f *file) stopped(in *profile.Instance, part int) profile.NodeID {
	t, surplus := f.r.Tables(), map[profile.NodeID]int64{}
	for _, c := range in.Edges {
		if int(c.Part) != part || c.Row < 0 || int(c.Row) >= len(t.Edges) {
			continue
		}
		e := &t.Edges[c.Row]
		if e.To >= 0 {
			surplus[e.To] += int64(c.N)
		}
		if e.From >= 0 && e.Kind != profile.EdgeReturn { // what called goes on when that has returned
			surplus[e.From] -= int64(c.N)
		}
	}
	found := profile.NodeID(profile.None)
	for v, n := range surplus {
		switch {
		case n <= 0:
		case n > 1 || found >= 0:
			return profile.None
		default:
			found = v
		}
	}
	return found
}

// seam is the way from the end of one piece to the beginning of the next: into what a call inside
// of the first's last one leads to, or out of one that it had open. Calls in between, all of the
// runtime's, are passed over as if it had jumped. None if it is another way.
func (f *file) seam(from joint, to *profile.Part) (way []profile.Edge) {
	t := f.r.Tables()
	node := func(v profile.NodeID) *profile.Node {
		if v < 0 || int(v) >= len(t.Nodes) {
			return nil
		}
		return &t.Nodes[v]
	}
	at, entry := node(from.at), node(to.Entry)
	if at == nil || entry == nil {
		return nil
	}
	if more := beyond(to.EntryStack, from.stack); len(more) > 0 {
		call := more[len(more)-1]
		c := node(call)
		if c == nil {
			return nil
		}
		if call != from.at {
			way = append(way, profile.Edge{From: from.at, To: call, Kind: profile.EdgeJump})
		}
		kind := profile.EdgeCall
		if c.Kind == profile.EndCallInd {
			kind = profile.EdgeCallInd
		}
		return append(way, profile.Edge{From: call, To: to.Entry, Kind: kind})
	}
	if more := beyond(from.stack, to.EntryStack); len(more) > 0 {
		call := more[0]
		if c := node(call); c != nil && entry.Addr == c.Addr+uint64(c.Size) && c.Function != at.Function {
			return []profile.Edge{{From: from.at, To: profile.None, Kind: profile.EdgeEnd}, {From: call, To: to.Entry, Kind: profile.EdgeReturn}}
		}
	}
	return nil
}

// beyond is what a stack has inside of another; nothing if it is not that one with more calls.
func beyond(deep, flat []profile.NodeID) []profile.NodeID {
	n := len(flat)
	if flat == nil || len(deep) <= n || !slices.Equal(deep[:n], flat) {
		return nil
	}
	return deep[n:]
}
