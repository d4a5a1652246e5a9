package analysis

import (
	"slices"
	"strconv"
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

// A loop of which no line is known stands where it is in its function or file, and at its address
// where not even that is known.
func TestLoopsWithoutLines(t *testing.T) {
	for name, want := range map[string]string{"app+0x%x": "loop at app+0x", "work": "loop at 0x"} {
		p := sampledProgram(t, []uint64{1, 1}, []uint64{1, 1})
		tab := p.Tables()
		for v := range tab.Nodes {
			n := &tab.Nodes[v]
			where := strings.Replace(name, "%x", strconv.FormatUint(n.LastAddr, 16), 1)
			n.Frames, n.First = []profile.Frame{{File: profile.None, Function: where}}, nil
		}
		paths, loops := NewPaths(tab), 0
		for id := range tab.Paths {
			for _, l := range paths.Levels(profile.PathID(id)) {
				if !l.Loop {
					continue
				}
				if loops++; !strings.HasPrefix(l.Name, want) {
					t.Errorf("%q, want %s", l.Name, want)
				}
			}
		}
		if loops == 0 {
			t.Errorf("%s: no loops", name)
		}
	}
}

// What the system has around the program is left out, and where created threads begin is known.
func TestOwnPaths(t *testing.T) {
	p := profile.New(profile.Meta{})
	app, libc := p.AddImage(profile.Image{Path: "/home/u/app"}), p.AddImage(profile.Image{Path: "/lib/x86_64-linux-gnu/libc.so.6"})
	at := map[string]profile.NodeID{}
	for i, name := range []string{"_start", "main", "worker", "spend", "clone3", "start_thread"} {
		image := app
		if i > 3 {
			image = libc
		}
		f := p.AddFunction(profile.Function{Image: image, Name: name, Entry: 0x1000 * uint64(i+1), File: profile.None})
		at[name] = p.AddNode(profile.Node{Image: image, Addr: 0x1000 * uint64(i+1), LastAddr: 0x1000*uint64(i+1) + 4, Size: 8, Function: f})
	}
	path := func(names ...string) (id profile.PathID) {
		id = profile.None
		for _, n := range names {
			id = p.AddPath(profile.PathNode{Parent: id, Node: at[n]})
		}
		return id
	}
	first := p.AddThread(profile.Thread{Parent: profile.None, Entry: profile.None})
	second := p.AddThread(profile.Thread{Parent: first, Entry: profile.None})
	byMain, byThread, alone := path("_start", "main", "worker", "spend"),
		path("clone3", "start_thread", "worker", "spend"), path("_start", "main")
	for id, thread := range map[profile.PathID]profile.ThreadID{byMain: first, byThread: second, alone: first} {
		p.AddPathSample(profile.PathSample{Path: id, Thread: thread, Section: profile.None, Metric: "time", Value: 10})
	}
	names := func(id profile.PathID) (out []string) {
		for _, l := range NewPaths(p.Tables()).Own(id) {
			out = append(out, l.Name)
		}
		return out
	}
	for id, want := range map[profile.PathID][]string{byMain: {"spend", "worker", "main"}, byThread: {"spend", "worker"}, alone: {"main"}} {
		if got := names(id); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if got := NewPaths(p.Tables()).Roots(); !slices.Equal(got, []string{"worker"}) {
		t.Errorf("created threads begin in %v", got)
	}
}
