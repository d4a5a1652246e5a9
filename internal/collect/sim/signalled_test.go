package sim_test

import (
	"os"
	"testing"

	"lime/internal/profile"
)

// TestSignalled has signals interrupt threads, at instructions in the midst of blocks, whose handlers
// end that in every way that there is, one thread at a time and in parallel. However it goes on, each
// instruction that was executed is counted once, and nothing but a function begins without a way that
// leads there. (Of main, the parts begin anew behind each join.)
func TestSignalled(t *testing.T) {
	bin := compile(t, "signalled.c", "gcc -O1 -g -pthread -o OUT SRC")
	for _, row := range []struct{ how, signals string }{
		{"repaired", "86"}, {"skipped", "86"}, {"left", "86"}, {"divided", "23"}, {"undefined", "86"}, {"emulated", "86"}, {"trapped", "86"},
		{"restarted", "12"}, {"written", "0"},
	} {
		t.Run(row.how, func(t *testing.T) {
			path, status, said, printed := simulatedIn(t, os.Environ(), 4, bin, row.how)
			if status != 0 || printed != row.signals+"\n" {
				t.Fatalf("status %d: %s; %s signals", status, said, printed)
			}
			everyWayLeads(t, path)
			if row.how == "restarted" { // when its signals come is the host's affair in parallel
				return
			}
			cmd, path := countingSignals(t, nil, bin, row.how)
			if printed, err := cmd.Output(); err != nil || string(printed) != row.signals+"\n" {
				t.Fatalf("in parallel: %v; %s signals", err, printed)
			}
			everyWayLeads(t, path)
		})
	}
}

// everyWayLeads holds the instructions and the ways of all parts to that.
func everyWayLeads(t *testing.T, path string) {
	t.Helper()
	p := openProfile(t, path)
	addsUp(t, p)
	tab := p.Tables()
	if err := p.Scan(func(in *profile.Instance) error {
		for k := range in.Parts {
			lacks := waysLacking(tab, in, int32(k))
			lacks[in.Parts[k].Entry]--
			for v, n := range lacks {
				f := "code that was made"
				if id := tab.Nodes[v].Function; id != profile.None {
					f = tab.Functions[id].Name
				}
				if n > 0 && !begins(tab, v, "") && f != "main" {
					t.Errorf("section %d, part %d: %d ways to %#x in %s are lacking", in.Section, k, n, tab.Nodes[v].Addr, f)
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
