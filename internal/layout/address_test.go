package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// asNumbers are the functions that may turn an address of Go memory into a number outside of the
// arguments of a system call, and why what lies there does not move. Stacks do, when they grow.
var asNumbers = map[string]string{
	"internal/cpu.Alloc":                   "contexts are mapped",
	"internal/cpu.FollowExec":              "mapped",
	"internal/engine.(logs).start":         "logs are mapped",
	"internal/engine.(logs).words":         "logs are mapped",
	"internal/engine.(Engine).startTrace":  "the trace is mapped; an empty filter is the engine's, which is returned",
	"internal/engine.(Engine).endTrace":    "the trace is mapped",
	"internal/guest.addressOf":             "it moves to the heap what it is given",
	"internal/machine.newFilter":           "larger than the compiler puts on a stack",
	"internal/machine.(Machine).Filter":    "its size is known only when it runs, and a machine keeps it",
	"internal/perf.WatchTraps":             "mapped",
	"internal/waste.(counters).owner":      "records are mapped",
	"internal/waste.(table).make":          "mapped",
	"internal/waste/quick.New":             "rows are mapped; places are larger than the compiler puts on a stack",
	"internal/waste/quick.(Code).here":     "code is mapped",
	"internal/waste/quick.(Code).Run":      "the detector's tables are mapped; the code keeps frames and log, so they are of the heap",
	"internal/waste/quick.(Code).slowly":   "records are mapped",
	"internal/waste/quick.(Code).placeOf":  "rows are mapped",
	"internal/waste/quick.(Code).keep":     "rows are mapped",
	"internal/waste/quick.(Code).SetPlace": "records are mapped",
}

// The kernel and generated code write to addresses that they have as numbers; nothing but the list
// of arguments of a system call tells the compiler so.
func TestAddressesAsNumbers(t *testing.T) {
	used := map[string]bool{}
	c := checker{fset: token.NewFileSet(), done: map[string]*types.Package{},
		found: func(p token.Position, in string) {
			if used[in] = true; asNumbers[in] == "" {
				t.Errorf("%s: %s makes a number of an address, which is stale when a stack moves; "+
					"keep a pointer, or say in asNumbers why the memory cannot move", p, in)
			}
		}}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "testdata" || d.Name() == "image") {
			return filepath.SkipDir
		}
		if err == nil && d.IsDir() {
			_, err = c.Import(strings.TrimPrefix(filepath.ToSlash(path), "../.."))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for in := range asNumbers {
		if !used[in] {
			t.Errorf("%s makes no number of an address any more", in)
		}
	}
}

// checker knows the types of the project's own packages; those of others it takes for unknown.
type checker struct {
	fset  *token.FileSet
	done  map[string]*types.Package
	found func(at token.Position, in string)
}

func (c *checker) Import(path string) (*types.Package, error) {
	path = strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
	if p := c.done[path]; p != nil || path == "unsafe" {
		if p == nil {
			p = types.Unsafe
		}
		return p, nil
	}
	names, err := filepath.Glob(filepath.Join("../..", path, "*.go"))
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, n := range names {
		if strings.HasSuffix(n, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(c.fset, n, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	conf := types.Config{Importer: c, Error: func(error) {}, Sizes: types.SizesFor("gc", "amd64")}
	p, _ := conf.Check(path, c.fset, files, info)
	p.MarkComplete()
	c.done[path] = p
	for _, f := range files {
		c.look(path, f, info)
	}
	return p, nil
}

// look finds conversions of unsafe.Pointer to a number.
func (c *checker) look(path string, f *ast.File, info *types.Info) {
	for _, d := range f.Decls {
		in := path + "." + nameOf(d)
		ast.Inspect(d, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if s, ok := call.Fun.(*ast.SelectorExpr); ok && strings.Contains(s.Sel.Name, "Syscall") {
				return false
			}
			if types.ExprString(call.Fun) == "uintptr" && slices.ContainsFunc(call.Args, func(a ast.Expr) bool {
				of, ok := a.(*ast.CallExpr) // of what has an unknown type, too
				return ok && types.ExprString(of.Fun) == "unsafe.Pointer" || isUnsafe(info.TypeOf(a))
			}) {
				c.found(c.fset.Position(n.Pos()), in)
			}
			return true
		})
	}
}

func isUnsafe(t types.Type) bool { return t != nil && t.Underlying() == types.Typ[types.UnsafePointer] }

// nameOf is a function's name, with its receiver's type, "" of another declaration.
func nameOf(d ast.Decl) string {
	f, ok := d.(*ast.FuncDecl)
	if !ok || f.Recv == nil {
		if ok {
			return f.Name.Name
		}
		return ""
	}
	t := f.Recv.List[0].Type
	if s, ok := t.(*ast.StarExpr); ok {
		t = s.X
	}
	return "(" + types.ExprString(t) + ")." + f.Name.Name
}
