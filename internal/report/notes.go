package report

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"lime/internal/profile"
)

// noteNoDebugInfo is the code of the notes whose texts are files of which functions only are known.
const noteNoDebugInfo = "no-debug-info"

// noteLead says what a note's text is about, for codes whose text is names only.
type noteLead struct {
	code  string
	lead  string
	names bool // the text is a file: several are folded into one line
	minor bool // of no interest unless asked for
}

func noteLeads() []noteLead {
	return []noteLead{
		{"image-missing", "Not readable, so its places have no names: ", false, false},
		{"image-changed", "Built anew since the run, so its lines may be wrong: ", false, false},
		{noteNoDebugInfo, "No debug information, so functions only (build with -g for lines): ", true, false},
		{"split-missing", "Debug information that is not at hand, so inlined functions have no names: ", false, false},
		{"source-newer", "Changed after the program was built, so the text may not fit its lines: ", true, false},
		{"no-source", "Source not at hand: ", false, true},
	}
}

// noteLines puts notes into sentences: those of names only get words, and
// become one line for each code.
func noteLines(notes []Note, all bool) []string {
	var out []string
	for _, l := range noteLeads() {
		if text := l.fold(notes); text != "" && (all || !l.minor) {
			out = append(out, l.lead+text)
		}
	}
	for _, n := range notes {
		if hasLead(n.Code) || slices.Contains(inHead(), n.Code) || minorNote(n.Code) && !all {
			continue
		}
		text := n.Text
		switch {
		case n.Code == profile.NoteEffortThreads: // the number is that of the threads
			text = fmt.Sprintf("%d %s", n.Times, text)
		case n.Times > 1 && !counted(n.Code):
			text += fmt.Sprintf(" (%d times)", n.Times)
		}
		out = append(out, text)
	}
	return out
}

// inHead lists the notes that stand in the report's head.
func inHead() []string {
	return []string{noteTimeline, profile.NoteCompared, profile.NoteHostTime, profile.NoteElsewhere}
}

// counted tells whether a note's text has its number already, or the number says no more.
func counted(code string) bool {
	return slices.Contains([]string{"complete-stacks", "broken-stacks", "child-process", "ranks", "rank-missing",
		"rank-cut", "rank-clocks"}, code)
}

// minorNote tells whether a note is said elsewhere: Effort names its threads.
func minorNote(code string) bool { return code == profile.NoteEffortThreads }

func hasLead(code string) bool {
	for _, l := range noteLeads() {
		if l.code == code {
			return true
		}
	}
	return false
}

// fold joins the texts of the notes with the lead's code.
func (l noteLead) fold(notes []Note) string {
	const most = 4
	var texts []string
	n := 0
	for _, note := range notes {
		if note.Code != l.code {
			continue
		}
		if n++; n <= most {
			text := note.Text
			if l.names {
				text = path.Base(text)
			}
			texts = append(texts, text)
		}
	}
	if n > most {
		texts = append(texts, fmt.Sprintf("and %d more", n-most))
	}
	return strings.Join(texts, ", ")
}
