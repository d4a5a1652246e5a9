package sim_test

import (
	"fmt"
	"math"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// A generated program: functions f0, f1, ... call one another, some of the calls given away as tasks,
// down to a depth at which they do some work w0, w1 or w2.
type taskProgram [][]taskCall

type taskCall struct {
	callee, times int
	spawned       bool
}

const (
	programFuncs = 4
	programWorks = 3
)

func newTaskProgram(rng *rand.Rand) taskProgram {
	p := make(taskProgram, programFuncs)
	for i := range p {
		for range 2 {
			p[i] = append(p[i], taskCall{rng.Intn(programFuncs), 1 + rng.Intn(2), rng.Intn(4) > 0})
		}
		p[i][rng.Intn(2)].spawned = true
	}
	return p
}

// paths are all call paths down to work, and how often each comes: recursion leads back to where a
// function was entered first.
func (p taskProgram) paths(depth, each int) map[string]float64 {
	out := map[string]float64{}
	var visit func(f, depth int, path []string)
	visit = func(f, depth int, path []string) {
		path = append(path, fmt.Sprint("f", f))
		if depth == 0 {
			out[folded(append(path, fmt.Sprint("w", f%programWorks)))]++
			return
		}
		for _, c := range p[f] {
			times := c.times
			if c.spawned {
				times *= each
			}
			for range times {
				visit(c.callee, depth-1, slices.Clone(path))
			}
		}
	}
	visit(0, depth, []string{"main"})
	return out
}

// folded is a path in which a function that is open already leads back to where it was entered first.
func folded(path []string) string {
	var out []string
	for _, name := range path {
		if i := slices.Index(out, name); i >= 0 {
			out = out[:i]
		}
		out = append(out, name)
	}
	return strings.Join(out, ";")
}

// text writes the program in one of the languages.
func (p taskProgram) text(l *taskLanguage) string {
	var b strings.Builder
	b.WriteString(l.before)
	for i, calls := range p {
		fmt.Fprintf(&b, l.function, i, i%programWorks)
		for _, c := range calls {
			call := l.call
			if c.spawned {
				call = l.spawn
			}
			fmt.Fprintf(&b, "\tfor (int i = 0; i < %d; i++) {\n"+call+"\t}\n", c.times, c.callee)
		}
		b.WriteString(l.wait + "}\n")
	}
	text := b.String() + l.after
	if strings.HasPrefix(l.before, "package") {
		text = regexp.MustCompile(`for \(int i = 0; (i < \d+); i\+\+\)`).ReplaceAllString(text, "for i := 0; $1; i++")
	}
	return strings.ReplaceAll(text, "DEPTH", strconv.Itoa(l.depth))
}

// taskLanguage is how such programs are written.
type taskLanguage struct {
	depth, each                                int // how deep they go, and how many of a call that is given away there are
	name, file                                 string
	before, function, call, spawn, wait, after string
	tools, build                               []string // of the program, and how it is built
}

const workOfC = `#include <stdio.h>
#define APART __attribute__((noinline))
#define WORK(n, more) APART static void n(void) { volatile double x = 1; for (int i = 0; i < more; i++) x = x * 0.999 + i; }
WORK(w0, 2000) WORK(w1, 3000) WORK(w2, 4000)
APART static void f0(int d); APART static void f1(int d); APART static void f2(int d); APART static void f3(int d);
`

const functionOfC = "APART static void f%d(int d) {\n\tif (d == 0) {\n\t\tw%d();\n\t\treturn;\n\t}\n"

func taskLanguages() []taskLanguage {
	openMP := taskLanguage{
		depth: 5, each: 1,
		file: "a.c", before: workOfC, function: functionOfC, call: "\t\tf%d(d - 1);\n",
		spawn: "\t\t#pragma omp task firstprivate(d)\n\t\tf%d(d - 1);\n", wait: "\t#pragma omp taskwait\n",
		after: "int main(void) {\n\t#pragma omp parallel\n\t#pragma omp single\n\tf0(DEPTH);\n\treturn puts(\"done\") < 0;\n}\n",
	}
	gcc, clang := openMP, openMP
	gcc.name, gcc.tools, gcc.build = "gcc", []string{"gcc"}, []string{"gcc", "-O1", "-g", "-w", "-fopenmp"}
	clang.name, clang.tools = "clang", []string{"clang", "libomp"}
	clang.build = []string{"clang", "-O1", "-g", "-w", "-fno-optimize-sibling-calls", "-fopenmp"}
	loops := gcc
	loops.name, loops.depth, loops.each = "gcc, taskloop", 3, 2
	loops.spawn = "\t\t#pragma omp taskloop grainsize(1) firstprivate(d)\n\t\tfor (int k = 0; k < 2; k++) f%d(d - k - 1 < 0 ? 0 : d - 1);\n"
	objects := gcc
	objects.name, objects.file, objects.tools = "g++, objects", "a.cpp", []string{"g++"}
	objects.build = []string{"g++", "-O1", "-g", "-w", "-fopenmp"}
	objects.before += "struct depth { int n; depth(int n) : n(n) {} depth(const depth &o) : n(o.n) {} ~depth() { n = 0; } };\n"
	objects.spawn = "\t\tdepth o(d);\n\t\t#pragma omp task firstprivate(o)\n\t\tf%d(o.n - 1);\n"
	tbb := taskLanguage{
		name: "TBB", file: "a.cpp", depth: 5, each: 1, tools: []string{"g++", "libtbb"},
		before: "#include <tbb/task_group.h>\n#include <tbb/parallel_invoke.h>\n" + workOfC, function: functionOfC + "\ttbb::task_group g;\n",
		call: "\t\tf%d(d - 1);\n", spawn: "\t\tg.run([d] { f%d(d - 1); });\n", wait: "\tg.wait();\n",
		after: "int main() {\n\ttbb::parallel_invoke([] { f0(DEPTH); }, [] {});\n\treturn puts(\"done\") < 0;\n}\n",
		build: []string{"g++", "-O1", "-g", "-w"},
	}
	golang := taskLanguage{
		name: "Go", file: "a.go", depth: 5, each: 1,
		before:   "package main\n\nimport \"sync\"\n\nvar x [3]float64\n\n" + workOfGo(),
		function: "//go:noinline\nfunc f%d(d int) {\n\tif d == 0 {\n\t\tw%d()\n\t\treturn\n\t}\n\tvar wg sync.WaitGroup\n",
		call:     "\t\tf%d(d - 1)\n", spawn: "\t\twg.Add(1)\n\t\tgo func() { f%d(d - 1); wg.Done() }()\n", wait: "\twg.Wait()\n",
		after: "func main() {\n\tf0(DEPTH)\n\tprintln(\"done\")\n}\n", build: []string{"go", "build"},
	}
	return []taskLanguage{gcc, clang, objects, loops, tbb, golang}
}

func workOfGo() string {
	var b strings.Builder
	for i := range programWorks {
		fmt.Fprintf(&b, "//go:noinline\nfunc w%d() {\n\ty := 1.0\n\tfor i := 0; i < %d; i++ {\n\t\ty = y*0.999 + float64(i)\n\t}\n\tx[%d] = y\n}\n\n",
			i, 2000+1000*i, i)
	}
	return b.String()
}

// TestLogicalPaths has generated programs give calls away as tasks. Wherever a task ran, all that was
// done in it has the call path that it has in the program without tasks; and the work takes the
// shares of the samples that the calls say.
func TestLogicalPaths(t *testing.T) {
	for _, l := range taskLanguages() {
		t.Run(l.name, func(t *testing.T) {
			testenv.Tool(t, l.tools...)
			for seed := range int64(2) {
				p := newTaskProgram(rand.New(rand.NewSource(seed)))
				got, all := l.sampled(t, p)
				samePaths(t, p.paths(l.depth, l.each), got, all)
			}
		})
	}
}

// sampled simulates the program: the time of each of its paths down to work, and how many samples
// there are.
func (l *taskLanguage) sampled(t *testing.T, p taskProgram) (map[string]float64, int) {
	t.Helper()
	dir := t.TempDir()
	src, bin := filepath.Join(dir, l.file), filepath.Join(dir, "tasks")
	if err := os.WriteFile(src, []byte(p.text(l)), 0o600); err != nil {
		t.Fatal(err)
	}
	args := append(slices.Clone(l.build[1:]), "-o", bin, src)
	if l.name == "TBB" {
		args = append(args, "-ltbb")
	}
	if text, err := exec.Command(l.build[0], args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	path, status, said := simulate(t, 4, bin)
	if status != 0 {
		t.Fatal(said)
	}
	return workPaths(t, path)
}

// own is a function of such a program.
var own = regexp.MustCompile(`^(?:main\.)?(main|[fw]\d)(?:\(.*\))?$`)

// workPaths reads the folded paths of a profile that end in work.
func workPaths(t *testing.T, path string) (map[string]float64, int) {
	t.Helper()
	bin, err := lime()
	if err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command(bin, "export", "--folded", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		at := strings.LastIndex(line, " ")
		value, err := strconv.ParseFloat(strings.TrimSpace(line[at:]), 64)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, name := range strings.Split(line[:at], ";") {
			if m := own.FindStringSubmatch(name); m != nil {
				names = append(names, m[1])
			}
		}
		if len(names) == 0 {
			continue
		}
		if names[0] != "main" {
			t.Errorf("not from main: %s", line)
		}
		if strings.HasPrefix(names[len(names)-1], "w") {
			got[folded(names)] += value
		}
	}
	return got, int(sum(got) / sampleInterval)
}

// sampleInterval is how much work there is between two samples of a short run.
const sampleInterval = 20_000

func sum(m map[string]float64) (all float64) {
	for _, v := range m {
		all += v
	}
	return all
}

// samePaths compares them with the calls, by the error that so many samples have.
func samePaths(t *testing.T, calls, got map[string]float64, samples int) {
	t.Helper()
	if samples < 50 {
		t.Fatalf("%d samples", samples)
	}
	want := map[string]float64{}
	for path, n := range calls {
		want[path] = n * float64(2+int(path[len(path)-1]-'0'))
	}
	for path := range got {
		if want[path] == 0 {
			t.Errorf("%s: no such calls", path)
		}
	}
	for path, v := range want {
		p, q := v/sum(want), got[path]/sum(got)
		if off := 5 * math.Sqrt(p*(1-p)/float64(samples)); math.Abs(p-q) > off {
			t.Errorf("%s: %.3f of the work, in %.3f of the samples, of which there are %d", path, p, q, samples)
		}
	}
}
