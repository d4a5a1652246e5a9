package sim_test

import (
	"os"
	"testing"
)

// Goroutines that hand work to one another take as long as on a core each, where threads run in
// parallel, whatever cores the host has for Go's threads: as long as on simulated cores, where all is
// done in the order of the clocks. Which piece goes to whom, and when garbage is collected, is
// chance: a tenth.
func TestGoroutinesKeepPace(t *testing.T) {
	program := compile(t, "gopace.go", "go build -o OUT SRC")
	env := append(os.Environ(), "GOMAXPROCS=4")
	for _, how := range []string{"farm", "garbage", "half"} {
		t.Run(how, func(t *testing.T) {
			path, status, said, _ := simulatedIn(t, env, 4, program, how)
			if status != 0 {
				t.Fatalf("status %d: %s", status, said)
			}
			cmd, counted := countingSignals(t, nil, program, how)
			cmd.Env = env
			if said, err := cmd.CombinedOutput(); err != nil {
				t.Fatal(err, string(said))
			}
			want, got := openProfile(t, path).Meta(), openProfile(t, counted).Meta()
			if 10*got.RunTime > 11*want.RunTime || 10*want.RunTime > 11*got.RunTime {
				t.Errorf("took %d, on simulated cores %d", got.RunTime, want.RunTime)
			}
			if got.Cores != 4 {
				t.Errorf("%d cores, for a scheduler with 4 processors", got.Cores)
			}
		})
	}
}
