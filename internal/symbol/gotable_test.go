package symbol

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lime/internal/binfile"
	"lime/internal/testenv"
)

const goProgram = `package main

import "sync"

func main() {
	var w sync.WaitGroup
	w.Add(1)
	go func() { w.Done() }()
	w.Wait()
	println("ok")
}
`

// goReleases are the versions of Go whose tables are read besides the installed one's: the last of
// each series, which the long tests have go fetch.
func goReleases() []string { return []string{"go1.22.12", "go1.23.12", "go1.24.13", "go1.25.5"} }

// Where the functions of a stripped Go program are: as the symbols of the same program have them,
// however it was linked. Its code begins behind C's if C's linker has put it together, and the
// table is a section, or stands among other data.
func TestFunctionsOfStrippedGoPrograms(t *testing.T) {
	testenv.Tool(t, "gcc")
	versions := []string{"local"}
	if testenv.Long() {
		versions = append(versions, goReleases()...)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": goProgram, "go.mod": "module m\n\ngo 1.21\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, version := range versions {
		for _, how := range []struct{ mode, link, cgo string }{{"exe", "internal", "0"}, {"pie", "internal", "0"},
			{"exe", "external", "1"}, {"pie", "external", "1"}} {
			t.Run(strings.Join([]string{version, how.mode, how.link}, " "), func(t *testing.T) {
				build := func(flags string) *binfile.File {
					out := filepath.Join(t.TempDir(), "program")
					cmd := exec.Command("go", "build", "-buildmode="+how.mode, "-ldflags=-linkmode="+how.link+flags, "-o", out, ".")
					cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOTOOLCHAIN="+version, "GOWORK=off", "CGO_ENABLED="+how.cgo)
					if text, err := cmd.CombinedOutput(); err != nil {
						t.Fatalf("%v: %s", err, text)
					}
					f, err := binfile.Open(out)
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { f.Close() })
					return f
				}
				agree(t, GoFunctions(build(" -s -w")), build(""))
			})
		}
	}
}

// agree holds a stripped program's functions to what begins as they do in the same program with its
// symbols. Without them, the linker may put C's code, and with it all of Go's, elsewhere; but each
// function is as far from another as there.
func agree(t *testing.T, stripped []binfile.Symbol, whole *binfile.File) {
	t.Helper()
	at := func(name string) uint64 {
		i := slices.IndexFunc(stripped, func(s binfile.Symbol) bool { return s.Name == name })
		if i < 0 {
			t.Fatalf("of %d functions none is %s", len(stripped), name)
		}
		return stripped[i].Addr
	}
	base, ok := whole.Find("runtime.main")
	if !ok {
		t.Fatal("the program with symbols has no runtime.main")
	}
	text, _ := whole.Find("runtime.text")
	for _, name := range []string{"main.main", "main.main.func1", "runtime.gopark", "sync.(*WaitGroup).Wait"} {
		s, ok := whole.Find(name)
		if !ok {
			continue // inlined, in this version
		}
		if got, want := at(name)-at("runtime.main"), s.Addr-base.Addr; got != want {
			t.Errorf("%s is %#x behind runtime.main, want %#x", name, got, want)
		}
	}
	if _, counted, err := whole.GoTable(); err != nil || counted != text.Addr {
		t.Errorf("the table counts from %#x (%v), the code begins at %#x", counted, err, text.Addr)
	}
}
