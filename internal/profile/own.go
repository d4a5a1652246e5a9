package profile

import "lime/internal/origin"

// Own is a profile as the program's own code sees it: the source position of library code that was
// inlined into the program is that of the
// line it was inlined into, which is the one that a programmer can change. Code that is a library's altogether stays where it is.
func Own(src Source) Source {
	tab := *src.Tables()
	tab.Nodes, tab.Events = append([]Node(nil), tab.Nodes...), append([]Event(nil), tab.Events...)
	tab.LockWaits, tab.LockHolds = append([]LockWait(nil), tab.LockWaits...), append([]LockHold(nil), tab.LockHolds...)
	lib := make([]bool, len(tab.Files))
	for i := range tab.Files {
		lib[i] = origin.LibraryFile(tab.Files[i].Path)
	}
	for i := range tab.Nodes {
		n := &tab.Nodes[i]
		n.Frames, n.First = ownFrames(n.Frames, lib), ownFrames(n.First, lib)
	}
	for i := range tab.Events {
		tab.Events[i].Frames = ownFrames(tab.Events[i].Frames, lib)
	}
	for i := range tab.LockWaits {
		tab.LockWaits[i].At.Frames = ownFrames(tab.LockWaits[i].At.Frames, lib)
	}
	for i := range tab.LockHolds {
		tab.LockHolds[i].At.Frames = ownFrames(tab.LockHolds[i].At.Frames, lib)
	}
	return ownSource{src, &tab}
}

type ownSource struct {
	Source
	tab *Tables
}

func (s ownSource) Tables() *Tables { return s.tab }

// ownFrames leaves out the innermost frames that are a library's, if there are others.
func ownFrames(fs []Frame, lib []bool) []Frame {
	for i, f := range fs {
		if f.File >= 0 && int(f.File) < len(lib) && !lib[f.File] && f.Line > 0 {
			return fs[i:]
		}
	}
	return fs
}
