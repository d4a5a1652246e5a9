package workloads

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// checked is what 'lime report --verify' says of the causes, as far as the tests read it.
type checked struct {
	Verdicts []struct{ Code, Text string }
	Sections []checkedSection
}

type checkedSection struct {
	Causes []struct {
		place
		Event    string
		Share    float64
		Verified *struct {
			How, Verdict, Why string
			Said, Gone        float64
		}
	}
}

func verify(t *testing.T, bin, data string) (r checked) {
	t.Helper()
	cmd := exec.Command(bin, "report", "--verify", "--yes", "--json", data)
	cmd.Env = sameEnvironment
	text, err := cmd.Output()
	if err != nil {
		t.Fatal("report --verify:", err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestVerify runs programs again without their planted causes, as 'lime report --verify' does: decisions evened out by the clock,
// misses erased. What cannot be taken away is said to be so.
func TestVerify(t *testing.T) {
	t.Parallel()
	testenv.SkipShort(t)
	bin := lime(t)
	how := map[string]string{"two": "evened", "condbarrier": "evened", "cpp_virtual": "evened", "lu": "evened", "machine_false_sharing": "erased", "predict": "erased", "lock": "not-run"}
	long := map[string]bool{"cpp_virtual": true, "lu": true, "predict": true}
	machine := map[string]string{"predict": "desktop"}
	for _, w := range load(t) {
		want := how[w.name]
		if want == "" || long[w.name] && os.Getenv("LIME_LONG") == "" {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			prog := w.build(t, t.TempDir())
			data := filepath.Join(t.TempDir(), "lime.data")
			args := []string{"simulate", "--cores", "8", "-o", data}
			args = append(args, w.machine()...)
			if m := machine[w.name]; m != "" {
				args = append(args, "--machine", m)
			}
			cmd := exec.Command(bin, append(append(args, "--", prog, "8"), w.Args...)...)
			cmd.Env = sameEnvironment
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("simulate: %v\n%s", err, text)
			}
			r := verify(t, bin, data)
			if len(r.Sections) == 0 || len(r.Sections[0].Causes) == 0 {
				t.Fatal("no cause")
			}
			for i, c := range r.Sections[0].Causes {
				v := c.Verified
				if v == nil {
					t.Fatalf("cause %d: nothing is said of a run: %+v", i+1, r.Verdicts)
				}
				t.Logf("%s:%d %s: %s, said %.3f, gone %.3f, %s %s", filepath.Base(c.File), c.Line, c.Event, v.How, v.Said, v.Gone, v.Verdict, v.Why)
				if i == 0 && (v.How != want || want != "not-run" && v.Verdict != "confirmed") {
					t.Errorf("first cause: %+v, want it %s and confirmed", v, want)
				}
			}
		})
	}
}

// TestVerifyCannot checks that what cannot be run again is said to be so: a program that is gone, or was built anew.
func TestVerifyCannot(t *testing.T) {
	t.Parallel()
	testenv.SkipShort(t)
	bin, dir := lime(t), t.TempDir()
	all := load(t)
	var two, other *workload
	for _, w := range all {
		switch w.name {
		case "two":
			two = w
		case "triangle":
			other = w
		}
	}
	prog := two.build(t, dir)
	data := filepath.Join(dir, "lime.data")
	if text, err := exec.Command(bin, "simulate", "--cores", "8", "-o", data, "--", prog, "8").CombinedOutput(); err != nil {
		t.Fatalf("simulate: %v\n%s", err, text)
	}
	said := func() string {
		for _, v := range verify(t, bin, data).Verdicts {
			if v.Code == "not-verified" {
				return v.Text
			}
		}
		return ""
	}
	changed := other.build(t, t.TempDir())
	if err := os.Rename(changed, prog); err != nil {
		t.Fatal(err)
	}
	if text := said(); !strings.Contains(text, "built anew") {
		t.Errorf("another program: %q", text)
	}
	if err := os.Remove(prog); err != nil {
		t.Fatal(err)
	}
	if text := said(); !strings.Contains(text, "is not here") {
		t.Errorf("no program: %q", text)
	}
}
