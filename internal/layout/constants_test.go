// What the numeric constants of the analysis, the recognisers and the collectors are: facts, bounds of
// work, or judgements. A constant without a row in testdata/constants.txt fails.

package layout

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/thresholds.md anew")

const (
	constantRows = "testdata/constants.txt"
	constantsDoc = "../../docs/thresholds.md"
)

// judged are the packages, with all below them, whose constants answers may hang on.
var judged = []string{"analysis", "collect", "ledger", "resolve", "section"}

// number is a constant with a number in its definition.
type number struct {
	pkg, name, file, value, comment string
	class, note                     string // of its row
}

// The classes of rows, in the order of the document.
const (
	judgement = "judgement"
	bound     = "bound"
	fact      = "fact"
)

// TestEveryNumberHasAClass holds the constants against their rows, and the rows against docs/thresholds.md.
func TestEveryNumberHasAClass(t *testing.T) {
	all := map[string]*number{}
	for _, root := range judged {
		if err := numbers(filepath.Join("..", root), all); err != nil {
			t.Fatal(err)
		}
	}
	classify(t, all)
	var list []*number
	for _, n := range all {
		if n.class == "" {
			t.Errorf("%s: %s has no row in %s: is it a fact, a bound of work, or a judgement?", n.file, n.name, constantRows)
		}
		if n.class == judgement && n.comment == "" {
			t.Errorf("%s: %s is a judgement: its unit and its reason belong beside it", n.file, n.name)
		}
		if n.class == judgement && movable(n) && n.file != "thresholds.go" {
			t.Errorf("%s: %s is a judgement: it belongs into thresholds.go, where TestThresholds moves it", n.file, n.name)
		}
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b *number) int { return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.name, b.name)) })
	if t.Failed() {
		return
	}
	want := document(list)
	if *update {
		if err := os.WriteFile(constantsDoc, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(constantsDoc); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what the constants are (%v): go test ./internal/layout -run EveryNumber -update",
			constantsDoc, err)
	}
}

// movable reports whether an answer from a profile of exact counts may hang on a judgement: what the
// collectors decide needs another run, and what samples are worth stands with the code that
// estimates.
func movable(n *number) bool {
	return (n.pkg == "analysis" || n.pkg == "ledger") && !strings.HasPrefix(n.file, "sampled")
}

// numbers finds the constants of all packages below a directory.
func numbers(root string, all map[string]*number) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			strings.Contains(path, "testdata") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		pkg, _ := filepath.Rel("..", filepath.Dir(path))
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST {
				for _, n := range numbersOf(set, g) {
					n.pkg, n.file = filepath.ToSlash(pkg), filepath.Base(path)
					all[n.pkg+"."+n.name] = n
				}
			}
		}
		return nil
	})
}

// numbersOf are the constants of a declaration that have a number of their own.
func numbersOf(set *token.FileSet, g *ast.GenDecl) (list []*number) {
	for _, s := range g.Specs {
		v := s.(*ast.ValueSpec)
		for i, name := range v.Names {
			if i >= len(v.Values) || name.Name == "_" || !hasNumber(v.Values[i]) {
				continue
			}
			var text strings.Builder
			_ = printer.Fprint(&text, set, v.Values[i])
			said := cmp.Or(strings.TrimSpace(v.Comment.Text()), strings.TrimSpace(v.Doc.Text()), strings.TrimSpace(g.Doc.Text()))
			list = append(list, &number{name: name.Name, value: text.String(), comment: strings.Join(strings.Fields(said), " ")})
		}
	}
	return list
}

// hasNumber tells whether an expression has a number in it, and is no enumeration or text.
func hasNumber(e ast.Expr) (has bool) {
	other := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.BasicLit:
			has = has || x.Kind == token.INT || x.Kind == token.FLOAT
			other = other || x.Kind == token.STRING
		case *ast.Ident:
			other = other || x.Name == "iota"
		}
		return true
	})
	return has && !other
}

// classify gives the constants their rows.
func classify(t *testing.T, all map[string]*number) {
	t.Helper()
	text, err := os.ReadFile(constantRows)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		words := strings.Split(line, "\t")
		if len(words) != 4 || !slices.Contains([]string{judgement, bound, fact}, words[0]) || words[3] == "" {
			t.Errorf("%s:%d: want a class, a package, names and a note", constantRows, i+1)
			continue
		}
		for _, name := range strings.Fields(words[2]) {
			n := all[words[1]+"."+name]
			if n == nil || n.class != "" {
				t.Errorf("%s:%d: %s has no constant %s, or it has two rows", constantRows, i+1, words[1], name)
				continue
			}
			n.class, n.note = words[0], words[3]
		}
	}
}

// document is docs/thresholds.md.
func document(list []*number) []byte {
	var b bytes.Buffer
	b.WriteString(thresholdsHead)
	for _, part := range []struct{ class, title, column string }{
		{judgement, "Judgements", "unit; programs that have what it decides on"},
		{bound, "Bounds of work", "what it bounds, and what is beyond"},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n| package | constant | value | what it is | %s |\n|---|---|---|---|---|\n",
			part.title, part.column)
		for _, n := range list {
			if n.class == part.class {
				said := strings.ReplaceAll(n.comment, "|", "\\|")
				fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s |\n", n.pkg, n.name, n.value, said, n.note)
			}
		}
	}
	b.WriteString("\n## Facts\n\n| package | constants | source |\n|---|---|---|\n")
	for i, n := range list {
		same := func(o *number) bool { return o.class == fact && o.pkg == n.pkg && o.note == n.note }
		if n.class != fact || slices.ContainsFunc(list[:i], same) {
			continue
		}
		var names []string
		for _, o := range list[i:] {
			if same(o) {
				names = append(names, "`"+o.name+"`")
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", n.pkg, strings.Join(names, ", "), n.note)
	}
	return b.Bytes()
}

const thresholdsHead = `# The numbers that answers may hang on

All numeric constants of the analysis, of the recogniser of sections, of the account, of the
resolver and of the collectors. Facts come from an architecture, an ABI, the kernel or arithmetic.
Bounds limit what an answer costs, or how much of it is told. Judgements decide: each is a confession
that a principle is still to be found. This page is written by
'go test ./internal/layout -run EveryNumber -update'; a constant without a row in
internal/layout/testdata/constants.txt fails that test. TestThresholds in workloads moves those that
stand in a thresholds.go; [workloads.md](workloads.md) says what flips.
`
