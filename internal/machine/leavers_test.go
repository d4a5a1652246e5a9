package machine

import "testing"

// TestConflictsAreToldFromCapacity goes round lines that all fall into one set, and round as many
// lines that fill a cache over its brim: the first misses are conflicts, the others are none.
func TestConflictsAreToldFromCapacity(t *testing.T) {
	const sets, ways = 16, 4
	for name, c := range map[string]struct {
		lines, step int
		conflicts   bool
	}{
		"one set":       {ways + 1, sets, true},
		"over capacity": {sets*ways + sets, 1, false},
	} {
		a := newArray(sets, ways, LRU)
		l := newLeavers(a)
		misses, conflicts := 0, 0
		for range 4 {
			for k := range c.lines {
				line := uint64(1000 + k*c.step)
				if i := a.find(line); i >= 0 && held(a.state(i)) {
					a.touch(i)
					continue
				}
				misses++
				if l.conflict(a, line) {
					conflicts++
				}
				i := a.victim(line)
				used := a.slots[i].stamp
				if old := a.insert(i, line, exclusive); old != 0 {
					l.left(old.line(), used)
				}
			}
		}
		again := misses - c.lines // the first misses are nobody's fault
		if c.conflicts && conflicts != again || !c.conflicts && conflicts != 0 {
			t.Errorf("%s: %d of %d repeated misses are conflicts", name, conflicts, again)
		}
	}
}
