package analysis

import (
	"strings"
	"testing"

	"lime/internal/profile"
)

// A path shows the loops that its calls and its innermost block stand in, and an inlined function
// as a level of its own.
func TestLevelsOfAPath(t *testing.T) {
	p := sampledProgram(t, []uint64{1, 1}, []uint64{1, 1})
	tab := p.Tables()
	var extra profile.PathID
	for id := range tab.Paths {
		if v := tab.Paths[id].Node; tab.Nodes[v].Frames[0].Line == 31 {
			extra = profile.PathID(id)
			tab.Nodes[v].Frames = append([]profile.Frame{{File: 0, Line: 40, Function: "inlined"}}, tab.Nodes[v].Frames...)
		}
	}
	paths := NewPaths(tab)
	var got []string
	for _, l := range paths.Levels(extra) {
		got = append(got, l.Name)
		if l.Loop != strings.HasPrefix(l.Name, "loop ") {
			t.Errorf("%+v", l)
		}
	}
	if want := "loop at app.c:40|inlined|extra|loop at app.c:14|work"; strings.Join(got, "|") != want {
		t.Errorf("levels %s, want %s", strings.Join(got, "|"), want)
	}
	if paths.Overhead(extra) {
		t.Error("the program's own code is no overhead")
	}
}
