package collect

import (
	"sort"

	"lime/internal/profile"
)

// Notes counts what the reader of the profile must know: by a stable code, and its text.
type Notes map[[2]string]uint64

// Add counts a note once more.
func (b Notes) Add(code, text string) { b[[2]string{code, text}]++ }

// Set makes a note the only one of its code.
func (b Notes) Set(code, text string, n uint64) {
	for k := range b {
		if k[0] == code {
			delete(b, k)
		}
	}
	b[[2]string{code, text}] = n
}

// List is the notes in order.
func (b Notes) List() []profile.Note {
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
