package sim_test

import (
	"testing"

	"lime/internal/profile"
)

// Goroutines that meet by a mutex and a condition have a core each, where threads run in parallel,
// for as long as the scheduler has processors for them, whichever threads the host gives cores to:
// those with the same to do wait for next to nothing. On the threads on which they came to stand
// behind one another they were at work for 14 to 37 % of the time.
func TestGoroutinesHaveACoreEach(t *testing.T) {
	cmd, path := counting(t, nil, compile(t, "gomeet.go", "go build -o OUT SRC"))
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatal(err, string(said))
	}
	p := openProfile(t, path)
	work, whole, rounds := uint64(0), uint64(0), 0
	for id, s := range p.Tables().Sections {
		for in := range p.Instances(profile.SectionID(id)) {
			if s.Kind != profile.SectionBuilt || len(in.Parts) != 4 {
				continue
			}
			rounds++
			for i := range in.Parts {
				work += in.Parts[i].Time()
				whole += in.Parts[i].Release - in.Parts[i].Start
			}
		}
	}
	if rounds < 50 || 4*work < 3*whole {
		t.Errorf("%d of 100 rounds, in which goroutines were at work for %d of %d", rounds, work, whole)
	}
}
