package scale

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"lime/internal/analysis"
	"lime/internal/profile"
)

// pathProfile has main, which calls the functions in which threads are for so long.
func pathProfile(times map[string]float64) *profile.Tables {
	t := &profile.Tables{}
	t.AddImage(profile.Image{Path: "/home/u/app"})
	t.AddThread(profile.Thread{Parent: profile.None, Entry: profile.None})
	node := func(name string, at uint64) profile.NodeID {
		f := t.AddFunction(profile.Function{Name: name, Entry: at, File: profile.None})
		return t.AddNode(profile.Node{Addr: at, Size: 4, LastAddr: at, Function: f})
	}
	root := t.AddPath(profile.PathNode{Parent: profile.None, Node: node("main", 0x1000)})
	for i, name := range []string{"solve", "exchange", "print"} {
		path := t.AddPath(profile.PathNode{Parent: root, Node: node(name, 0x2000+0x100*uint64(i))})
		for metric, part := range map[string]float64{"time": 0.75, profile.MetricIdleness: 0.25, "other": 1} {
			t.AddPathSample(profile.PathSample{Path: path, Metric: metric, Value: part * times[name]})
		}
	}
	return t
}

// Of a program that solves as fast on each core and exchanges more and more, the exchange is what
// the efficiency is lost to, inside of main.
func TestPathLosses(t *testing.T) {
	list := runs(t, []int{2, 8}, func(p float64) (float64, map[string]float64) {
		return (100 + 10*p) / p, map[string]float64{analysis.TermUseful: 100 + 10*p}
	})
	list[0].ReadPaths(pathProfile(map[string]float64{"solve": 100, "exchange": 20}))
	list[1].ReadPaths(pathProfile(map[string]float64{"solve": 100, "exchange": 80}))
	s := compared(t, list, Strong)
	got := s.Points[1].Paths
	if len(got) != 2 || got[0].Name != "main" || got[1].Name != "exchange" || got[1].Depth != 1 {
		t.Fatalf("%+v", got)
	}
	for _, l := range got {
		if math.Abs(l.Share-60.0/180) > 1e-12 {
			t.Errorf("%s: %v", l.Name, l.Share)
		}
	}
	if math.Abs(got[0].Share-(1-s.Points[1].Efficiency)) > 1e-12 {
		t.Errorf("the paths lose %v, the run %v", got[0].Share, 1-s.Points[1].Efficiency)
	}
}

// The page has the call paths as a tree that opens: whatever their depths, what is opened is
// closed.
func TestPathsInHTML(t *testing.T) {
	for _, depths := range [][]int{{0}, {0, 1}, {0, 1, 2, 1, 0}, {0, 1, 2, 3}, {0, 0, 1, 2, 2, 0}} {
		var list []PathLoss
		for i, d := range depths {
			list = append(list, PathLoss{Name: fmt.Sprint("f<", i), Depth: d, Share: 0.1})
		}
		open := 0
		for i, r := range pathRows(list) {
			if open != r.Depth {
				t.Errorf("%v: level %d stands inside of %d others", depths, i, open)
			}
			if r.Opens {
				open++
			}
			open -= r.Closes
		}
		if open != 0 {
			t.Errorf("%v: %d levels stay open", depths, open)
		}
	}
	list := runs(t, []int{2, 8}, func(p float64) (float64, map[string]float64) {
		return (100 + 10*p) / p, map[string]float64{analysis.TermUseful: 100 + 10*p}
	})
	list[0].ReadPaths(pathProfile(map[string]float64{"solve": 100, "exchange": 20}))
	list[1].ReadPaths(pathProfile(map[string]float64{"solve": 100, "exchange": 80}))
	var b strings.Builder
	if err := WriteHTML(&b, compared(t, list, Strong)); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	if n := strings.Count(page, "<details"); n != 1 || n != strings.Count(page, "</details>") ||
		!strings.Contains(page, "</b>exchange <small>") {
		t.Errorf("%s", page[strings.Index(page, "call paths"):])
	}
}
