package workloads

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"lime/internal/testenv"
)

// sameInputs are kernels of all kinds of waiting: barriers of pthreads and of their own, spin locks, queues, OpenMP.
var sameInputs = []string{"barnes", "lfstack", "dedup", "streamcluster", "lu", "radiosity"}

// TestSameInput runs kernels from two directories, with lime at two places, alone and all beside one another: what is
// the same input gives the same profile, but for the paths in it.
func TestSameInput(t *testing.T) {
	t.Parallel()
	testenv.SkipShort(t)
	bin, dir := lime(t), t.TempDir()
	far := filepath.Join(t.TempDir(), "a/rather/long/way/to/another/lime")
	copyFile(t, bin, far)
	for _, name := range sameInputs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := loadKernel(t, filepath.Join("kernels", name, "expect.json"))
			prog := w.build(t, dir)
			want := sameProfile(t, bin, prog)
			var all sync.WaitGroup
			for _, lime := range []string{bin, far} {
				there := filepath.Join(t.TempDir(), "elsewhere", filepath.Base(prog))
				copyFile(t, prog, there)
				all.Go(func() {
					if got := sameProfile(t, lime, there); got != want {
						t.Errorf("by %s from %s: another profile, %d bytes of text and %d", lime, filepath.Dir(there), len(got), len(want))
					}
				})
			}
			all.Wait()
		})
	}
}

// sameProfile simulates a program as bash starts it, and returns its profile as text, its directory left out.
func sameProfile(t *testing.T, lime, prog string) string {
	data := filepath.Join(t.TempDir(), "lime.data")
	run := exec.Command(lime, "simulate", "--cores", "8", "-o", data, "--", "./"+filepath.Base(prog), "8")
	run.Dir, run.Env = filepath.Dir(prog), append([]string{"_=" + lime}, sameEnvironment...)
	if text, err := run.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, text)
		return ""
	}
	text, err := exec.Command(lime, "export", "--text", data).Output()
	if err != nil {
		t.Error(err)
	}
	return strings.ReplaceAll(string(text), filepath.Dir(prog), "DIR")
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, text, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}
