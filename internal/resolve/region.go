package resolve

import "lime/internal/profile"

// regionLines names the ends of parallel regions by the first line of the function that the compiler made of the
// region's body, which is that of the directive. The call of the runtime has that line, too, or none of its own: optimising compilers give it the
// line of whatever they have moved next to it, and regions of one function then look like one.
func regionLines(src profile.Source, t *profile.Tables) error {
	for i := range t.Sections {
		s := &t.Sections[i]
		if s.Kind != profile.SectionRegion || len(s.Frames) == 0 {
			continue
		}
		for in, err := range src.Instances(profile.SectionID(i)) {
			if err != nil {
				return err
			}
			if f, ok := bodyFrame(t, in); ok && f.File == s.Frames[0].File {
				frames := append([]profile.Frame{}, s.Frames...)
				frames[0].Line, frames[0].Column = f.Line, f.Column
				s.Frames = frames
			}
			break // the section's instances have one body
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
