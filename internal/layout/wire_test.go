// The order of a collector's parts.

package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// The collectors are made of parts, wired from the bottom to the top: each part is given only such
// as are there already. What is told to a part later, by an assignment to one of its fields, is the
// exception: in the simulator what runs threads, which those who follow threads need for a moment.
func TestAPartKnowsOnlyThoseBelowIt(t *testing.T) {
	for _, row := range []struct {
		file  string
		of    string // the type whose fields the parts are
		parts int    // at least
	}{
		{"../collect/sim/wire.go", "run", 20},
		{"../collect/native/wire.go", "process", 20},
	} {
		file, err := parser.ParseFile(token.NewFileSet(), row.file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parts := wired(file, row.of)
		for _, words := range outOfOrder(parts) {
			t.Errorf("%s: %s", row.file, words)
		}
		if len(parts) < row.parts {
			t.Errorf("%s: only %d parts are made", row.file, len(parts))
		}
	}
}

// The test above can fail.
func TestOrderOfParts(t *testing.T) {
	const text = `package x
func (r *run) wire() {
	r.a = &a{}
	r.b = &b{a: r.a, c: r.c}
	r.c = &c{b: r.b}
	r.a.above = r.c
}`
	file, err := parser.ParseFile(token.NewFileSet(), "wire.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	parts := wired(file, "run")
	if got := outOfOrder(parts); len(parts) != 3 || len(got) != 1 || got[0] != "b is given c, which is made later" {
		t.Errorf("%d parts, %q", len(parts), got)
	}
}

// part is the making of one: its name, and the fields of the same type that it is given.
type part struct {
	name  string
	given []string
}

// wired finds the parts that methods of a type make, in their order.
func wired(file *ast.File, of string) (parts []part) {
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Recv == nil || receiver(f.Recv.List[0].Type) != of {
			continue
		}
		self := f.Recv.List[0].Names[0].Name
		ast.Inspect(f, func(n ast.Node) bool {
			if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && fieldOf(self, a.Lhs[0]) != "" {
				parts = append(parts, part{fieldOf(self, a.Lhs[0]), fieldsOf(self, a.Rhs[0])})
			}
			return true
		})
	}
	return parts
}

// outOfOrder says which parts are given others that are made after them.
func outOfOrder(parts []part) (words []string) {
	later := map[string]bool{}
	for _, p := range parts {
		later[p.name] = true
	}
	for _, p := range parts {
		for _, g := range p.given {
			if later[g] {
				words = append(words, p.name+" is given "+g+", which is made later")
			}
		}
		delete(later, p.name)
	}
	return words
}

// fieldsOf are the fields of a variable that stand in an expression.
func fieldsOf(self string, e ast.Expr) (names []string) {
	ast.Inspect(e, func(n ast.Node) bool {
		if x, ok := n.(ast.Expr); ok && fieldOf(self, x) != "" {
			names = append(names, fieldOf(self, x))
		}
		return true
	})
	return names
}

// fieldOf is the name of a field of a variable, "" for all else.
func fieldOf(self string, e ast.Expr) string {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if x, ok := s.X.(*ast.Ident); ok && x.Name == self {
		return s.Sel.Name
	}
	return ""
}
