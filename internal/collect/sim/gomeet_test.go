package sim_test

import (
	"os"
	"testing"

	"lime/internal/profile"
)

// Goroutines that meet by a mutex and a condition have a core each, where threads run in parallel,
// for as long as the scheduler has processors for them, whichever threads the host gives cores to:
// those with the same to do wait for next to nothing. On the threads on which they came to stand
// behind one another they were at work for 14 to 60 % of the time, in 3 to 37 of the rounds. (What a
// goroutine waits for where it stands behind others is not told whole yet.)
func TestGoroutinesHaveACoreEach(t *testing.T) {
	program := compile(t, "gomeet.go", "go build -o OUT SRC")
	work, whole, rounds := uint64(0), uint64(0), 0
	for range 3 { // in some runs most rounds are not seen, so that only those that are can be asked about
		cmd, path := countingSignals(t, nil, program)
		cmd.Env = append(os.Environ(), "GOMAXPROCS=4")
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatal(err, string(said))
		}
		p := openProfile(t, path)
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
	}
	if rounds < 30 || 5*work < 4*whole {
		t.Errorf("%d of 300 rounds, in which goroutines were at work for %d of %d", rounds, work, whole)
	}
}
