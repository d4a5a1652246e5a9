package sim_test

import (
	"fmt"
	"os"
	"testing"

	"lime/internal/profile"
)

// TestGoroutinesComeBack has goroutines leave their threads in every way that there is: asleep, in a
// lock, of their own will, stopped for the collector of garbage where a function begins or in the
// midst of one, with a stack that grows. However one comes back, it goes on where it has been: in
// what a thread is counted for, nothing but a function begins without a way that leads there, and
// but for the block in which the thread began its part.
func TestGoroutinesComeBack(t *testing.T) {
	bin := compile(t, "gocomeback.go", "go build -o OUT SRC")
	for _, how := range []struct {
		seed, workers string
		async         string // 1: goroutines are stopped where a function begins only
	}{{"1", "4", "1"}, {"2", "4", "0"}, {"3", "9", "1"}} {
		env := append(os.Environ(), "GODEBUG=asyncpreemptoff="+how.async)
		t.Run(how.seed, func(t *testing.T) {
			path, status, said, _ := simulatedIn(t, env, 4, bin, how.seed, how.workers)
			if status != 0 {
				t.Fatalf("status %d: %s", status, said)
			}
			waysLeadThere(t, path)
		})
	}
}

// TestEveryCallIsCounted has the first collection of garbage begin in a goroutine's work, where Go's
// own goroutines are made then: what the goroutine did before is counted all the same.
func TestEveryCallIsCounted(t *testing.T) {
	bin := compile(t, "gocomeback.go", "go build -o OUT SRC")
	for _, how := range [][]string{{"1", "4"}, {"2", "4"}, {"3", "9"}} {
		t.Run(how[0], func(t *testing.T) {
			path, status, said, calls := simulatedIn(t, os.Environ(), 4, append([]string{bin}, append(how, "late")...)...)
			if status != 0 {
				t.Fatalf("status %d: %s", status, said)
			}
			if n := fmt.Sprintln(callsOf(t, path, "main.through")); n != calls {
				t.Errorf("%s calls of through are counted, the program made %s", n, calls)
			}
		})
	}
}

// callsOf is how often a function was called in sections.
func callsOf(t *testing.T, path, function string) (n uint64) {
	t.Helper()
	p := openProfile(t, path)
	tab := p.Tables()
	if err := p.Scan(func(in *profile.Instance) error {
		for _, c := range in.Edges {
			if e := &tab.Edges[c.Row]; e.Kind == profile.EdgeCall && e.To >= 0 && begins(tab, e.To, function) {
				n += c.N
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

// waysLeadThere holds the counts of all parts to that.
func waysLeadThere(t *testing.T, path string) {
	t.Helper()
	p := openProfile(t, path)
	tab := p.Tables()
	back := uint64(0) // returns to where goroutines have left by mcall or morestack
	if err := p.Scan(func(in *profile.Instance) error {
		for k := range in.Parts {
			lacks := waysLacking(tab, in, int32(k))
			lacks[in.Parts[k].Entry]--
			for v, n := range lacks {
				if n > 0 && !begins(tab, v, "") {
					x := &tab.Nodes[v]
					t.Errorf("section %d, instance %d, part %d: %d ways to %#x in %s are lacking", in.Section, in.Seq, k, n, x.Addr,
						tab.Functions[x.Function].Name)
				}
			}
		}
		back += returnsTo(tab, in)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if back == 0 {
		t.Error("no goroutine came back: this shows nothing")
	}
}

// waysLacking is how much more often blocks were left in a part than they were come to.
func waysLacking(tab *profile.Tables, in *profile.Instance, part int32) map[profile.NodeID]int64 {
	lacks := map[profile.NodeID]int64{}
	for _, c := range in.Edges {
		e := &tab.Edges[c.Row]
		if c.Part != part {
			continue
		}
		if e.To >= 0 {
			lacks[e.To] -= int64(c.N)
		}
		if e.From >= 0 && e.Kind != profile.EdgeReturn {
			lacks[e.From] += int64(c.N)
		}
	}
	return lacks
}

// returnsTo counts how often calls of what takes a goroutine off its thread came back.
func returnsTo(tab *profile.Tables, in *profile.Instance) (n uint64) {
	leave := map[profile.NodeID]bool{}
	for i := range tab.Edges {
		if e := &tab.Edges[i]; e.Kind == profile.EdgeCall && e.To >= 0 {
			leave[e.From] = leave[e.From] || begins(tab, e.To, "runtime.morestack") || begins(tab, e.To, "runtime.mcall")
		}
	}
	for _, c := range in.Edges {
		if e := &tab.Edges[c.Row]; e.Kind == profile.EdgeReturn && leave[e.From] {
			n += c.N
		}
	}
	return n
}
