package sim_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"lime/internal/profile"
)

// TestPartsHoldTheSameRounds has threads that run in parallel go through rounds which end at a
// barrier, of all kinds and wherever the compiler puts it. What is told as one passage of a section
// holds as many rounds of one thread as of any other: else the threads came through other passages
// meanwhile that were not seen, and what they are held against is none.
func TestPartsHoldTheSameRounds(t *testing.T) {
	const rounds, work = 30, 6000
	forms := []string{"CALL", "INLINE", "TWO", "APART"}
	for i, kind := range barrierKinds {
		for k, form := range forms {
			if os.Getenv("LIME_LONG") == "" && k != (i+1)%len(forms) {
				continue
			}
			t.Run(kind+"/"+form, func(t *testing.T) {
				t.Parallel()
				exe := barrierProgram{kind, form, "g++ -O2"}.build(t)
				args := strings.Fields(fmt.Sprint(3+i%6, rounds, work, []int{even, byChance}[i/2%2]))
				cmd, path := counting(t, nil, append([]string{exe}, args...)...)
				if out, err := cmd.CombinedOutput(); err != nil || string(out) != "done\n" {
					t.Fatalf("%v: %s", err, out)
				}
				list := roundsOf(t, path)
				for _, in := range list {
					if slices.Max(in.rounds) != slices.Min(in.rounds) {
						t.Errorf("a section that ends at a %s has parts of %v rounds", in.kind, in.rounds)
					}
				}
				t.Logf("%d sections of several threads", len(list))
			})
		}
	}
}

// roundsIn is how often each part of an instance came to the work of a round.
type roundsIn struct {
	kind   profile.SectionKind
	rounds []uint64
}

// roundsOf lists the instances of several threads.
func roundsOf(t *testing.T, path string) (list []roundsIn) {
	t.Helper()
	p, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	tab := p.Tables()
	for id, s := range tab.Sections {
		for in, err := range p.Instances(profile.SectionID(id)) {
			if err != nil {
				t.Fatal(err)
			}
			if len(in.Parts) < 2 {
				continue
			}
			x := roundsIn{s.Kind, make([]uint64, len(in.Parts))}
			for _, c := range in.Edges {
				if e := tab.Edges[c.Row]; e.Kind == profile.EdgeCall && e.To != profile.None && begins(tab, e.To, "compute") {
					x.rounds[c.Part] += c.N
				}
			}
			list = append(list, x)
		}
	}
	return list
}

// begins reports whether a block is the first of a function whose name holds a word.
func begins(tab *profile.Tables, id profile.NodeID, word string) bool {
	n := tab.Nodes[id]
	return n.Function != profile.None && tab.Functions[n.Function].Entry == n.Addr && strings.Contains(tab.Functions[n.Function].Link, word)
}
