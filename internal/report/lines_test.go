package report

import (
	"slices"
	"testing"

	"lime/internal/profile"
)

// A profile may name any lines; what lies between them is looked at only where there is text.
func TestAnnotateLinesFarApart(t *testing.T) {
	const far = 1<<31 - 1
	p := profile.New(profile.Meta{})
	p.AddFile(profile.File{Path: "a.c", Lines: map[int32]string{1: "one", 2: "two", 9: "nine", far - 1: "last but one"}})
	for _, line := range []int32{1, far} {
		v := p.AddNode(profile.Node{Addr: uint64(line), Image: profile.None, Function: profile.None, Frames: []profile.Frame{{Line: line}}})
		p.AddEdge(profile.Edge{From: profile.None, To: v, Kind: profile.EdgeVisit})
	}
	p.AddThread(profile.Thread{Parent: profile.None, Entry: profile.None})
	p.AddSection(profile.Section{Kind: profile.SectionBarrier, EndNode: profile.None})
	part := profile.Part{Arrive: 9, Release: 9, Entry: profile.None, Exit: profile.None}
	if err := p.WriteInstance(&profile.Instance{Parts: []profile.Part{part},
		Edges: []profile.Count{{Row: 0, N: 1}, {Row: 1, N: 1}}}); err != nil {
		t.Fatal(err)
	}
	source := func(string) []string { return []string{"one", "two", "three"} }
	a, err := Annotate(p, "a.c", source)
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for _, l := range a.Files[0].Lines {
		lines = append(lines, l.Line)
	}
	if want := []int{1, 2, 3, 9, far - 1, far}; !slices.Equal(lines, want) {
		t.Errorf("lines %v, want %v", lines, want)
	}
}
