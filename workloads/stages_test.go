package workloads

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Sections that end one after the other, and run side by side, wait for the one stage that is slow:
// its section comes first, and its line.
func TestTheSlowStageComesFirst(t *testing.T) {
	t.Parallel()
	bin, prog := lime(t), filepath.Join(t.TempDir(), "stages")
	const src = "testdata/stages/stages.go"
	if out, err := exec.Command("go", "build", "-o", prog, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data := prog + ".lime"
	if out, err := exec.Command(bin, "simulate", "--cores", "8", "-o", data, "--", prog).CombinedOutput(); err != nil {
		t.Fatalf("simulate: %v\n%s", err, out)
	}
	out, err := exec.Command(bin, "report", "--json", data).Output()
	if err != nil {
		t.Fatal(err)
	}
	var a answer
	if err := json.Unmarshal(out, &a); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(src)
	if err != nil {
		t.Fatal(err)
	}
	slow := map[int]bool{}
	for i, l := range strings.Split(string(text), "\n") {
		slow[i+1] = strings.Contains(l, "// SLOW")
	}
	if len(a.Sections) == 0 || len(a.Sections[0].Causes) == 0 || !slow[a.Sections[0].Causes[0].Line] {
		t.Fatalf("the first cause is no line of the slow stage: %s", out)
	}
	// of the time of the cores that had threads: the program has never more than four at work
	if a.Loss.Wait+a.Loss.Imbalance < 0.7*(1-a.Loss.Serial) || !strings.Contains(a.Loss.Headline, "stages.go") {
		t.Errorf("the others wait: %+v", a.Loss)
	}
}
