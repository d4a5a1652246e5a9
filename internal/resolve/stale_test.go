package resolve

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lime/internal/binfile"
	"lime/internal/profile"
	"lime/internal/testenv"
)

// regions writes a program of parallel regions, a function each, whose constructs call functions
// that compilers inline, some of them defined behind. lines are the first and the last line of each
// region.
func regions(r *rand.Rand) (text string, lines map[string][2]int32) {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	helper := func(name string) {
		say("static void %s(int *a, int n)", name)
		say("{")
		say("\tfor (int i = 0; i < 8; i++)")
		say("\t\ta[i] = a[i] * %d + n;", 3+r.IntN(50))
		say("}")
	}
	lines = map[string][2]int32{}
	say("#include <omp.h>")
	say("static void after(int *a, int n);")
	helper("before")
	helper("other")
	call := func() string { return []string{"before", "other", "after"}[r.IntN(3)] }
	for k := range 4 {
		name := fmt.Sprintf("run%d", k)
		say("__attribute__((noinline)) void %s(int *a, int n)", name)
		say("{")
		first := int32(len(out) + 1)
		if r.IntN(3) == 0 {
			say("#pragma omp parallel for ordered schedule(dynamic)")
			say("\tfor (int i = 0; i < n; i++) {")
			say("\t\t%s(a + 8 * i, n);", call())
			say("#pragma omp ordered")
			say("\t\t%s(a, i);", call())
			say("\t}")
		} else {
			say("#pragma omp parallel")
			say("\t{")
			for range 2 + r.IntN(4) {
				switch r.IntN(5) {
				case 0:
					say("#pragma omp for schedule(%s)", []string{"static", "dynamic", "guided"}[r.IntN(3)])
					say("\t\tfor (int i = 0; i < n; i++)")
					say("\t\t\t%s(a + 8 * i, n);", call())
				case 1:
					say("#pragma omp single")
					say("\t\t%s(a, n);", call())
				case 2:
					say("#pragma omp critical")
					say("\t\t%s(a, n);", call())
				case 3:
					say("#pragma omp barrier")
				default:
					say("\t\t%s(a + 8 * omp_get_thread_num(), n);", call())
				}
			}
			say("\t}")
		}
		lines[name] = [2]int32{first, int32(len(out))}
		say("}")
	}
	helper("after")
	say("static int data[4096];")
	say("int main(void)")
	say("{")
	for k := range 4 {
		say("\trun%d(data, 100);", k)
	}
	say("\treturn data[9] & 1;")
	say("}")
	return strings.Join(out, "\n") + "\n", lines
}

// everyByte makes a profile with a node for every byte of the functions that hold constructs.
func everyByte(t *testing.T, path string) *profile.Profile {
	t.Helper()
	bin, err := binfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer bin.Close()
	p := profile.New(profile.Meta{})
	top := bin.Segments[len(bin.Segments)-1]
	im := p.AddImage(profile.Image{Path: path, Base: bias, Lo: bias, Hi: bias + top.Addr + top.MemSize, BuildID: bin.BuildID})
	lo, hi := bin.Text(".text")
	for a := lo; a < hi; a++ {
		p.AddNode(profile.Node{Image: im, Function: profile.None, Addr: bias + a, LastAddr: bias + a})
	}
	return p
}

// Whatever a region calls and whatever is inlined into it, what is not inlined stands on lines of
// the region. gcc's own lines do not, clang's do and stay as they are.
func TestLinesOfRegionsAreTheirs(t *testing.T) {
	for _, cc := range []string{"gcc", "clang"} {
		testenv.Tool(t, cc)
		refuted := 0
		for seed := range uint64(3) {
			text, lines := regions(rand.New(rand.NewPCG(seed, 11)))
			for _, level := range []string{"-O1", "-O2"} {
				dir := t.TempDir()
				must(t, os.WriteFile(filepath.Join(dir, "a.c"), []byte(text), 0o666))
				cmd := exec.Command(cc, level, "-g", "-fopenmp", "a.c", "-o", "a")
				cmd.Dir = dir
				if msg, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, msg)
				}
				p := everyByte(t, filepath.Join(dir, "a"))
				must(t, Memory(p, Options{}))
				if slices.Contains(codes(p.Meta()), NoteStaleLine) {
					refuted++
				}
				bad := map[string]bool{}
				tab := p.Tables()
				for i := range tab.Nodes {
					n := &tab.Nodes[i]
					if len(n.Frames) != 1 || !strings.Contains(n.Frames[0].Function, "omp_") || n.Frames[0].Line == 0 {
						continue
					}
					f := n.Frames[0]
					body, _, _ := strings.Cut(f.Function, "._omp_fn.")
					in := false
					for name, of := range lines { // clang's bodies do not bear their functions' names
						in = in || (name == body || body == f.Function) && f.Line >= of[0] && f.Line <= of[1]
					}
					if !in {
						bad[fmt.Sprintf("%s has line %d", f.Function, f.Line)] = true
					}
				}
				for words := range bad {
					t.Errorf("%s %s, seed %d: %s", cc, level, seed, words)
				}
				if len(bad) > 0 {
					t.Fatalf("\n%s", text)
				}
			}
		}
		if (refuted > 0) != (cc == "gcc") {
			t.Errorf("%s: lines were refuted in %d programs", cc, refuted)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
