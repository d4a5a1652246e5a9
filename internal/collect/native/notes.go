package native

import (
	"sort"

	"lime/internal/profile"
)

// noteBook counts what the reader of the profile must know.
type noteBook map[[2]string]uint64

func (b noteBook) add(code, text string) { b[[2]string{code, text}]++ }

func (b noteBook) set(code, text string, n uint64) { b[[2]string{code, text}] = n }

// list is the book in order.
func (b noteBook) list() []profile.Note {
	out := make([]profile.Note, 0, len(b))
	for k, n := range b {
		out = append(out, profile.Note{Code: k[0], Text: k[1], N: n})
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Code != out[j].Code {
			return out[i].Code < out[j].Code
		}
		return out[i].Text < out[j].Text
	})
	return out
}
