package sim_test

import (
	"testing"

	"lime/internal/profile"
)

// TestWhatTurnsWaitFor has threads wait for their turn, at a condition that wakes them all. What
// the last one to end was not at work is told where it waited, and for what: the others' turns, and
// what they do before, as far as they are late for them.
func TestWhatTurnsWaitFor(t *testing.T) {
	prog := compile(t, "ownbarrier.c", "gcc -O2 -g -pthread -DKIND=turns -o OUT SRC")
	const threads, rounds = "4", "50"
	simulated, status, said := simulate(t, 4, "--", prog, threads, rounds)
	if status != 0 {
		t.Fatalf("status %d: %s", status, said)
	}
	cmd, counted := counting(t, nil, prog, threads, rounds)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, path := range []string{simulated, counted} {
		last := profile.Part{}
		for _, l := range lengths(t, path) {
			if l.Part.Thread == 4 { // has the last turn
				last = l.Part
			}
		}
		idle := float64(last.Release - last.Arrive)
		waited, awaited := idleWaits(t, path, last.Thread)
		if d := idle - waited["wait_for_others"]; d < -onTheWay || d > onTheWay {
			t.Errorf("thread %d was idle for %.0f, and waited %v", last.Thread, idle, waited)
		}
		if work := awaited["work"]; work < 0.95*idle || work > idle {
			t.Errorf("thread %d was idle for %.0f, for what is done in %v", last.Thread, idle, awaited)
		}
	}
}

// idleWaits are a thread's waits for others' work, by the function in which it waited, and by that
// for which it did.
func idleWaits(t *testing.T, path string, of profile.ThreadID) (waited, awaited map[string]float64) {
	t.Helper()
	p := openProfile(t, path)
	tab := p.Tables()
	waited, awaited = map[string]float64{}, map[string]float64{}
	for _, s := range tab.PathSamples {
		if s.Thread != of {
			continue
		}
		name := tab.Functions[tab.Nodes[tab.Paths[s.Path].Node].Function].Name
		switch s.Metric {
		case profile.MetricIdleWait:
			waited[name] += s.Value
		case profile.MetricAwaited:
			awaited[name] += s.Value
		}
	}
	return waited, awaited
}
