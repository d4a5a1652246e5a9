package sim_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lime/internal/profile"
)

// wasteShares are the shares of a profile, in percent, by kind.
func wasteShares(t *testing.T, p profile.Source) map[string]float64 {
	t.Helper()
	sums := map[string][2]float64{}
	for _, x := range p.Tables().WasteTotals {
		s := sums[x.Kind]
		sums[x.Kind] = [2]float64{s[0] + float64(x.Bytes), s[1] + float64(x.Of)}
	}
	out := map[string]float64{}
	for kind, s := range sums {
		out[kind] = 100 * s[0] / max(s[1], 1)
	}
	return out
}

// worstOf is the pair of a kind that wastes the most, as "function > function on data".
func worstOf(p profile.Source, kind string) string {
	tab := p.Tables()
	for _, x := range tab.WastePairs {
		if x.Kind == kind {
			name := func(s *profile.WasteSide) string {
				if s.Node < 0 || tab.Nodes[s.Node].Function < 0 {
					return "?"
				}
				return tab.Functions[tab.Nodes[s.Node].Function].Name
			}
			data, _, _ := strings.Cut(x.Data, "+")
			return name(&x.First) + " > " + name(&x.Second) + " on " + data
		}
	}
	return ""
}

func openProfile(t *testing.T, path string) *profile.Reader {
	t.Helper()
	p, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	if err := profile.Validate(p); err != nil {
		t.Error(err)
	}
	return p
}

// wasteFound are the pairs of some functions, or of all, by kind and both places: bytes and accesses, of
// all call paths and threads.
func wasteFound(p profile.Source, functions ...string) map[string][2]uint64 {
	tab, out := p.Tables(), map[string][2]uint64{}
	for _, x := range tab.WastePairs {
		name := ""
		if n := x.Second.Node; n >= 0 && tab.Nodes[n].Function >= 0 {
			name = tab.Functions[tab.Nodes[n].Function].Name
		}
		if len(functions) == 0 || slices.Contains(functions, name) {
			at := fmt.Sprintf("%s %#x %#x", x.Kind, x.First.Addr, x.Second.Addr)
			sum := out[at]
			out[at] = [2]uint64{sum[0] + x.Bytes, sum[1] + x.Count}
		}
	}
	return out
}

// countedWaste is the profile of a program whose threads run in parallel.
func countedWaste(t *testing.T, args ...string) profile.Source {
	t.Helper()
	cmd, path := counting(t, []string{"--waste"}, args...)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("count %s: %v: %s", args, err, said)
	}
	return openProfile(t, path)
}

// TestWasteBeside: threads that run in parallel, each on bytes of its own or on what all only load,
// waste what they waste by turns, access for access.
func TestWasteBeside(t *testing.T) {
	bin := compile(t, "waste_beside.c", "gcc -g -O1 -pthread -static -o OUT SRC")
	for _, name := range []string{"silent", "loads", "mixed", "none"} {
		path, status, said := simulate(t, 4, "--waste=dead,silent,loads", "--", bin, name)
		if status != 0 {
			t.Fatalf("%s: status %d: %s", name, status, said)
		}
		want := wasteFound(openProfile(t, path), "set", "use")
		got := wasteFound(countedWaste(t, bin, name), "set", "use")
		if !reflect.DeepEqual(got, want) || (len(want) == 0) != (name == "none") {
			t.Errorf("%s: in parallel %v, by turns %v", name, got, want)
		}
	}
}

// TestWasteByTurns: of what one thread stores and another one loads, by turns, nothing is dead but
// what one log may hold before it is seen that the order is not known.
func TestWasteByTurns(t *testing.T) {
	bin := compile(t, "waste_beside.c", "gcc -g -O1 -pthread -static -o OUT SRC")
	const ofLog = 4096 * 8 // instructions, bytes of a store
	for at, n := range wasteFound(countedWaste(t, bin, "turns"), "put") {
		if strings.HasPrefix(at, "dead-store") && n[0] > ofLog {
			t.Errorf("%s: %d bytes, of which none is dead", at, n[0])
		}
	}
}

// TestWaste runs programs with planted waste. The shares follow from their text. Counted, they waste
// the same.
func TestWaste(t *testing.T) {
	bin := compile(t, "waste.c", "gcc -g -O1 -mavx2 -static -nostdlib -ffreestanding "+
		"-fno-tree-loop-distribute-patterns -fno-pie -no-pie -o OUT SRC")
	unread := math.NaN() // what little is loaded is the program's own start
	for _, row := range []struct {
		name                string
		dead, silent, loads float64
		kind, worst         string // the worst pair of a kind
	}{
		{"dead", 50, 0, unread, "dead-store", "set > set on a"},
		{"paths", 50, 0, unread, "dead-store", "set > set on a"},
		{"none", 0, 0, 0, "", ""},
		{"silent", 0, 50, 0, "silent-store", "same > same on a"},
		{"both", 50, 50, unread, "silent-store", "same > same on a"},
		{"loads", 0, 0, 50, "silent-load", "use > use on a"},
		{"changed", 0, 0, 0, "", ""},
		{"kept", 0, 50, 50, "silent-load", "use > use on a"},
		{"part", 12.5, 0, 0, "dead-store", "set > set on a"},
		{"half", 25, 0, 0, "dead-store", "set > set on a"},
		{"mixed", 50, 0, unread, "dead-store", "mixed > mixed on bytes"},
		{"unaligned", 50, 0, unread, "dead-store", "unaligned > unaligned on bytes"},
		{"fields", 25, 0, 0, "dead-store", "fields > fields on pairs"},
		{"near", 100. / 3, 200. / 3, 0, "silent-store", "doubles > doubles on d"},
		{"far", 100. / 3, 100. / 3, 0, "silent-store", "doubles > doubles on dsink"},
		{"floats", 0, 50, 0, "silent-store", "floats > floats on f"},
		{"integers", 0, 0, 0, "", ""},
		{"vector", 50, 0, unread, "dead-store", "vector > vector on vectors"},
		{"masked", 0, 0, unread, "", ""},
		{"gather", 0, 0, unread, "", ""},
		{"stos", 100. / 3, 100. / 3, 0, "silent-store", "fill > fill on a"},
		{"movs", 0, 100. / 3, 100. / 3, "silent-store", "copy > copy on a"},
		{"backwards", 0, 0, 0, "", ""},
		{"atomics", 0, 0, 0, "", ""},
		{"spill", 0, 100, 100, "silent-store", "spill > spill on the thread's own stack"},
		{"output", 0, 0, unread, "", ""},
		{"input", 0, 0, 0, "", ""},
		{"stack", 50, 50, unread, "dead-store", "frame > frame on the thread's own stack"},
		{"search", 0, 0, 90, "silent-load", "search > search on a"},
		{"recursion", unread, unread, unread, "dead-store", "set > set on a"},
	} {
		t.Run(row.name, func(t *testing.T) {
			path, status, said := simulate(t, 1, "--waste=dead,silent,loads", "--", bin, row.name)
			if status != 0 {
				t.Fatalf("status %d: %s", status, said)
			}
			p := openProfile(t, path)
			got := wasteShares(t, p)
			for kind, want := range map[string]float64{"dead-store": row.dead, "silent-store": row.silent, "silent-load": row.loads} {
				if math.Abs(got[kind]-want) > 0.1 {
					t.Errorf("%s: %.2f %%, want %.2f", kind, got[kind], want)
				}
			}
			if got, want := wasteFound(countedWaste(t, bin, row.name)), wasteFound(p); !reflect.DeepEqual(got, want) {
				t.Errorf("counted: %v, want %v", got, want)
			}
			if row.kind != "" {
				if got := worstOf(p, row.kind); got != row.worst {
					t.Errorf("worst %s: %s, want %s", row.kind, got, row.worst)
				}
			}
		})
	}
}

// Looking for one kind alone finds of it what looking for all does, though less is logged then. The
// programs have instructions that load and store at once.
func TestWasteAlone(t *testing.T) {
	bin := compile(t, "waste.c", "gcc -g -O1 -mavx2 -static -nostdlib -ffreestanding "+
		"-fno-tree-loop-distribute-patterns -fno-pie -no-pie -o OUT SRC")
	for _, name := range []string{"atomics", "fields"} {
		all, _, _ := simulate(t, 1, "--waste=dead,silent,loads", "--", bin, name)
		dead, _, _ := simulate(t, 1, "--waste=dead", "--", bin, name)
		want, got := wasteShares(t, openProfile(t, all)), wasteShares(t, openProfile(t, dead))
		if got["dead-store"] != want["dead-store"] {
			t.Errorf("%s: %.3f %% dead alone, %.3f %% beside other kinds", name, got["dead-store"], want["dead-store"])
		}
	}
}

// callers are the functions of a side's call path, the innermost first.
func callers(p profile.Source, s *profile.WasteSide) (out []string) {
	tab := p.Tables()
	for id := s.Path; id >= 0; id = tab.Paths[id].Parent {
		if n := tab.Nodes[tab.Paths[id].Node]; n.Function >= 0 {
			out = append(out, tab.Functions[n.Function].Name)
		}
	}
	return out
}

// The two sides of a pair have their own call paths.
func TestWastePaths(t *testing.T) {
	bin := compile(t, "waste.c", "gcc -g -O1 -mavx2 -static -nostdlib -ffreestanding "+
		"-fno-tree-loop-distribute-patterns -fno-optimize-sibling-calls -fno-pie -no-pie -o OUT SRC")
	path, _, _ := simulate(t, 1, "--waste=dead", "--", bin, "paths")
	p := openProfile(t, path)
	pair := &p.Tables().WastePairs[0]
	first, second := strings.Join(callers(p, &pair.First), " "), strings.Join(callers(p, &pair.Second), " ")
	if first != "one paths start _start" || second != "two paths start _start" {
		t.Errorf("paths %q and %q", first, second)
	}
	text, err := os.ReadFile(filepath.Join("testdata", "waste.c"))
	if err != nil {
		t.Fatal(err)
	}
	if f := pair.First.Frames; len(f) == 0 || !strings.Contains(strings.Split(string(text), "\n")[f[0].Line-1], "/* SET */") {
		t.Errorf("first place %+v", f)
	}
}

// TestWasteWhy: the reasons that the code around a pair tells, and silence where none does.
func TestWasteWhy(t *testing.T) {
	bin := compile(t, "waste_why.c", "gcc -g -O1 -static -nostdlib -ffreestanding "+
		"-fno-tree-loop-distribute-patterns -fno-pie -no-pie -o OUT SRC")
	for _, row := range []struct{ name, kind, why string }{
		{"cleared", "dead-store", "initialisation"},
		{"running", "dead-store", "running-value"},
		{"constant", "silent-store", "invariant-store"},
		{"bound", "silent-load", "invariant-load"},
		{"spilled", "silent-load", "spill"},
		{"search", "silent-load", "search"},
		{"copied", "silent-load", ""},
		{"replaced", "dead-store", ""},
		{"computed", "silent-store", "recomputation"},
		{"shifted", "silent-store", ""},
		{"moved", "silent-store", ""},
		{"entered", "silent-store", ""},
	} {
		path, status, said := simulate(t, 1, "--waste=dead,silent,loads", "--", bin, row.name)
		if status != 0 {
			t.Fatalf("%s: status %d: %s", row.name, status, said)
		}
		pairs := openProfile(t, path).Tables().WastePairs
		if i := slices.IndexFunc(pairs, func(p profile.WastePair) bool { return p.Kind == row.kind }); i < 0 {
			t.Errorf("%s: no %s", row.name, row.kind)
		} else if pairs[i].Why != row.why {
			t.Errorf("%s: %q, want %q", row.name, pairs[i].Why, row.why)
		}
	}
}

// TestWasteSharing: lines that are shared falsely are found, with both sides and the data; of
// padded twins nothing is said.
func TestWasteSharing(t *testing.T) {
	packed := compile(t, "sharing.c", "gcc -g -O1 -pthread -o OUT SRC")
	padded := compile(t, "sharing.c", "gcc -g -O1 -pthread -DPAD -o OUT SRC")
	for _, row := range []struct{ name, data string }{{"regression", "sums"}, {"hash", "buckets"}, {"list", "nodes"}} {
		for _, bin := range []string{packed, padded} {
			path, status, said := simulate(t, 4, "--waste=sharing", "--", bin, row.name)
			if status != 0 {
				t.Fatalf("%s: status %d: %s", row.name, status, said)
			}
			p := openProfile(t, path)
			share, worst := wasteShares(t, p)["false-sharing"], worstOf(p, "false-sharing")
			switch {
			case bin == padded && share > 0.01:
				t.Errorf("%s, padded: %.3f %%, %s", row.name, share, worst)
			case bin == packed && (share < 0.1 || !strings.HasSuffix(worst, " on "+row.data)):
				t.Errorf("%s: %.3f %%, %s; want data %s", row.name, share, worst, row.data)
			}
		}
	}
}
