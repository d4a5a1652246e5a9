package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lime/internal/collect/sim"
	"lime/internal/profile"
)

// TestPathsChangeNothing: to look at the call paths of a run is no part of it. However often that is
// done, each thread does the same at the same time: all that the profile holds but the paths is the same.
func TestPathsChangeNothing(t *testing.T) {
	const never = 1 << 62
	cases := []struct {
		source, command string
		cores           int
		args            []string
	}{
		{"spinbarrier.c", plain, 8, nil}, // newborn threads, and turns that end where threads are about to wait
		{"ticket.c", plain, 4, nil},
		{"waitgroup.go", "go build -o OUT SRC", 4, nil},
		{"tinytasks.c", "gcc -O2 -fopenmp -g -o OUT SRC", 3, []string{"8"}},
		{"exclude.c", plain + " -DKIND=MCS", 3, []string{"6", "60", "200", "100"}}, // more threads than cores
	}
	for _, c := range cases {
		t.Run(c.source, func(t *testing.T) {
			t.Parallel()
			args := append([]string{compile(t, c.source, c.command)}, c.args...)
			want, none := butPaths(t, asked(t, sim.Options{Cores: c.cores, Interval: never}, args...))
			if none != 0 {
				t.Errorf("%d paths where none are asked for", none)
			}
			for _, interval := range []uint64{0, 1_009} {
				got, paths := butPaths(t, asked(t, sim.Options{Cores: c.cores, Interval: interval}, args...))
				if interval != 0 && paths == 0 {
					t.Error("no paths")
				}
				if got != want {
					t.Errorf("with paths every %d: %s", interval, firstDifference(want, got))
				}
			}
		})
	}
}

// firstDifference is where two texts part.
func firstDifference(want, got string) string {
	x, y := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d is\n%s\nwithout them\n%s", i+1, y[i], x[i])
		}
	}
	return fmt.Sprintf("%d lines, without them %d", len(y), len(x))
}

// butPaths is what a profile of model count holds but for call paths, with addresses for the numbers
// of blocks, which are given in the order in which they are met; and how many samples of work it has.
func butPaths(t *testing.T, p *profile.Reader) (string, int) {
	t.Helper()
	var b strings.Builder
	x := p.Tables()
	m := p.Meta()
	fmt.Fprintln(&b, m.RunTime, m.CoreTime, m.EndState)
	for _, r := range x.Threads {
		fmt.Fprintln(&b, r.Name, r.Parent, r.TID, r.Start, r.End)
	}
	for _, r := range x.Accounts {
		fmt.Fprintln(&b, r)
	}
	for _, r := range x.Locks {
		fmt.Fprintln(&b, r.Addr, r.First, r.Kind, r.Objects)
	}
	for _, r := range x.LockWaits {
		fmt.Fprintln(&b, r.Lock, r.Thread, r.At.Addr, r.Count, r.Time, r.Longest)
	}
	for id, r := range x.Sections {
		fmt.Fprintf(&b, "%s %#x\n", r.Kind, r.EndAddr)
		for in, err := range p.Instances(profile.SectionID(id)) {
			if err != nil {
				t.Fatal(err)
			}
			instanceText(&b, x, in)
		}
	}
	samples := 0
	for _, s := range x.PathSamples {
		if s.Metric == "time" {
			samples++
		}
	}
	return b.String(), samples
}

// instanceText writes an instance.
func instanceText(b *strings.Builder, x *profile.Tables, in *profile.Instance) {
	addr := func(n profile.NodeID) uint64 {
		if n < 0 {
			return 0
		}
		return x.Nodes[n].Addr
	}
	for _, p := range in.Parts {
		fmt.Fprintf(b, "part of %d: %d %d %d, %d %d %d, %d, %#x %#x", p.Thread, p.Start, p.Arrive, p.Release, p.LockWait, p.OffCPU, p.Early,
			in.Chance, addr(p.Entry), addr(p.Exit))
		for _, n := range append(slices.Clone(p.EntryStack), p.ExitStack...) {
			fmt.Fprintf(b, " %#x", addr(n))
		}
		fmt.Fprintln(b)
	}
	var edges []string
	for _, c := range in.Edges {
		e := x.Edges[c.Row]
		edges = append(edges, fmt.Sprintf("%#x %#x %s part %d: %d", addr(e.From), addr(e.To), e.Kind, c.Part, c.N))
	}
	slices.Sort(edges)
	fmt.Fprintln(b, strings.Join(edges, "\n"))
}
