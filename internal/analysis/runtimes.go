package analysis

import (
	"lime/internal/origin"
	"lime/internal/profile"
)

// Whose code the levels of call paths are.

// runtimes tells the levels of call paths apart.
type runtimes struct {
	tab    *profile.Tables
	images []origin.Owner // by image
	names  map[string]origin.Owner
}

func newRuntimes(tab *profile.Tables) *runtimes {
	r := &runtimes{tab: tab, names: map[string]origin.Owner{}}
	for i := range tab.Images {
		r.images = append(r.images, origin.OfFile(tab.Images[i].Path))
	}
	return r
}

func (r *runtimes) function(name string) origin.Owner {
	o, ok := r.names[name]
	if !ok {
		o = origin.OfName(name)
		r.names[name] = o
	}
	return o
}

// codeSite is the program's own code in which a sample was taken, or for which a runtime worked.
type codeSite struct {
	node  profile.NodeID // None if there is none in the path; then that of a library which worked on its own, if there is one
	frame int            // of the node's inlined frames, the innermost one that is the program's
	owner origin.Owner   // a runtime if its own code ran, else Program
	calls bool           // it was not that code that ran, but what it had called: a library, or a runtime
}

// site walks a call path from its innermost frame outwards to the first that is the program's own.
// If it meets code of a runtime before, that was at work; unless the runtime called another library
// (a thread of that library's, or a body of its regions): then that was.
func (r *runtimes) site(p profile.PathID) codeSite {
	s := codeSite{node: profile.None}
	foreign, inner := false, profile.NodeID(profile.None)
	for ; p >= 0; p = r.tab.Paths[p].Parent {
		v := r.tab.Paths[p].Node
		if v < 0 {
			continue
		}
		if inner < 0 {
			inner = v
		}
		for i, o := range r.owners(v) {
			switch {
			case o.Runtime() && !s.owner.Runtime() && !foreign:
				s.owner = o
			case o == origin.Other && !foreign && !s.owner.Runtime():
				s.node, s.frame, foreign = v, i, true
			case o == origin.Program:
				s.node, s.frame, s.calls = v, i, v != inner || s.owner.Runtime()
				return s
			}
		}
	}
	return s
}

// owners lists whose the levels of a block are, the innermost inlined function first.
func (r *runtimes) owners(v profile.NodeID) []origin.Owner {
	n := &r.tab.Nodes[v]
	image := origin.Program
	if n.Image >= 0 && int(n.Image) < len(r.images) {
		image = r.images[n.Image]
	}
	var out []origin.Owner
	add := func(name string) {
		o := r.function(name)
		if !o.Runtime() && image != origin.Program { // what a library's file holds is no program's own
			o = image
		}
		out = append(out, o)
	}
	for i := range n.Frames {
		add(n.Frames[i].Function)
	}
	if len(out) == 0 {
		name := ""
		if n.Function >= 0 {
			name = r.tab.Functions[n.Function].Name
		}
		add(name)
	}
	return out
}
