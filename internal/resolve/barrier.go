package resolve

import (
	"slices"

	"lime/internal/origin"
	"lime/internal/profile"
)

// inlinedBarriers finds the lines that call barriers which the program built itself and the
// compiler inlined. The collector knows functions only: it takes the function that holds the
// barrier's waits for the barrier, and names its caller. The inlined calls around the waits tell
// the truth.
func inlinedBarriers(src profile.Source, t *profile.Tables, trimmed map[profile.NodeID]bool) error {
	for i := range t.Sections {
		s := &t.Sections[i]
		if s.Kind != profile.SectionBuilt {
			continue
		}
		var inner []profile.Frame
		tried := 0
		for in, err := range src.Instances(profile.SectionID(i)) {
			if err != nil {
				return err
			}
			if id := ownCall(t, s, in); id != profile.None {
				s.EndNode, s.EndAddr, s.Frames = id, t.Nodes[id].LastAddr, t.Nodes[id].Frames
				break // the section's instances end at one place
			} else if fs := inlinedCall(t, s, in, trimmed); len(fs) > len(inner) {
				inner = fs
			}
			if tried++; tried == firstPassages {
				break
			}
		}
		if inner != nil {
			s.Frames = inner
		}
	}
	return nil
}

// firstPassages are looked at for the one that tells most: the first few of a barrier are found
// before it is known where all pass, and of who came late only that it was there.
const firstPassages = 4

// ownCall returns the innermost call of the program's own that all parts have open, if the place of
// the section is library code around it: what a thread library calls, and calls the program in
// turn.
func ownCall(t *profile.Tables, s *profile.Section, in *profile.Instance) profile.NodeID {
	depth, ok := parting(in)
	if !ok || s.EndNode == profile.None || ownNode(t, s.EndNode) {
		return profile.None
	}
	common := in.Parts[0].ExitStack[:depth]
	for i := len(common) - 1; i >= 0 && common[i] != s.EndNode; i-- {
		if ownNode(t, common[i]) && slices.Contains(common[:i], s.EndNode) {
			return common[i]
		}
	}
	return profile.None
}

// ownNode reports whether a block stands at a line of the program's own.
func ownNode(t *profile.Tables, id profile.NodeID) bool {
	fs := t.Nodes[id].Frames
	return len(fs) > 0 && fs[0].File != profile.None && !origin.LibraryFile(t.Files[fs[0].File].Path)
}

// inlinedCall returns the frames of the inlined call that holds the ends of all parts, nil if there
// is none or the section's place lies elsewhere.
func inlinedCall(t *profile.Tables, s *profile.Section, in *profile.Instance, trimmed map[profile.NodeID]bool) []profile.Frame {
	depth, ok := parting(in)
	if !ok || s.EndNode == profile.None {
		return nil
	}
	var ends []profile.NodeID
	for i := range in.Parts {
		ends = append(ends, endAt(&in.Parts[i], depth))
	}
	called := depth > 0 && in.Parts[0].ExitStack[depth-1] == s.EndNode
	if called && slices.Contains(ends, s.EndNode) { // they ended with the call itself
		return nil
	}
	if !called { // then the place is in the function that holds the waits
		ends = append(ends, s.EndNode)
	}
	return commonCall(t, ends, trimmed)
}

// parting returns how many open calls all parts share at their ends.
func parting(in *profile.Instance) (depth int, ok bool) {
	if len(in.Parts) < 2 {
		return 0, false
	}
	first := in.Parts[0].ExitStack
	depth = len(first)
	for i := range in.Parts {
		stack := in.Parts[i].ExitStack
		if stack == nil {
			return 0, false
		}
		n := 0
		for n < depth && n < len(stack) && stack[n] == first[n] {
			n++
		}
		depth = n
	}
	return depth, true
}

// endAt returns the block in which a part ended, in the function where the parts' ways parted.
func endAt(p *profile.Part, depth int) profile.NodeID {
	if depth < len(p.ExitStack) {
		return p.ExitStack[depth]
	}
	return p.Exit
}

// commonCall returns the frames around the inlined call that all blocks lie in; nil if one lies in
// none. Of a call into a library that was inlined, only the frames around it are left.
func commonCall(t *profile.Tables, nodes []profile.NodeID, trimmed map[profile.NodeID]bool) []profile.Frame {
	var common []profile.Frame
	for _, id := range nodes {
		if id == profile.None || t.Nodes[id].Function != t.Nodes[nodes[0]].Function || len(t.Nodes[id].Frames) == 0 {
			return nil
		}
		outer := t.Nodes[id].Frames
		if !trimmed[id] {
			outer = outer[1:]
		}
		if len(outer) > len(common) {
			common = outer
		}
	}
	for _, id := range nodes { // some instructions of the call stand at its own line
		common = commonEnd(common, t.Nodes[id].Frames)
	}
	return slices.Clone(common)
}

// commonEnd returns the outermost frames that both stacks share.
func commonEnd(a, b []profile.Frame) []profile.Frame {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	if n == 0 {
		return nil
	}
	return a[len(a)-n:]
}
