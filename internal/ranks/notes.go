package ranks

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"lime/internal/profile"
)

// What must be said of the files: which are not there, which were left out, and why.

// notes collects what the reader must know.
type notes struct {
	own   []profile.Note // of the ranks' profiles: each once, the numbers added up
	at    map[string]int
	files []profile.Note // of the files
	cuts  []cut
}

func (n *notes) add(code, text string, times uint64) {
	n.files = append(n.files, profile.Note{Code: code, Text: text, N: times})
}

// of takes over the notes of a file.
func (n *notes) of(m *profile.Meta) {
	if n.at == nil {
		n.at = map[string]int{}
	}
	for _, x := range m.Notes {
		if x.Code == NoteRanks || x.Code == NoteMissing {
			continue
		}
		key := x.Code + "\x00" + x.Text
		i, ok := n.at[key]
		if !ok {
			i = len(n.own)
			n.at[key], n.own = i, append(n.own, profile.Note{Code: x.Code, Text: x.Text})
		}
		n.own[i].N += x.N
	}
}

// cut notes that a rank did not come to its end.
func (n *notes) cut(m *profile.Meta) {
	how := "no end is in the profile: lime was killed there, or the disk was full"
	switch m.EndState {
	case "signalled":
		how = fmt.Sprintf("ended by signal %d", m.ExitStatus)
	case "interrupted":
		how = "interrupted"
	case "deadlock":
		how = "all threads waited for one another"
	case "lime-failed":
		how = "lime failed there"
	}
	i := slices.IndexFunc(n.cuts, func(c cut) bool { return c.how == how })
	if i < 0 {
		i = len(n.cuts)
		n.cuts = append(n.cuts, cut{how: how, host: m.Host})
	}
	n.cuts[i].ranks = append(n.cuts[i].ranks, m.Rank)
}

// cut is the ranks that ended in one way.
type cut struct {
	how, host string // that of the first
	ranks     []int
}

func (c *cut) note() profile.Note {
	slices.Sort(c.ranks)
	who := fmt.Sprintf("rank %d on %s", c.ranks[0], c.host)
	if len(c.ranks) > 1 {
		who = "ranks " + spans(c.ranks)
	}
	return profile.Note{Code: NoteCut, Text: fmt.Sprintf("%s: %s; what was done until then is counted", who, c.how), N: uint64(len(c.ranks))}
}

func (m *merger) unreadable(path string, err error) {
	m.notes.add(NoteUnreadable, fmt.Sprintf("%s is left out: %v", filepath.Base(path), err), 1)
}

func (m *merger) foreign(path, why string) {
	m.notes.add(NoteForeign, fmt.Sprintf("%s is left out: %s", filepath.Base(path), why), 1)
}

// why is what the notes say, for an error.
func (n *notes) why() string {
	var b strings.Builder
	for _, x := range n.files[:min(len(n.files), 3)] {
		b.WriteString("; " + x.Text)
	}
	return b.String()
}

// list is all notes, those of the files first. Of a launch that says how many ranks there are,
// those that left nothing are named.
func (n *notes) list(ranks, of int, lines []*line) []profile.Note {
	out := []profile.Note{{Code: NoteRanks,
		Text: fmt.Sprintf("The run is put together from the profiles of %d ranks.", ranks), N: uint64(ranks)}}
	if missing := missing(of, lines); ranks < of && len(missing) > 0 {
		out = append(out, profile.Note{Code: NoteMissing,
			Text: fmt.Sprintf("of %d ranks these left no profile that can be read: %s", of, spans(missing)), N: uint64(of - ranks)})
	}
	out = append(out, n.files...)
	for i := range n.cuts {
		out = append(out, n.cuts[i].note())
	}
	return append(out, n.own...)
}

// missing are the numbers of the ranks that are in no line.
func missing(of int, lines []*line) (list []int) {
	there := map[int]bool{}
	for _, l := range lines {
		there[l.rank] = true
	}
	for i := range of {
		if !there[i] {
			list = append(list, i)
		}
	}
	return list
}

// spans writes numbers in order as 3, 7 to 9.
func spans(list []int) string {
	const most = 8
	var words []string
	for i := 0; i < len(list); {
		k := i
		for k+1 < len(list) && list[k+1] == list[k]+1 {
			k++
		}
		switch {
		case k == i:
			words = append(words, fmt.Sprint(list[i]))
		case k == i+1:
			words = append(words, fmt.Sprint(list[i]), fmt.Sprint(list[k]))
		default:
			words = append(words, fmt.Sprintf("%d to %d", list[i], list[k]))
		}
		i = k + 1
		if len(words) >= most && i < len(list) {
			words = append(words, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
	}
	return strings.Join(words, ", ")
}
