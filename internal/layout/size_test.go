// How large a type may be: its methods are counted, wherever they stand.

package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// mostMethods is how many methods a type may have: what a reader can keep in mind, names grouped,
// of which the file list of a package is the table of contents.
const mostMethods = 40

// larger are the types that have more. They may lose methods, and gain none: who takes some away
// writes the new number here, and who comes to mostMethods strikes the row out.
func larger() map[string]int {
	return map[string]int{
		"analysis.runner":            120,
		"guest.Process":              119,
		"engine.Engine":              101,
		"x86/enc.Asm":                94, // one for each instruction
		"section.Recogniser":         80,
		"engine.translation":         72,
		"cli.app":                    70,
		"collect/native/hook.Tracee": 66,
		"ledger.flow":                54,
		"guest.call":                 56,
		"report.printer":             54,
		"collect/sim.beside":         46,
		"ledger.accountant":          47,
		"guest.space":                44,
		"x86.decoder":                41,
	}
}

func TestTypesAreSmall(t *testing.T) {
	rows := larger()
	for name, n := range methods(t, "..") {
		most, listed := rows[name]
		delete(rows, name)
		switch {
		case !listed && n > mostMethods:
			t.Errorf("%s has %d methods, at most %d may be: let it be several types, or plain functions", name, n, mostMethods)
		case listed && n > most:
			t.Errorf("%s has %d methods, and had %d: it may not grow. Put what is new into a type of its own", name, n, most)
		case listed && n <= mostMethods:
			t.Errorf("%s has %d methods: strike its row out in larger", name, n)
		case listed && n < most:
			t.Errorf("%s has %d methods, and had %d: write %d in larger, so that it stays so", name, n, most, n)
		}
	}
	for name := range rows {
		t.Errorf("%s is listed in larger and does not exist", name)
	}
}

// methods counts those of each type below a directory, by package and name.
func methods(t *testing.T, root string) map[string]int {
	t.Helper()
	count := map[string]int{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "testdata" {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		pkg, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil {
				count[filepath.ToSlash(pkg)+"."+receiver(f.Recv.List[0].Type)]++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return count
}

// receiver is the name of the type of a receiver.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
