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

func (n *notes) cut(m *profile.Meta) {
	how := "its profile has no end: lime was killed there, or the disk was full"
	switch m.EndState {
	case "signalled":
		how = fmt.Sprintf("it was ended by signal %d", m.ExitStatus)
	case "interrupted":
		how = "it was interrupted"
	case "deadlock":
		how = "all its threads waited for one another"
	}
	n.add(NoteCut, fmt.Sprintf("rank %d on %s: %s; what it did until then is counted", m.Rank, m.Host, how), 1)
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
	return slices.Concat(out, n.files, n.own)
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
