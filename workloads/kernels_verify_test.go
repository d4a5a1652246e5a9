// What the first cause of a kernel says that it costs is taken away from a run: a decision evened out by the clock, misses erased. What is gone
// must be what was said.
package workloads

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// unverified reads the list of first causes whose run does not say what their share says: kernel, model, and why.
func unverified(t *testing.T) map[[2]string]string {
	t.Helper()
	const file = "testdata/kernels-unverified.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	list := map[[2]string]string{}
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.SplitN(line, " ", 3)
		if len(words) < 3 {
			t.Fatalf("%s:%d: want kernel, model and the reason", file, i+1)
		}
		list[[2]string{words[0], words[1]}] = words[2]
	}
	return list
}

// mostOff is how far what is gone may be from what was said, as a share of that.
const mostOff = 0.1

// TestKernelsVerified runs the kernels again on 8 cores, without what comes first in the section that loses most, and holds what is gone to what
// the share says (LIME_LONG=1). What cannot be carried out says why; what is off is on a list, with the reason.
func TestKernelsVerified(t *testing.T) {
	t.Parallel()
	testenv.SkipUnlessLong(t)
	files, err := filepath.Glob("kernels/*/expect.json")
	if err != nil {
		t.Fatal(err)
	}
	bin, dir, list := lime(t), t.TempDir(), unverified(t)
	for _, file := range files {
		w, _ := loadKernel(t, file)
		if w.Balanced {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			prog := w.build(t, dir)
			for _, model := range []string{"count", "lime2011"} {
				what, off := w.removed(t, bin, prog, model)
				why := list[[2]string{w.name, model}]
				t.Logf("%-14s %-8s %s", w.name, model, what)
				switch {
				case off && why == "":
					t.Errorf("%s %s: %s", w.name, model, what)
				case !off && why != "":
					t.Errorf("%s %s agrees now: take it off the list: %s", w.name, model, what)
				}
			}
		})
	}
}

// removed says what a run without the first cause takes away, and whether that is not what was said.
func (w *workload) removed(t *testing.T, bin, prog, model string) (what string, off bool) {
	t.Helper()
	data := filepath.Join(t.TempDir(), "lime.data")
	cmd := exec.Command(bin, "simulate", "--cores", "8", "--machine", model, "-o", data, "--", prog, "8")
	cmd.Env = sameEnvironment
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Sprintf("simulate: %v\n%s", err, text), true
	}
	r := verify(t, bin, data)
	caused := slices.IndexFunc(r.Sections, func(s checkedSection) bool { return len(s.Causes) > 0 })
	if caused < 0 {
		return "no cause", true
	}
	c := r.Sections[caused].Causes[0]
	at := fmt.Sprintf("%s:%d %s", filepath.Base(c.File), c.Line, c.Event)
	v := c.Verified
	switch {
	case v == nil:
		return fmt.Sprintf("%s: nothing is said of a run: %v", at, r.Verdicts), true
	case v.How == "not-run":
		return fmt.Sprintf("%s: cannot be carried out: %s", at, v.Why), false
	}
	return fmt.Sprintf("%s: share %.3f, %s, said %.3f, gone %.3f, %s %s", at, c.Share, v.How, v.Said, v.Gone, v.Verdict, v.Why), math.Abs(v.Said-v.Gone) > mostOff*math.Abs(v.Said)
}
