package analysis

import (
	"testing"

	"lime/internal/profile"
)

// Main that has made all others and only keeps them needs no core: where samples tell, a tenth of the
// longest's work at most, somewhere else than they; where instructions are counted, next to nothing.
func TestWhoKeepsOthersNeedsNoCore(t *testing.T) {
	none := profile.ThreadID(profile.None)
	for _, row := range []struct {
		name    string
		main    []uint64
		sampled bool
		parents []profile.ThreadID
		cores   int
	}{
		{"feeds", []uint64{0, 0, 6_000}, true, []profile.ThreadID{4, 4, 4, 4, none}, 4},
		{"feeds, counted", []uint64{0, 0, 6_000}, false, []profile.ThreadID{4, 4, 4, 4, none}, 5},
		{"works", []uint64{0, 0, 12_000}, true, []profile.ThreadID{4, 4, 4, 4, none}, 5},
		{"does some of the same", []uint64{3_000, 0, 3_000}, true, []profile.ThreadID{4, 4, 4, 4, none}, 5},
		{"has not made all", []uint64{0, 0, 6_000}, true, []profile.ThreadID{none, 4, 4, 4, none}, 5},
	} {
		c := crew{kind: profile.SectionJoin, parents: row.parents}
		for range 4 {
			c.work = append(c.work, []uint64{90_000, 10_000, 0})
		}
		c.work = append(c.work, row.main)
		p := c.profile(t)
		if row.sampled {
			p.Meta().CountLabel = profile.Sampled
		}
		res, err := Run(p, Options{})
		must(t, err)
		if res.Whole.Width != row.cores {
			t.Errorf("%s: %d cores, want %d", row.name, res.Whole.Width, row.cores)
		}
	}
}

// Main that meets the others, which it has made, in a short section only is no core more; it is where
// it meets them for longer, and so is a thread that has made none.
func TestWhoOnlyMakesNeedsNoCore(t *testing.T) {
	for _, row := range []struct {
		name    string
		meets   uint64 // of the 100_000 that the others work
		sampled bool
		maker   profile.ThreadID
		cores   int
	}{
		{"a moment", 500, false, 0, 4}, {"longer", 5_000, false, 0, 5}, {"longer, sampled", 5_000, true, 0, 4},
		{"long, sampled", 20_000, true, 0, 5}, {"another's threads", 500, true, 1, 5},
	} {
		p := profile.New(profile.Meta{ClockUnit: "ns", Complete: true})
		if row.sampled {
			p.Meta().CountLabel = profile.Sampled
		}
		for i := range 5 {
			parent := row.maker
			if profile.ThreadID(i) == row.maker {
				parent = profile.None
			}
			p.AddThread(profile.Thread{Parent: parent, Entry: profile.None})
		}
		work := &profile.Instance{Section: p.AddSection(profile.Section{Kind: profile.SectionBuilt, EndNode: profile.None})}
		meet := &profile.Instance{Section: p.AddSection(profile.Section{Kind: profile.SectionJoin, EndNode: profile.None})}
		for i := range 5 {
			part := profile.Part{Thread: profile.ThreadID(i), Entry: profile.None, Exit: profile.None, Arrive: 100_000, Release: 100_000}
			if i > 0 {
				work.Parts = append(work.Parts, part)
			}
			part.Start, part.Arrive, part.Release = 100_000, 100_000+row.meets/2, 100_000+row.meets
			if i == 1 {
				part.Arrive = part.Release
			}
			if i == 0 { // before the others have begun to end
				part.Arrive = part.Start
			}
			meet.Parts = append(meet.Parts, part)
		}
		must(t, p.WriteInstance(work))
		must(t, p.WriteInstance(meet))
		res, err := Run(p, Options{})
		must(t, err)
		if res.Whole.Width != row.cores {
			t.Errorf("%s: %d cores, want %d", row.name, res.Whole.Width, row.cores)
		}
	}
}
