package workloads

import (
	"cmp"
	"crypto/sha256"
	"flag"
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

// sameRuns is how often each kernel runs in each situation, together with all the others.
var sameRuns = flag.Int("same-runs", long(1, 7), "how often each kernel runs in each situation")

// TestSameInput runs kernels alone and then, all at once, from the same directory and from another, with lime
// at its place and at another: what is the same input gives the same profile, to the byte, but for the
// program's path in it. LIME_LONG=1 takes all kernels, 29 runs of each in two models; SAME_INPUT_LIKE chooses some by a pattern.
func TestSameInput(t *testing.T) {
	t.Parallel()
	testenv.SkipShort(t)
	bin, dir := lime(t), t.TempDir()
	far := filepath.Join(t.TempDir(), "a/rather/long/way/to/another/lime")
	copyFile(t, bin, far)
	models := []string{"count"}
	if testenv.Long() {
		models = append(models, "lime2011")
	}
	for _, name := range sameKernels(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := loadKernel(t, filepath.Join("kernels", name, "expect.json"))
			prog := w.build(t, dir)
			there := filepath.Join(t.TempDir(), "elsewhere", filepath.Base(prog))
			copyFile(t, prog, there)
			for _, model := range models {
				sameEachTime(t, model, []string{bin, far}, []string{prog, there})
			}
		})
	}
}

// sameEachTime runs a program that lies in two places by two limes.
func sameEachTime(t *testing.T, model string, limes, progs []string) {
	want := sameProfile(t, model, limes[0], progs[0])
	for range *sameRuns {
		var all sync.WaitGroup
		for _, prog := range progs {
			for _, lime := range limes {
				all.Go(func() {
					sameProfile(t, model, lime, prog).like(t, want, model+" "+lime+" from "+filepath.Dir(prog))
				})
			}
		}
		all.Wait()
	}
}

// sameKernels are those that this run of the tests looks at.
func sameKernels(t *testing.T) (names []string) {
	like := os.Getenv("SAME_INPUT_LIKE")
	if like == "" && !testenv.Long() {
		return sameInputs
	}
	files, err := filepath.Glob(filepath.Join("kernels", cmp.Or(like, "*"), "expect.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no kernels", err)
	}
	for _, f := range files {
		names = append(names, filepath.Base(filepath.Dir(f)))
	}
	return names
}

// made is a profile: where the program lay, its hash, and as text with that directory left out.
type made struct {
	dir  string
	hash [sha256.Size]byte
	text string
}

func (m made) like(t *testing.T, want made, what string) {
	switch {
	case m.text == "" || want.text == "": // said already
	case m.text != want.text:
		t.Errorf("by %s: another profile, %d bytes of text and %d", what, len(m.text), len(want.text))
	case m.dir == want.dir && m.hash != want.hash:
		t.Errorf("by %s: the same text, but other bytes", what)
	}
}

// sameProfile simulates a program as bash starts it.
func sameProfile(t *testing.T, model, lime, prog string) (m made) {
	data := filepath.Join(t.TempDir(), "lime.data")
	run := exec.Command(lime, "simulate", "--machine", model, "--cores", "8", "-o", data, "--", "./"+filepath.Base(prog), "8")
	run.Dir, run.Env = filepath.Dir(prog), append([]string{"_=" + lime}, sameEnvironment...)
	if text, err := run.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, text)
		return m
	}
	text, err := exec.Command(lime, "export", "--text", data).Output()
	if err != nil {
		t.Error(err)
	}
	bytes, err := os.ReadFile(data)
	if err != nil {
		t.Error(err)
	}
	return made{run.Dir, sha256.Sum256(bytes), strings.ReplaceAll(string(text), run.Dir, "DIR")}
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
