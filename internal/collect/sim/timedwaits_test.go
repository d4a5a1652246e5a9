package sim_test

import (
	"testing"

	"lime/internal/profile"
)

// TestTimedWaitsAreNotLongerThanTheWork has threads wait, with a time-out again and again, for one
// that works slowly by the wall, as on a busy machine or where its memory is slow: they are not
// ahead of its clock then, so that the run is as long as what it executes.
func TestTimedWaitsAreNotLongerThanTheWork(t *testing.T) {
	prog := compile(t, "timedwaits.c", "gcc -O1 -g -pthread -o OUT SRC")
	for _, way := range []string{"cond", "sem", "mutex"} {
		for _, others := range []string{"1", "3"} {
			t.Run(way+"/"+others, func(t *testing.T) {
				cmd, path := counting(t, nil, prog, way, others)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				work, parts := profile.Length{}, lengths(t, path)
				for _, l := range parts {
					if l.Worked > work.Worked {
						work = l
					}
				}
				for _, l := range parts {
					// at the ends: they are there one after the other, and get the mutex so, too
					most := work.Part.Arrive + l.Worked + work.Worked/20
					if l.Section == work.Section && l.Part.Arrive > most {
						t.Errorf("thread %d comes at %d, the one that works at %d", l.Part.Thread, l.Part.Arrive, work.Part.Arrive)
					}
				}
			})
		}
	}
}
