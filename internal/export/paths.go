package export

import (
	"fmt"
	"slices"

	"lime/internal/profile"
	"lime/internal/unit"
)

// frame is one level of a call path; inlined calls are levels of their own.
type frame struct {
	function string
	file     string
	line     int32
	addr     uint64
	image    profile.ImageID
}

// sample is a call path with its value, the outermost frame first.
type sample struct {
	frames []frame
	path   profile.PathID
	thread profile.ThreadID
	value  float64
}

// paths reads the samples of a metric.
func paths(t *profile.Tables, metric string) ([]sample, error) {
	var out []sample
	for i := range t.PathSamples {
		s := &t.PathSamples[i]
		if s.Metric == metric && s.Path >= 0 {
			out = append(out, sample{frames: frames(t, s.Path), path: s.Path, thread: s.Thread, value: s.Value})
		}
	}
	if len(out) == 0 {
		return nil, profile.ErrNoPaths
	}
	return out, nil
}

// frames lists a call path, outermost first.
func frames(t *profile.Tables, id profile.PathID) []frame {
	var out []frame
	for ; id >= 0; id = t.Paths[id].Parent {
		out = append(out, nodeFrames(t, t.Paths[id].Node)...)
	}
	slices.Reverse(out)
	return out
}

// nodeFrames are the positions of a block, the innermost inlined one first.
func nodeFrames(t *profile.Tables, v profile.NodeID) []frame {
	if v < 0 {
		return []frame{{function: "[unknown]", image: profile.None}}
	}
	n := &t.Nodes[v]
	var out []frame
	for _, f := range n.Frames {
		if f.Line == 0 && n.Function >= 0 { // its name is that of an address: symbol + offset
			continue
		}
		out = append(out, frame{function: f.Name(), file: fileName(t, f.File), line: f.Line, addr: n.LastAddr, image: n.Image})
	}
	if len(out) == 0 {
		out = append(out, frame{function: functionName(t, n), addr: n.LastAddr, image: n.Image})
	}
	return out
}

// sectionPlace is the line that ends a section, or its address.
func sectionPlace(t *profile.Tables, id profile.SectionID) string {
	s := &t.Sections[id]
	if len(s.Frames) == 0 || s.Frames[0].File < 0 {
		return unit.Addr(s.EndAddr).String()
	}
	return fmt.Sprintf("%s:%d", t.Files[s.Frames[0].File].Path, s.Frames[0].Line)
}

func fileName(t *profile.Tables, id profile.FileID) string {
	if id < 0 {
		return ""
	}
	return t.Files[id].Path
}

func functionName(t *profile.Tables, n *profile.Node) string {
	if n.Function >= 0 && t.Functions[n.Function].Name != "" {
		return t.Functions[n.Function].Name
	}
	return fmt.Sprintf("%#x", n.Addr)
}

func threadName(t *profile.Tables, id profile.ThreadID) string {
	if id < 0 {
		return "unknown"
	}
	return fmt.Sprintf("%s/%d", t.Threads[id].Name, id)
}
