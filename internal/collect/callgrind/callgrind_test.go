package callgrind

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lime/internal/profile"
	"lime/internal/testenv"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func readAll(t *testing.T, paths ...string) []*Dump {
	t.Helper()
	var out []*Dump
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		dumps, err := Parse(f, filepath.Base(path))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, dumps...)
	}
	return out
}

// convert makes a profile, and holds it against the rules.
func convert(t *testing.T, dumps []*Dump, o Options) *profile.Profile {
	t.Helper()
	p := profile.New(profile.Meta{})
	if err := Convert(dumps, p, o); err != nil {
		t.Fatal(err)
	}
	if err := profile.Validate(p); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSmallGolden(t *testing.T) {
	p := convert(t, readAll(t, "testdata/small.thread2", "testdata/small.thread3"), Options{})
	var got bytes.Buffer
	if err := profile.WriteText(&got, p); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("testdata/small.golden", got.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/small.golden")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Error(diff)
	}
}

// Every visit of a block leaves it by exactly one edge that is not a return,
// and all instructions are accounted for.
func checkFlow(t *testing.T, p *profile.Profile) {
	t.Helper()
	for in := range p.Instances(0) {
		time := make([]uint64, len(in.Parts))
		for _, c := range in.Edges {
			if e := p.Edges[c.Row]; e.Kind != profile.EdgeReturn {
				time[c.Part] += c.N * uint64(p.Nodes[e.From].Instrs)
			}
		}
		for i := range in.Parts {
			if got := in.Parts[i].Time(); got != time[i] {
				t.Errorf("thread %d: %d instructions, blocks account for %d", i, got, time[i])
			}
		}
	}
}

func TestSmallFlow(t *testing.T) {
	checkFlow(t, convert(t, readAll(t, "testdata/small.thread2", "testdata/small.thread3"), Options{}))
}

const program = `#include <pthread.h>
pthread_barrier_t all; // valgrind gives the numbers of threads that ended to new ones
volatile double sink; static double work(int b) { double s = 0; for (int i = 0; i < 400; i++) s += i * b; return s; }
static void *worker(void *arg) {
	long me = (long)arg; pthread_barrier_wait(&all);
	double s = 0;
	for (int b = 0; b < 64; b++)
		if (b % 8 < 2 * me)
			s += work(b);
	sink = s;
	return 0;
}
int main(void) {
	pthread_t t[4]; pthread_barrier_init(&all, 0, 4);
	for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, worker, (void *)i);
	for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
}
`

// The importer reads what valgrind writes today.
func TestRealCallgrind(t *testing.T) {
	testenv.Tool(t, "gcc", "valgrind")
	dir := t.TempDir()
	src, app := filepath.Join(dir, "app.c"), filepath.Join(dir, "app")
	if err := os.WriteFile(src, []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-O1", "-g", "-pthread", "-o", app, src).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	out, err := exec.Command("valgrind", "--tool=callgrind", "--separate-threads=yes", "--dump-instr=yes", "--collect-jumps=yes",
		"--cache-sim=yes", "--branch-sim=yes", "--callgrind-out-file="+filepath.Join(dir, "cg.out"), app).CombinedOutput()
	if err != nil {
		t.Fatalf("valgrind: %v\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "cg.out-*"))
	if err != nil || len(files) != 5 {
		t.Fatalf("%v, %v", files, err)
	}
	p := convert(t, readAll(t, files...), Options{})
	if len(p.Threads) != 4 {
		t.Errorf("%d threads take part, want the 4 that ran worker", len(p.Threads))
	}
	checkFlow(t, p)
	checkBranch(t, p)
}

// checkBranch looks for the branch on line 8, which threads take 0, 16, 32 and 48 times.
func checkBranch(t *testing.T, p *profile.Profile) {
	t.Helper()
	for in := range p.Instances(0) {
		byEdge := map[int32][]uint64{}
		for _, c := range in.Edges {
			n := p.Nodes[p.Edges[c.Row].From]
			if n.Kind == profile.EndCond && len(n.Frames) > 0 && n.Frames[0].Line == 8 {
				if byEdge[c.Row] == nil {
					byEdge[c.Row] = make([]uint64, 4)
				}
				byEdge[c.Row][c.Part] = c.N
			}
		}
		for _, counts := range byEdge {
			if slices.Equal(counts, []uint64{0, 16, 32, 48}) {
				return
			}
		}
		t.Errorf("no edge of line 8 has the counts 0, 16, 32, 48: %v", byEdge)
	}
}

func TestParts(t *testing.T) {
	text, err := os.ReadFile("testdata/small.thread2")
	if err != nil {
		t.Fatal(err)
	}
	var dumps []*Dump
	for _, change := range [][2]string{{"part: 1\nthread: 2", "part: 1\nthread: 2"}, {"part: 1\nthread: 2", "part: 2\nthread: 2"},
		{"part: 1\nthread: 2", "part: 1\nthread: 3"}, {"part: 1\nthread: 2", "part: 2\nthread: 3"}} {
		d, err := Parse(strings.NewReader(strings.Replace(string(text), change[0], change[1], 1)), "part")
		if err != nil {
			t.Fatal(err)
		}
		dumps = append(dumps, d...)
	}
	if p := convert(t, dumps, Options{Parts: true}); p.InstanceCount(0) != 2 {
		t.Errorf("%d instances, want 2", p.InstanceCount(0))
	}
	p := convert(t, dumps, Options{})
	for in := range p.Instances(0) {
		if p.InstanceCount(0) != 1 || in.Parts[0].Time() != 2*64 {
			t.Errorf("%d instances, thread 2 has %d instructions; want 1 and 128", p.InstanceCount(0), in.Parts[0].Time())
		}
	}
}

func TestParseRefuses(t *testing.T) {
	head := "positions: instr line\nevents: Ir\n"
	for _, test := range []struct{ text, says string }{
		{"", "no 'events:' line"},
		{"hello\n", "x:1: not the output of callgrind"},
		{"0x1 2 3\n", "x:1: not the output of callgrind: costs before"},
		{"events:\n", "0 kinds"},
		{"events: Ir\n1 2\n", "no instructions"},
		{head + "0x1\n", "x:3"},
		{head + "0x1 2 3 4\n", "2 costs for 1"},
		{head + "0x1 2 -3\n", `count "-3"`},
		{head + "-5 2 3\n", "below 0"},
		{head + "0xfffffffffffffff 2 3\n", "position"},
		{head + "0x1 2 99999999999999999999\n", "count"},
		{head + "fn=(3)\n", "(3) was not given"},
		{head + "fn=(x) a\n", "name"},
		{head + "jump=1\n", "jump"},
		{head + "jcnd=1 +4 +1\n", "count"},
		{head + "0x1 1 1\njump=1 +4 +1\n", "cut off"},
		{head + "calls=1 0x4 1\n", "cut off"},
		{head + "thread: many\n", "many"},
		{head + strings.Repeat("x", maxLine+1), "too long"},
	} {
		_, err := Parse(strings.NewReader(test.text), "x")
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%.60q: %v, want %q", test.text, err, test.says)
		}
	}
}

func TestConvertRefuses(t *testing.T) {
	one := readAll(t, "testdata/small.thread2")
	if err := Convert(one, profile.New(profile.Meta{}), Options{}); !errors.Is(err, ErrThreads) {
		t.Errorf("one thread: %v", err)
	}
	two := readAll(t, "testdata/small.thread2", "testdata/small.thread3")
	two[1].Events = []string{"Ir"}
	if err := Convert(two, profile.New(profile.Meta{}), Options{}); err == nil || !strings.Contains(err.Error(), "not of one run") {
		t.Errorf("other events: %v", err)
	}
}

func TestParseThreads(t *testing.T) {
	for _, test := range []struct {
		text string
		want []int
	}{
		{"2-4,9", []int{2, 3, 4, 9}}, {"7", []int{7}}, {"3,2,2", []int{2, 3}},
		{"", nil}, {"a", nil}, {"4-2", nil}, {"1-", nil}, {"0-99999999", nil},
	} {
		got, err := ParseThreads(test.text)
		if !slices.Equal(got, test.want) || (err == nil) != (test.want != nil) {
			t.Errorf("%q: %v, %v", test.text, got, err)
		}
	}
}

// Whatever the files hold, there is an error or a profile that keeps the rules.
func FuzzImport(f *testing.F) {
	for _, name := range []string{"testdata/small.thread2", "testdata/small.thread3"} {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	other, err := os.ReadFile("testdata/small.thread3")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		dumps, err := Parse(bytes.NewReader(text), "fuzz")
		if err != nil {
			return
		}
		more, err := Parse(bytes.NewReader(other), "other")
		if err != nil {
			t.Fatal(err)
		}
		p := profile.New(profile.Meta{})
		if err := Convert(append(dumps, more...), p, Options{}); err != nil {
			return
		}
		if err := profile.Validate(p); err != nil {
			t.Fatal(err)
		}
	})
}
