package sim_test

import (
	"os"
	"testing"
)

// Goroutines that call the system take as long as what they do, where threads run in parallel, however
// long the host takes for the calls and whichever threads of Go's take over from those that are in one:
// their parts are as long as what was counted and waited there, and the run as long as all of it on four
// cores, or as what is done under the lock. A tenth is chance: who comes first, and who stands in line.
func TestGoroutinesInSystemCalls(t *testing.T) {
	program := compile(t, "gosys.go", "go build -o OUT SRC")
	for _, how := range []struct {
		calls, way, rounds string
		share              uint64 // of the work, that can be done at a time
	}{
		{"short", "locked", "300", 2},
		{"short", "handed", "100", 4},
		{"long", "locked", "8", 2},
		{"long", "alone", "8", 4},
	} {
		t.Run(how.calls+" "+how.way, func(t *testing.T) {
			t.Parallel()
			cmd, path := counting(t, nil, program, how.calls, how.way, how.rounds)
			cmd.Env = append(os.Environ(), "GOMAXPROCS=4")
			if said, err := cmd.CombinedOutput(); err != nil {
				t.Fatal(err, string(said))
			}
			work := uint64(0)
			for _, l := range lengths(t, path) {
				work += l.Worked
			}
			if got, want := openProfile(t, path).Meta().RunTime, work/how.share; 10*got > 11*want || 10*want > 11*got {
				t.Errorf("took %d, want %d", got, want)
			}
		})
	}
}
