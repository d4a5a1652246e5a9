package guest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A collector that was built by go build alone runs position-independent programs at the same
// addresses, and says what to do for others.
func TestPlainlyBuilt(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "run")
	cmd := exec.Command("go", "build", "-o", plain, "./testdata/run")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	linked, err := runner()
	if err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{nil, {"-static-pie"}, {"-no-pie"}} {
		exe := compile(t, "gcc", "sync.c", append([]string{"-O1", "-pthread"}, flags...)...)
		images := []string{"RUN_IMAGES=1"}
		got, want := run(t, "", images, plain, exe), run(t, "", images, linked, exe)
		if len(flags) > 0 && flags[0] == "-no-pie" {
			if got.status != 126 || !strings.Contains(got.err, "use make build") {
				t.Errorf("%v: status %d: %s", flags, got.status, got.err)
			}
			continue
		}
		if got != want || want.out == "" {
			t.Errorf("%v: plainly built %+v, linked as the Makefile says %+v", flags, got, want)
		}
	}
}
