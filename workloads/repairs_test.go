// Twelve programs in four languages with a lock, a wait off the core or a schedule as cause, and
// their repairs: the cause is found, what it says is to win is what the repair wins, and the
// comparison says what it was won from.
package workloads

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// repairs are the ways to build, and what each kind of program loses its time to.
var (
	repairBuilds = map[string][]string{
		"c": {"gcc", "-O2", "-g", "-pthread", "-fopenmp"}, "cpp": {"g++", "-std=c++20", "-O2", "-g", "-pthread"},
		"rs": {"rustc", "-O", "-g"}, "go": {"go", "build"},
	}
	repairTerms = map[string]string{"lock": "lock", "wait": "off_core", "schedule": "imbalance"}
	// for whose sleep the others wait at a barrier
	othersWait = "wait.cpp"
)

// nearGain is by how much, of the run time, what was said to be won may differ from what was won.
const nearGain = 0.1

// leastOwn is the part of the time won that must come from the kind of loss that was mended, where
// more of it comes from imbalance.
const leastOwn = 0.25

func TestRepairs(t *testing.T) {
	t.Parallel()
	testenv.SkipUnlessLong(t)
	bin, dir := lime(t), t.TempDir()
	for kind := range repairTerms {
		for lang, build := range repairBuilds {
			t.Run(kind+"."+lang, func(t *testing.T) {
				if lang != "go" {
					testenv.Tool(t, build[0])
				}
				src, prog := filepath.Join("testdata/repairs", kind+"."+lang), filepath.Join(dir, kind+"_"+lang)
				if out, err := exec.Command(build[0], append(build[1:len(build):len(build)], "-o", prog, src)...).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				checkRepair(t, bin, src, prog, repairTerms[kind])
			})
		}
	}
}

func checkRepair(t *testing.T, bin, src, prog, term string) {
	text, err := os.ReadFile(src)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	var runs [2]repairRun
	for i, args := range [][]string{nil, {"repaired"}} {
		data := fmt.Sprintf("%s.%d", prog, i)
		if out, err := exec.Command(bin,
			append([]string{"simulate", "--cores", "8", "-o", data, "--", prog}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("simulate: %v\n%s", err, out)
		}
		runs[i].read(t, bin, "report", "--json", data)
	}
	before, after := &runs[0], &runs[1]
	if len(before.Sections) == 0 || len(before.Sections[0].Causes) == 0 {
		t.Fatalf("no cause")
	}
	c := &before.Sections[0].Causes[0]
	right := c.Line > 0 && c.Line <= len(lines) && strings.Contains(lines[c.Line-1], "/* CAUSE */")
	for i := range before.Sections[0].Causes { // what a decision leads to is a cause, too
		if x := &before.Sections[0].Causes[i]; x.File == c.File && strings.Contains(lines[max(0, x.Line-1)], "/* CAUSE */") {
			c.WinShare = max(c.WinShare, x.WinShare)
		}
	}
	won := 1 - after.Program.RunTime/before.Program.RunTime
	var d struct {
		Loss struct {
			Terms []struct {
				Name     string
				WonShare float64 `json:"won_share"`
			}
		}
	}
	out, err := exec.Command(bin, "diff", "--json", prog+".0", prog+".1").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &d); err != nil {
		t.Fatal(err)
	}
	most, from, own := 0.0, "", 0.0
	for _, x := range d.Loss.Terms {
		if x.Name == term {
			own = x.WonShare
		}
		if x.WonShare > most {
			most, from = x.WonShare, x.Name
		}
	}
	t.Logf("| %s | %s at %d | %.1f %% | %.1f %% | %s |", filepath.Base(src), c.Event, c.Line, 100*c.WinShare, 100*won, from)
	if !right {
		t.Errorf("the first cause is %s at line %d: %s", c.Event, c.Line, c.Sentence)
	}
	if math.Abs(c.WinShare-won) > nearGain {
		t.Errorf("to win: %.3f, won: %.3f of the run time", c.WinShare, won)
	}
	if filepath.Base(src) == othersWait {
		term = repairTerms["schedule"]
	}
	if from == repairTerms["schedule"] && own >= leastOwn {
		return // who gets the lock less often is late: part of what it costs is imbalance
	}
	if from != term {
		t.Errorf("the comparison says that most was won from %q, want %s: %v", from, term, d.Loss.Terms)
	}
}

// repairRun is what the test reads of a report.
type repairRun struct {
	Program struct {
		RunTime float64 `json:"run_time"`
	}
	Sections []struct {
		Causes []struct {
			place
			Event, Sentence string
			WinShare        float64 `json:"win_share"`
		}
	}
}

func (r *repairRun) read(t *testing.T, bin string, args ...string) {
	out, err := exec.Command(bin, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, r); err != nil {
		t.Fatal(err)
	}
}
