package layout

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "lime/"

// A row says what one package may import: of ours (names under internal), and
// of others (module path prefixes).
type row struct {
	name   string
	ours   string
	others string
}

const (
	gonum  = "gonum.org/v1/gonum"
	sys    = "golang.org/x/sys"
	sqlite = "modernc.org/sqlite"
	xz     = "github.com/ulikunitz/xz"
	zip    = "github.com/klauspost/compress"
	dem    = "github.com/ianlancetaylor/demangle"
	toml   = "github.com/BurntSushi/toml"
	all    = "*"
)

// table is the layout: whoever adds a package adds a row.
var table = []row{
	{"unit", "", ""},
	{"safe", "", ""},
	{"origin", "", ""},
	{"stat", "", gonum},
	{"graph", "", ""},
	{"x86", "", ""},
	{"x86/enc", "x86", ""},
	{"binfile", "unit safe", xz + " " + zip},
	{"symbol", "unit binfile", dem},
	{"btree", "", ""},
	{"profile", "btree origin unit safe", sqlite + " " + zip + " " + sys},
	{"cpu", "", sys},
	{"futex", "", sys},
	{"guest", "binfile cpu unit", sys},
	{"engine", "x86 x86/enc cpu unit", sys},
	{"machine", "unit", toml},
	{"section", "unit", ""},
	{"uop", "x86 machine unit", ""},
	{"unwind", "", ""},
	{"perf", "unit", sys},
	{"sender", "", sys},
	{"start", "", sys},
	{"collect", "unit profile", ""},
	{"waste", "", ""},
	{"waste/calls", "", ""},
	{"waste/elem", "waste x86", ""},
	{"waste/reason", "waste x86", ""},
	{"waste/quick", "waste x86 x86/enc cpu", ""},
	{"collect/spin", "collect/busywait x86", ""},
	{"collect/busywait", "graph x86", ""},
	{"collect/known", "", ""},
	{"collect/mpi", "collect/known profile", ""},
	{"collect/region", "", ""},
	{"collect/threads", "collect/mpi profile section unit", ""},
	{"collect/image", "origin binfile symbol unwind", ""},
	{"collect/sim", "collect/region collect/threads collect/image origin collect/mpi waste waste/calls waste/elem waste/quick waste/reason collect/known collect/busywait collect/spin unit profile section uop " +
		"unwind machine engine guest cpu futex binfile symbol x86 graph collect sender start", sys},
	{"collect/native/hook", "binfile symbol unit x86 x86/enc", sys},
	{"collect/native/watch", "perf waste waste/calls waste/elem x86", sys},
	{"collect/native", "collect/region collect/threads collect/image origin collect/mpi waste waste/reason collect/known collect/busywait collect/native/hook collect/native/watch " +
		"sender start unit profile section perf unwind binfile symbol x86 x86/enc graph collect", sys},
	{"collect/callgrind", "unit profile", zip},
	{"export", "origin profile safe unit", "github.com/google/pprof"},
	{"resolve", "origin binfile symbol x86 graph profile safe unit", ""},
	{"listing", "binfile symbol x86", "golang.org/x/arch"},
	{"ledger", "origin profile stat graph unit", gonum},
	{"analysis", "origin profile stat graph unit ledger", gonum},
	{"analysis/synth", "profile", ""},
	{"whatif", "analysis ledger profile unit", ""},
	{"ranks", "profile safe unit", sys},
	{"scale", "analysis profile unit", gonum},
	{"report", "origin whatif analysis ledger profile safe unit", ""},
	{"view", "origin report scale analysis profile safe unit", ""},
	{"cli", all, all},
	{"layout", "", ""},
	{"testenv", "", sys},
}

type pkg struct {
	ImportPath                string
	Standard                  bool
	Imports, Deps             []string
	TestImports, XTestImports []string
}

// packages lists every package of the module with what it imports.
func packages(t *testing.T) map[string]pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Standard,Imports,Deps", module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	found := map[string]pkg{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return found
		} else if err != nil {
			t.Fatal(err)
		}
		found[p.ImportPath] = p
	}
}

func rowOf(name string) (row, bool) {
	i := slices.IndexFunc(table, func(r row) bool { return r.name == name })
	if i < 0 {
		return row{}, false
	}
	return table[i], true
}

// reach returns everything of ours that name may depend on, in any number of steps.
func reach(name string, seen map[string]bool) {
	r, _ := rowOf(name)
	for _, next := range strings.Fields(r.ours) {
		if !seen[next] {
			seen[next] = true
			reach(next, seen)
		}
	}
}

func TestEachPackageImportsOnlyWhatItsRowAllows(t *testing.T) {
	all := packages(t)
	for path, p := range all {
		name, ours := strings.CutPrefix(path, module+"internal/")
		if !ours {
			continue
		}
		r, ok := rowOf(name)
		if !ok {
			t.Errorf("internal/%s has no row in the layout table", name)
			continue
		}
		for _, imported := range p.Imports {
			if why := forbidden(r, all[imported]); why != "" {
				t.Errorf("internal/%s imports %s: %s", name, imported, why)
			}
		}
	}
}

// forbidden says why r may not import p; "" if it may.
func forbidden(r row, p pkg) string {
	if r.ours == all || p.Standard || p.ImportPath == "" {
		return ""
	}
	if name, ours := strings.CutPrefix(p.ImportPath, module+"internal/"); ours {
		if !slices.Contains(strings.Fields(r.ours), name) {
			return "not in its row of the layout table"
		}
		return ""
	}
	for _, prefix := range strings.Fields(r.others) {
		if strings.HasPrefix(p.ImportPath, prefix) {
			return ""
		}
	}
	return "a library outside its row of the layout table"
}

func TestTransitiveImports(t *testing.T) {
	all := packages(t)
	for _, r := range table {
		p, ok := all[module+"internal/"+r.name]
		if !ok || r.ours == "*" {
			continue
		}
		may := map[string]bool{}
		reach(r.name, may)
		for _, dep := range p.Deps {
			if name, ours := strings.CutPrefix(dep, module+"internal/"); ours && !may[name] {
				t.Errorf("internal/%s depends on internal/%s", r.name, name)
			}
		}
	}
}

// The two fire walls: what stands right of resolve touches no binary and no
// collector; what stands left of profile knows no statistics and no output.
func TestFireWalls(t *testing.T) {
	all := packages(t)
	for _, wall := range []struct{ packages, never string }{
		{"analysis ledger report", "binfile symbol resolve x86 engine guest cpu machine section perf collect/sim collect/native"},
		{"profile section guest engine machine cpu x86 x86/enc binfile symbol perf", "stat ledger analysis report cli"},
	} {
		for _, name := range strings.Fields(wall.packages) {
			for _, dep := range all[module+"internal/"+name].Deps {
				if short, ours := strings.CutPrefix(dep, module+"internal/"); ours && slices.Contains(strings.Fields(wall.never), short) {
					t.Errorf("internal/%s depends on internal/%s", name, short)
				}
			}
		}
	}
	for _, name := range []string{"analysis", "ledger", "report"} {
		for _, dep := range all[module+"internal/"+name].Deps {
			if dep == "debug/elf" || dep == "debug/dwarf" {
				t.Errorf("internal/%s depends on %s", name, dep)
			}
		}
	}
}

func TestTheTableHasNoCycleAndKnowsItsNames(t *testing.T) {
	for _, r := range table {
		if r.ours == "*" {
			continue
		}
		seen := map[string]bool{}
		reach(r.name, seen)
		if seen[r.name] {
			t.Errorf("%s reaches itself", r.name)
		}
		for name := range seen {
			if _, ok := rowOf(name); !ok {
				t.Errorf("%s names %s, which has no row", r.name, name)
			}
		}
	}
}

func TestOnlyTheCommandImportsCLI(t *testing.T) {
	for path, p := range packages(t) {
		if path != module+"cmd/lime" && slices.Contains(p.Imports, module+"internal/cli") {
			t.Errorf("%s imports internal/cli", path)
		}
	}
}
