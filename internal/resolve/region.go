package resolve

import (
	"fmt"

	"lime/internal/profile"
)

// regionLines tells parallel regions of one function apart whose ends have the same line although
// their bodies are different functions: the call of the runtime has no line of its own then, for
// optimising compilers give it that of whatever they have moved next to it. The first line of the
// body's function is that of the directive.
func regionLines(src profile.Source, t *profile.Tables) error {
	bodies, ends := map[profile.SectionID]profile.Frame{}, map[string]map[profile.Frame]bool{}
	for i := range t.Sections {
		s, id := &t.Sections[i], profile.SectionID(i)
		if s.Kind != profile.SectionRegion || len(s.Frames) == 0 {
			continue
		}
		for in, err := range src.Instances(id) {
			if err != nil {
				return err
			}
			if f, ok := bodyFrame(t, in); ok && f.File == s.Frames[0].File {
				key := fmt.Sprint(s.Frames)
				if bodies[id] = f; ends[key] == nil {
					ends[key] = map[profile.Frame]bool{}
				}
				ends[key][f] = true
			}
			break // the section's instances have one body
		}
	}
	for id, f := range bodies {
		s := &t.Sections[id]
		if len(ends[fmt.Sprint(s.Frames)]) > 1 {
			s.Frames = append([]profile.Frame{}, s.Frames...)
			s.Frames[0].Line, s.Frames[0].Column = f.Line, f.Column
		}
	}
	return nil
}

// bodyFrame is the first line of the function with which most parts start.
func bodyFrame(t *profile.Tables, in *profile.Instance) (best profile.Frame, ok bool) {
	n, most := map[profile.NodeID]int{}, 0
	for i := range in.Parts {
		id := in.Parts[i].Entry
		if id == profile.None || !startsFunction(t, id) || len(t.Nodes[id].First) == 0 {
			continue
		}
		if n[id]++; n[id] > most {
			most, best = n[id], t.Nodes[id].First[0]
		}
	}
	return best, most > 0 && best.Line > 0
}

func startsFunction(t *profile.Tables, id profile.NodeID) bool {
	n := &t.Nodes[id]
	return n.Function != profile.None && t.Functions[n.Function].Entry == n.Addr
}
