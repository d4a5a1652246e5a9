// How firm the answers are: each threshold of the analysis and of the account is moved by a quarter, and what says something else then is printed.
package workloads

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// threshold is a named number of a thresholds.go.
type threshold struct {
	pkg, name string
	value     float64
	whole     bool
}

// moves are the values that it is tried with: a quarter less and more, at least by one if it counts things; what is near the whole that
// it is a part of is moved by a quarter of the distance to that.
func (th *threshold) moves() [2]float64 {
	switch v := th.value; {
	case th.whole:
		return [2]float64{max(0, min(v-1, math.Floor(0.75*v))), max(v+1, math.Ceil(1.25*v))}
	case v > 0.5 && v < 1:
		return [2]float64{1 - 1.25*(1-v), 1 - 0.75*(1-v)}
	default:
		return [2]float64{0.75 * v, 1.25 * v}
	}
}

// env is how a program in which thresholds can be moved is told so.
func (th *threshold) env(v float64) string { return fmt.Sprintf("MOVE_%s_%s=%v", th.pkg, th.name, v) }

// movable rewrites a thresholds.go: its numbers are read from the environment when the program starts.
func movable(t *testing.T, pkg, file string) (text []byte, found []threshold) {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	f.Comments = nil
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			t.Fatalf("%s: only numbers stand there", file)
		}
		g.Tok, g.Doc = token.VAR, nil
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			lit, ok := v.Values[0].(*ast.BasicLit)
			if !ok {
				t.Fatalf("%s: %s is no plain number", file, v.Names[0])
			}
			x, err := strconv.ParseFloat(lit.Value, 64)
			if err != nil {
				t.Fatal(err)
			}
			th := threshold{pkg, v.Names[0].Name, x, lit.Kind == token.INT}
			found = append(found, th)
			read := "movedTo"
			if th.whole {
				read = "movedToInt"
			}
			name, _, _ := strings.Cut(th.env(0), "=")
			v.Doc, v.Comment = nil, nil
			v.Values[0] = &ast.CallExpr{Fun: ast.NewIdent(read), Args: []ast.Expr{&ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(name)}, lit}}
		}
	}
	var out bytes.Buffer
	if err := format.Node(&out, set, f); err != nil {
		t.Fatal(err)
	}
	head, body, _ := strings.Cut(out.String(), "package "+pkg)
	return []byte(head + "package " + pkg + `

import (
	"os"
	"strconv"
)

func movedTo(name string, v float64) float64 {
	if x, err := strconv.ParseFloat(os.Getenv(name), 64); err == nil {
		return x
	}
	return v
}

func movedToInt(name string, v int) int { return int(movedTo(name, float64(v))) }
` + body), found
}

// movableLime builds a lime whose thresholds can be moved.
func movableLime(t *testing.T) (bin string, all []threshold) {
	t.Helper()
	dir, replace := t.TempDir(), map[string]string{}
	for _, pkg := range []string{"analysis", "ledger"} {
		file, err := filepath.Abs(filepath.Join("..", "internal", pkg, "thresholds.go"))
		if err != nil {
			t.Fatal(err)
		}
		text, found := movable(t, pkg, file)
		all = append(all, found...)
		replace[file] = filepath.Join(dir, pkg+".go")
		if err := os.WriteFile(replace[file], text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(at, overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	bin = filepath.Join(dir, "lime")
	cmd := exec.Command("go", "build", "-overlay", at, "-o", bin, "lime/cmd/lime")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, text)
	}
	return bin, all
}

// said is what is held: the first cause of the section that loses most, or that there is none to tell; and
// what begins the answer of each section, by its place.
type said struct{ first, all string }

func saidIn(a answer) (s said) {
	slices.SortStableFunc(a.Sections, func(x, y section) int { return -cmp.Compare(x.LostShare, y.LostShare) })
	for i, sec := range a.Sections {
		cause := "nothing"
		if len(sec.Causes) > 0 {
			c := sec.Causes[0]
			cause = fmt.Sprintf("%s:%d %s", filepath.Base(c.File), c.Line, c.Event)
		}
		if i == 0 {
			s.first = cause
		}
		s.all += fmt.Sprintf("%s:%d %s; ", filepath.Base(sec.EndsAt.File), sec.EndsAt.Line, cause)
	}
	return s
}

// TestThresholds (LIME_LONG=1) takes the profiles in LIME_PROFILES, where TestKernels and TestHitRate have kept them; LIME_PROFILES_LIKE chooses some by a
// pattern. Without it, it looks at the kernels of an ordinary run. What flips is fragile: the threshold stands for a principle that is still to be found.
func TestThresholds(t *testing.T) {
	testenv.SkipUnlessLong(t)
	dir := os.Getenv("LIME_PROFILES")
	if dir == "" {
		dir = keepSample(t)
	}
	files, err := filepath.Glob(filepath.Join(dir, cmp.Or(os.Getenv("LIME_PROFILES_LIKE"), "*.*.*")))
	if err != nil || len(files) == 0 {
		t.Fatal("no profiles", err)
	}
	bin, all := movableLime(t)
	usual := map[string]said{}
	for _, f := range files {
		usual[f] = saysOf(t, bin, f)
	}
	for i := range all {
		th := &all[i]
		for _, v := range th.moves() {
			var first, any []string
			for _, f := range files {
				got, was := saysOf(t, bin, f, th.env(v)), usual[f]
				if got.first != was.first {
					first = append(first, fmt.Sprintf("%s: %s, was %s", filepath.Base(f), got.first, was.first))
				}
				if got.all != was.all {
					any = append(any, filepath.Base(f))
				}
			}
			t.Logf("%s.%s %v -> %v: of %d, %d first answers flip %s, %d have another in some section %s",
				th.pkg, th.name, th.value, v, len(files), len(first), strings.Join(first, "; "), len(any), strings.Join(any, ", "))
		}
	}
}

// saysOf reports on a profile.
func saysOf(t *testing.T, bin, file string, env ...string) said {
	t.Helper()
	cmd := exec.Command(bin, "report", "--json", file)
	cmd.Env = append(os.Environ(), env...)
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("report %s: %v", file, err)
	}
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	return saidIn(a)
}

// keepSample simulates the kernels of an ordinary run, and returns the directory with their profiles.
func keepSample(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("LIME_PROFILES", dir)
	for _, name := range sample {
		w, e := loadKernel(t, filepath.Join("kernels", name, "expect.json"))
		w.Machine = "count"
		if _, err := w.simulate(t, lime(t), w.build(t, t.TempDir()), e.Threads[0]); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
