package native

import (
	"slices"
	"testing"

	"lime/internal/section"
)

// Of threads that are counted down, not joined, the last one has come to the end before it ends: what it
// still worked when the first one came is known of it all the same. Of others it is not.
func TestLastOfSiblings(t *testing.T) {
	maker, other := &thread{id: 0}, &thread{id: 1}
	first, last := &thread{id: 2, parent: maker}, &thread{id: 3, parent: maker}
	e := &episode{map[*thread]uint64{first: 100, last: 200}}
	for _, row := range []struct {
		name   string
		kind   section.Kind
		parent *thread
		met    *episode
		want   []uint64
	}{
		{"unseen", section.Join, maker, nil, []uint64{0, 150}},
		{"at a barrier", section.Barrier, maker, nil, nil},
		{"made by another one", section.Join, other, nil, nil},
		{"come to something else", section.Join, maker, &episode{}, nil},
	} {
		last.parent = row.parent
		in := section.Instance{Kind: row.kind, Parts: []section.Part{
			{Spans: []any{&piece{thread: first, met: e}}},
			{Spans: []any{&piece{thread: last, met: row.met, cpuFrom: 50, cpu: 300}}},
		}}
		for range 2 { // in either order
			after, known := whenTheFirstCame(&in)
			if known != (row.want != nil) || known && !slices.Equal(after, row.want) {
				t.Errorf("%s: %v, known: %t; want %v", row.name, after, known, row.want)
			}
			slices.Reverse(in.Parts)
			slices.Reverse(row.want)
		}
	}
}

// Threads that are made when one of those before has come to its end are others, and those that are yet
// on their way out then come to the end of theirs.
func TestSiblingsAreMadeTogether(t *testing.T) {
	lv := &lives{episodes: &episodes{begun: map[uint64]*episode{}}}
	maker := &thread{id: 7}
	scopes, late := [][]*thread{}, (*thread)(nil)
	for range 5 {
		var made []*thread
		for range 4 {
			x := &thread{parent: maker}
			lv.joinsSiblings(x)
			made = append(made, x)
		}
		if late != nil { // the last one before them ends now
			if key := siblings(maker, late.batch); lv.episodes.begun[key] == nil || late.batch == made[0].batch {
				t.Errorf("one that is late is of %d, as those are that are made while it ends (%d)", late.batch, made[0].batch)
			}
		}
		for _, x := range made[:3] {
			key := siblings(maker, x.batch)
			if lv.episodes.begun[key] == nil {
				lv.episodes.begun[key] = &episode{}
			}
		}
		late, scopes = made[3], append(scopes, made)
	}
	for i, made := range scopes {
		for _, x := range made {
			if x.batch != uint32(i) {
				t.Errorf("scope %d: a thread of %d", i, x.batch)
			}
		}
	}
	if len(lv.episodes.begun) > 2 {
		t.Errorf("%d ends are remembered", len(lv.episodes.begun))
	}
}
