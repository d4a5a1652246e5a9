package workloads

import (
	"flag"
	"fmt"

	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lime/internal/profile"
)

var countRuns = flag.Int("count-runs", long(2, 20), "how often each program is counted in parallel")

func long(short, long int) int {
	if os.Getenv("LIME_LONG") != "" {
		return long
	}
	return short
}

// countedThreads is how many threads the programs have that are counted: more than this machine may
// have cores.
const countedThreads = 8

// partKey names a thread's part of an instance of a section.
type partKey struct {
	kind   profile.SectionKind
	end    uint64
	seq    int
	thread profile.ThreadID
}

// edgeKey names an edge whatever blocks a run has made of the code: from the last instruction of a
// block to where it went. A return is known by where it arrives.
type edgeKey struct {
	last, target uint64
	kind         profile.EdgeKind
}

// counted is what a thread did in a part.
type counted map[edgeKey]uint64

// countsOf reads what the threads did in each section in the code of one source file. What
// libraries and runtimes do may depend on who comes first: who finds a lock free, or a list of free
// memory long.
func countsOf(t *testing.T, path, source string) map[partKey]counted {
	t.Helper()
	p, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := profile.Validate(p); err != nil {
		t.Errorf("%s: %v", path, err)
	}
	tables := p.Tables()
	all := map[partKey]counted{}
	for id, s := range tables.Sections {
		for in, err := range p.Instances(profile.SectionID(id)) {
			if err != nil {
				t.Fatal(err)
			}
			keys := make([]partKey, len(in.Parts))
			for i := range in.Parts {
				x := &in.Parts[i]
				keys[i] = partKey{s.Kind, s.EndAddr, in.Seq, x.Thread}
				all[keys[i]] = counted{}
			}
			for _, c := range in.Edges {
				if k, ok := keyOf(tables, profile.EdgeID(c.Row), source); ok {
					all[keys[c.Part]][k] += c.N
				}
			}
		}
	}
	return all
}

// keyOf is false for an edge of other code, and for one that is there because a block was cut.
func keyOf(tables *profile.Tables, id profile.EdgeID, source string) (k edgeKey, ok bool) {
	e := tables.Edges[id]
	if e.From < 0 || !slices.ContainsFunc(tables.Nodes[e.From].Frames, func(f profile.Frame) bool {
		return f.File >= 0 && filepath.Base(tables.Files[f.File].Path) == source
	}) {
		return k, false
	}
	k.kind = e.Kind
	if e.To >= 0 {
		k.target = tables.Nodes[e.To].Addr
	}
	from := &tables.Nodes[e.From]
	if from.Kind == profile.EndFall {
		return k, false
	}
	if e.Kind != profile.EdgeReturn {
		k.last = from.LastAddr
	}
	return k, true
}

// differences says what two runs did differently, a line each.
func differences(got, want map[partKey]counted) (out []string) {
	for k, w := range want {
		g, ok := got[k]
		if !ok {
			out = append(out, fmt.Sprintf("%v is missing", k))
			continue
		}
		for e, n := range w {
			if g[e] != n {
				out = append(out, fmt.Sprintf("%v: edge %#x to %#x (%d) counted %d, simulated %d", k, e.last, e.target, e.kind, g[e], n))
			}
		}
		for e, n := range g {
			if w[e] == 0 {
				out = append(out, fmt.Sprintf("%v: edge %#x to %#x (%d) counted %d, simulated never", k, e.last, e.target, e.kind, n))
			}
		}
	}
	for k := range got {
		if _, ok := want[k]; !ok {
			out = append(out, fmt.Sprintf("%v is no part when simulated", k))
		}
	}
	slices.Sort(out)
	return out
}

// timeless lists programs whose threads' work does not depend on time: who comes first where. The
// others hand out work to who asks first, or wait in loops of their own; of goroutines it depends
// on time which share a row, and who finds room on a stack.
var timeless = []string{
	"lu", "fft", "radix", "life", "hotspot", "srad", "nw", "waterspatial", "blackscholes", "swaptions", "fmm", "kmeans", // C, pthreads
	"balanced_omp", "omp_static", "omp_regions", "omp_clang", "cpp_virtual", "cpp_async", "rust_barrier",
}

// TestCountEqualsSimulate runs programs in parallel: every edge of every thread in every part is to
// be counted as often as it is where one thread runs at a time, in every run.
func TestCountEqualsSimulate(t *testing.T) {
	bin := lime(t)
	for _, name := range timeless {
		t.Run(name, func(t *testing.T) {
			w := find(t, name)
			prog := w.build(t, t.TempDir())
			args := append([]string{"--", prog, fmt.Sprint(countedThreads)}, w.Args...)
			run := func(verb string, flags ...string) map[partKey]counted {
				data := filepath.Join(filepath.Dir(prog), verb+".data")
				cmd := at(prog, bin, slices.Concat([]string{verb, "--force", "-o", data}, flags, args)...)
				if text, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %v: %s", cmd.Args, err, text)
				}
				return countsOf(t, data, w.source)
			}
			want := run("simulate", "--cores", fmt.Sprint(countedThreads))
			for range *countRuns {
				if bad := differences(run("count"), want); len(bad) > 0 {
					t.Errorf("%d differences in %d parts: %s", len(bad), len(want), strings.Join(bad[:min(len(bad), 8)], "\n  "))
				}
			}
			if len(want) == 0 {
				t.Error("no parts")
			}
		})
	}
}

// find is the program of a name, the longer one if there are two.
func find(t *testing.T, name string) *workload {
	t.Helper()
	if files, _ := filepath.Glob(filepath.Join("kernels", name, "expect.json")); len(files) == 1 {
		w, _ := loadKernel(t, files[0])
		return w
	}
	all := load(t)
	i := slices.IndexFunc(all, func(w *workload) bool { return w.name == name })
	if i < 0 {
		t.Fatal("there is no such program")
	}
	return all[i]
}
