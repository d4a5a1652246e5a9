package native

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"lime/internal/unwind"
)

// broken counts the call paths that are not complete, by reason and place.
type broken map[brokenAt]uint64

type brokenAt struct{ why, where string }

// note remembers where a walk broke off: at is the last PC that it reached.
func (b broken) note(err error, m *images, at uint64, deep bool) {
	key := brokenAt{why: "no frame information leads on"}
	switch {
	case deep:
		key.why = "deeper than the frames that are kept"
	case errors.Is(err, unwind.ErrMemory):
		key.why = "the stack that a sample copies is too short"
	}
	key.where = "code that belongs to no file"
	if im, s, ok := m.symbol(at); im != nil {
		key.where = filepath.Base(im.Path)
		if ok {
			key.where = s.Name + " in " + key.where
		}
	}
	b[key]++
}

const toldBroken = 3

// words names the most frequent reasons.
func (b broken) words() []string {
	keys := slices.SortedFunc(maps.Keys(b), func(x, y brokenAt) int {
		return cmp.Or(cmp.Compare(b[y], b[x]), cmp.Compare(x.why, y.why), cmp.Compare(x.where, y.where))
	})
	var out []string
	for _, k := range keys[:min(len(keys), toldBroken)] {
		out = append(out, fmt.Sprintf("%s (%s, %d times)", k.where, k.why, b[k]))
	}
	return out
}
