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
)

// goWait is a way in which the goroutines of gowaits wait for one another.
type goWait struct {
	way   string
	lost  float64 // of the time of the cores: waiting
	turns float64 // how many of them at a time do what the others wait for
	free  bool    // in any order: on a machine they may do it one after the other, and nobody waits
}

// Of the work of four goroutines two thirds are done by one (or two) of them at a time. So four
// cores do 1.5 units of work while that is done once, and wait for the rest of 4; or 3 units.
var goWaits = []goWait{
	{"futures", 2.5 / 4, 1, false}, {"tokens", 2.5 / 4, 1, false}, {"select", 2.5 / 4, 1, false},
	{"semaphore", 2.5 / 4, 1, true}, {"semaphore2", 1. / 4, 2, true},
}

// Where goroutines wait for one another, the account names the line where they wait, and the work
// for which they do.
func TestGoWaits(t *testing.T) {
	bin, dir, marks := lime(t), t.TempDir(), goMarks(t)
	prog := filepath.Join(dir, "gowaits")
	if text, err := exec.Command("go", "build", "-o", prog, "gowaits/gowaits.go").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, w := range goWaits {
		data := filepath.Join(dir, w.way)
		verbs := []string{"simulate --cores 4", "simulate --cores 4 --machine lime2011"}
		if !w.free {
			verbs = append(verbs, "count --force")
		}
		for _, verb := range verbs {
			args := append(strings.Fields(verb), "-o", data, "--", prog, w.way, "20000", "40")
			if text, err := exec.Command(bin, args...).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v: %s", verb, err, text)
			}
			a, err := reported(bin, data)
			if err != nil {
				t.Fatal(err)
			}
			for _, wrong := range w.wrong(&a.Loss, marks, strings.HasPrefix(verb, "simulate")) {
				t.Errorf("%s: %s: %s; %s", verb, w.way, wrong, a.Loss.Headline)
			}
		}
	}
}

// wrong says what is wrong with an account; how much is lost is known where the cores are simulated.
func (w *goWait) wrong(l *loss, marks map[string][]int, exact bool) (out []string) {
	i := slices.IndexFunc(l.Terms, func(t lossTerm) bool { return t.Name == "wait" })
	if i < 0 || len(l.Terms[i].Places) == 0 {
		return []string{"nothing waits"}
	}
	term := &l.Terms[i]
	p := &term.Places[0]
	if !slices.Contains(marks["WAIT "+w.way], p.Line) {
		out = append(out, fmt.Sprintf("waits at line %d, want %v", p.Line, marks["WAIT "+w.way]))
	}
	// With fewer cores than goroutines who is waited for may not have begun what it does beside, which is
	// half as much.
	least := 0.9
	if !exact {
		least = 0.5
	}
	if len(p.Awaits) == 0 || !slices.Contains(marks["WORK"], p.Awaits[0].Line) || p.Awaits[0].Share < least {
		out = append(out, fmt.Sprintf("waits for %v, want the loop in main.work", p.Awaits))
	}
	if exact && math.Abs(term.Share-w.lost) > 0.05 {
		out = append(out, fmt.Sprintf("%.3f is lost to waits, want %.3f", term.Share, w.lost))
	}
	if exact && math.Abs(p.AtATime-w.turns) > 0.25*w.turns {
		out = append(out, fmt.Sprintf("%.2f work at a time, want %.0f", p.AtATime, w.turns))
	}
	return out
}

// goMarks are the lines of gowaits with marks: "WORK", and "WAIT" with each of the ways behind it.
func goMarks(t *testing.T) map[string][]int {
	t.Helper()
	text, err := os.ReadFile("gowaits/gowaits.go")
	if err != nil {
		t.Fatal(err)
	}
	marks := map[string][]int{}
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasSuffix(line, "// WORK") {
			marks["WORK"] = append(marks["WORK"], i+1)
		}
		if _, ways, ok := strings.Cut(line, "// WAIT "); ok {
			for _, way := range strings.Fields(ways) {
				marks["WAIT "+way] = append(marks["WAIT "+way], i+1)
			}
		}
	}
	return marks
}
