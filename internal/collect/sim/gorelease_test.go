package sim_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// Stripped programs of all series of Go that are in use, however they were linked, have the
// sections that the same program has with its symbols. The long tests have go fetch the older ones.
func TestStrippedGoPrograms(t *testing.T) {
	testenv.SkipUnlessLong(t)
	testenv.Tool(t, "gcc")
	const source, want = "cond.go", "END built-barrier: 8 8 8 8\nEND2 join: 8"
	text, err := os.ReadFile(filepath.Join("testdata", source))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{source: string(text), "go.mod": "module m\n\ngo 1.22\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, release := range []string{"local", "go1.22.12", "go1.23.12", "go1.24.13", "go1.25.5"} {
		for _, how := range [][2]string{{"pie", "internal"}, {"pie", "external"}, {"exe", "external"}} {
			t.Run(strings.Join([]string{release, how[0], how[1]}, " "), func(t *testing.T) {
				out := filepath.Join(t.TempDir(), "program")
				cmd := exec.Command("go", "build", "-o", out, "-buildmode="+how[0], "-ldflags=-s -linkmode="+how[1])
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOTOOLCHAIN="+release, "GOWORK=off", "CGO_ENABLED=1")
				if text, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, text)
				}
				path, status, said := simulate(t, 16, out)
				if status != 0 {
					t.Fatalf("status %d: %s", status, said)
				}
				if got, _ := summary(t, path, source); got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}
