package profile

import (
	"slices"
	"testing"
)

func TestOwn(t *testing.T) {
	p := New(Meta{})
	own, lib := p.AddFile(File{Path: "/src/a.cc"}), p.AddFile(File{Path: "/usr/include/c++/12/bits/stl_numeric.h"})
	in := Frame{File: lib, Line: 140, Function: "std::accumulate"}
	at := Frame{File: own, Line: 7, Function: "work"}
	around := Frame{File: own, Line: 20, Function: "main"}
	unknown := Frame{File: None}
	for _, c := range []struct{ frames, want []Frame }{
		{[]Frame{in, at, around}, []Frame{at, around}},
		{[]Frame{at, in}, []Frame{at, in}},
		{[]Frame{in, in}, []Frame{in, in}},
		{[]Frame{unknown}, []Frame{unknown}},
		{nil, nil},
	} {
		p.AddNode(Node{Frames: c.frames, First: c.frames})
		p.AddEvent(Event{Frames: c.frames})
		i := len(p.Nodes) - 1
		tab := Own(p).Tables()
		for _, got := range [][]Frame{tab.Nodes[i].Frames, tab.Nodes[i].First, tab.Events[i].Frames} {
			if !slices.Equal(got, c.want) {
				t.Errorf("%v: %v, want %v", c.frames, got, c.want)
			}
		}
		if !slices.Equal(p.Nodes[i].Frames, c.frames) {
			t.Error("the profile itself has changed")
		}
	}
}
