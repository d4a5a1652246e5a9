package report

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"

	"lime/internal/profile"
)

// viewProfile is main -> a (30) -> b (60), and main (10).
func viewProfile() *profile.Profile {
	p := profile.New(profile.Meta{})
	p.AddFile(profile.File{Path: "x.c"})
	path := profile.PathID(profile.None)
	for i, name := range []string{"main", "a", "b"} {
		v := p.AddNode(profile.Node{Addr: uint64(i) + 1, Image: profile.None, Function: profile.None,
			Frames: []profile.Frame{{Line: 1, Function: name}}})
		path = p.AddPath(profile.PathNode{Parent: path, Node: v})
		p.AddPathSample(profile.PathSample{Path: path, Thread: profile.None, Section: profile.None, Metric: "time",
			Value: []float64{10, 30, 60}[i]})
	}
	p.AddPathSample(profile.PathSample{Path: 1, Thread: profile.None, Section: profile.None, Metric: "lock-blame", Value: 7})
	return p
}

func TestViews(t *testing.T) {
	for view, want := range map[View]string{
		ViewTree: "100.0 % 10.0 % - - - 100.0 % main|90.0 % 30.0 % - - - 100.0 % a|60.0 % 60.0 % - - - - b",
		ViewFlat: "60.0 % 60.0 % - - - - b|90.0 % 30.0 % - - - 100.0 % a|100.0 % 10.0 % - - - 100.0 % main",
		ViewBottomUp: "60.0 % 60.0 % - - - - b|60.0 % - - - - - a|60.0 % - - - - - main|30.0 % 30.0 % - - - 100.0 % " +
			"a|30.0 % - - - - 100.0 % main|10.0 % 10.0 % - - - - main",
	} {
		var b bytes.Buffer
		if err := WriteView(&b, viewProfile(), view); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(b.String()), "\n")[1:]
		for i := range lines {
			lines[i] = strings.TrimSpace(regexp.MustCompile(` +`).ReplaceAllString(lines[i], " "))
		}
		if got := strings.Join(lines, "|"); got != want {
			t.Errorf("%s:\n got %s\nwant %s", view, got, want)
		}
	}
	if err := WriteView(&bytes.Buffer{}, profile.New(profile.Meta{}), ViewFlat); !errors.Is(err, profile.ErrNoPaths) {
		t.Errorf("a profile without paths: %v", err)
	}
}
