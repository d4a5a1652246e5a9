package sim

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// The parts of a run are made from the bottom to the top, and each is given only parts that are
// there already. What runs threads is the exception: it is told, last, to those who follow threads.
func TestAPartKnowsOnlyThoseBelowIt(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "wire.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var parts []*ast.AssignStmt
	ast.Inspect(file, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && ofRun(a.Lhs[0]) != "" {
			parts = append(parts, a)
		}
		return true
	})
	later := map[string]bool{}
	for _, a := range parts {
		later[ofRun(a.Lhs[0])] = true
	}
	for _, a := range parts {
		name := ofRun(a.Lhs[0])
		ast.Inspect(a.Rhs[0], func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok && later[ofRun(e)] {
				t.Errorf("%s is given %s, which is made later", name, ofRun(e))
			}
			return true
		})
		delete(later, name)
	}
	if len(parts) < 20 {
		t.Errorf("only %d parts are made in wire.go", len(parts))
	}
}

// ofRun is the name of a field of the run, "" for all else.
func ofRun(e ast.Expr) string {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if x, ok := s.X.(*ast.Ident); ok && x.Name == "r" {
		return s.Sel.Name
	}
	return ""
}
