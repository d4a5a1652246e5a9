package workloads

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"

	"lime/internal/testenv"
)

// mpiProgram is a program of several ranks with a planted cause: mpi/NAME.
type mpiProgram struct {
	name, source string
	About        string
	Balanced     bool // nothing is to be found
	causes       []int
}

func mpiPrograms(t *testing.T) (all []*mpiProgram) {
	t.Helper()
	files, _ := filepath.Glob("mpi/*/expect.toml")
	if len(files) == 0 {
		t.Fatal("no programs")
	}
	for _, f := range files {
		p := &mpiProgram{name: filepath.Base(filepath.Dir(f))}
		if _, err := toml.DecodeFile(f, p); err != nil {
			t.Fatal(err)
		}
		sources, _ := filepath.Glob(filepath.Join(filepath.Dir(f), "main.*"))
		text, err := os.ReadFile(sources[0])
		if err != nil {
			t.Fatal(err)
		}
		p.source = sources[0]
		for i, line := range strings.Split(string(text), "\n") {
			if strings.Contains(line, "CAUSE") {
				p.causes = append(p.causes, i+1)
			}
		}
		if p.Balanced != (len(p.causes) == 0) {
			t.Fatalf("%s: balanced: %v, causes on lines %v", p.name, p.Balanced, p.causes)
		}
		all = append(all, p)
	}
	return all
}

// implementation is one of MPI, as Debian has them side by side.
type implementation struct {
	name   string
	launch []string
}

func implementations() []implementation {
	return []implementation{
		{"openmpi", []string{"mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "4"}},
		{"mpich", []string{"mpirun.mpich", "-n", "4"}},
	}
}

// build compiles the program for an implementation, with so many times as much work.
func (p *mpiProgram) build(t *testing.T, mpi string, times int) string {
	t.Helper()
	compiler := map[string][]string{".c": {"mpicc." + mpi, "-fopenmp"}, ".cc": {"mpicxx." + mpi},
		".f90": {"mpifort." + mpi, "-cpp"}}[filepath.Ext(p.source)]
	testenv.Tool(t, compiler[0])
	bin := filepath.Join(t.TempDir(), p.name)
	args := append(slices.Clone(compiler[1:]), "-g", "-O1", fmt.Sprintf("-DTIMES=%d", times), "-o", bin, p.source)
	if out, err := exec.Command(compiler[0], args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", compiler[0], strings.Join(args, " "), err, out)
	}
	return bin
}

// mpiReport is what is read of a report.
type mpiReport struct {
	Program  struct{ Ranks int }
	Sections []struct {
		LostShare float64 `json:"lost_share"`
		Causes    []struct {
			File string
			Line int
		}
	}
}

// collected runs the program's ranks under a verb of lime's and reads the report of them all.
func (p *mpiProgram) collected(t *testing.T, launch []string, verb, bin string) (r mpiReport) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	args := slices.Concat(launch, []string{lime(t), verb, "-o", dir, "--", bin})
	cmd := exec.Command(args[0], args[1:]...)
	cmd.WaitDelay = time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return reportOf(t, dir)
}

// reportOf is the report of a directory of ranks.
func reportOf(t *testing.T, dir string) (r mpiReport) {
	t.Helper()
	var errs bytes.Buffer
	report := exec.Command(lime(t), "report", "--json", dir)
	report.Stderr = &errs
	out, err := report.Output()
	if err != nil {
		t.Fatalf("report: %v\n%s", err, errs.String())
	}
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// held holds a report to what was planted.
func (p *mpiProgram) held(t *testing.T, r *mpiReport) {
	t.Helper()
	if r.Program.Ranks != 4 {
		t.Errorf("%d ranks in the report", r.Program.Ranks)
	}
	if err := p.wrong(r, 0.01); err != nil { // what starting up and ending loses, in so short a program
		t.Error(err)
	}
}

// wrong says what is wrong with a report, in which sections that lose less than a share of the run
// say nothing.
func (p *mpiProgram) wrong(r *mpiReport, least float64) error {
	lost := 0.0
	for _, s := range r.Sections {
		lost += s.LostShare
	}
	if p.Balanced {
		if lost > least {
			return fmt.Errorf("%s loses %.1f %% of the run, and nothing is to be found in it", p.name, 100*lost)
		}
		return nil
	}
	for _, s := range r.Sections {
		for _, c := range s.Causes {
			if filepath.Base(c.File) != filepath.Base(p.source) || !slices.Contains(p.causes, c.Line) {
				return fmt.Errorf("%s (%s): first cause at %s:%d, want %s:%v", p.name, p.About, c.File, c.Line, filepath.Base(p.source), p.causes)
			}
			return nil
		}
	}
	return fmt.Errorf("%s: no cause found", p.name)
}

// counting are the verbs that count exactly.
func counting() []string { return []string{"simulate", "count"} }

// One program under both implementations: four ranks are one run, whose first cause is the planted
// one.
func TestRanksAreOneRun(t *testing.T) {
	for _, mpi := range implementations() {
		t.Run(mpi.name, func(t *testing.T) {
			testenv.Tool(t, "mpicc."+mpi.name)
			for _, p := range mpiPrograms(t) {
				if p.name != "uneven" {
					continue
				}
				bin := p.build(t, mpi.name, 1)
				for _, verb := range counting() {
					r := p.collected(t, mpi.launch, verb, bin)
					p.held(t, &r)
				}
			}
		})
	}
}

// All programs, in C, C++ and Fortran, under both.
func TestMPIPrograms(t *testing.T) {
	testenv.SkipUnlessLong(t)
	for _, mpi := range implementations() {
		for _, p := range mpiPrograms(t) {
			bin := p.build(t, mpi.name, 1)
			for _, verb := range counting() {
				t.Run(mpi.name+"/"+verb+"/"+p.name, func(t *testing.T) {
					r := p.collected(t, mpi.launch, verb, bin)
					p.held(t, &r)
				})
			}
		}
	}
}

// The same natively, with enough work for samples: nine of ten have the planted cause first.
func TestMPIProgramsRecorded(t *testing.T) {
	testenv.SkipUnlessLong(t)
	for _, mpi := range implementations() {
		t.Run(mpi.name, func(t *testing.T) {
			all, right := 0, 0
			for _, p := range mpiPrograms(t) {
				const times = 200
				r := p.collected(t, mpi.launch, "record", p.build(t, mpi.name, times))
				all++
				if err := p.wrong(&r, 0.05); err != nil {
					t.Log(err)
				} else {
					right++
				}
			}
			t.Logf("%d of %d", right, all)
			if 10*right < 9*all {
				t.Errorf("%d of %d are right", right, all)
			}
		})
	}
}

// The same under Slurm, by both of its ways to tell a process its rank.
func TestRanksUnderSlurm(t *testing.T) {
	testenv.SkipUnlessLong(t)
	testenv.Tool(t, "srun")
	if os.Geteuid() != 0 {
		testenv.Skip(t, testenv.NotRoot)
	}
	if out, err := exec.Command("../scripts/slurm").CombinedOutput(); err != nil {
		t.Fatalf("scripts/slurm: %v\n%s", err, out)
	}
	for mpi, pmi := range map[string]string{"mpich": "pmi2", "openmpi": "pmix"} {
		t.Run(pmi, func(t *testing.T) {
			for _, p := range mpiPrograms(t) {
				if p.name != "uneven" && p.name != "balanced" {
					continue
				}
				bin := p.build(t, mpi, 1)
				for _, verb := range counting() {
					r := p.collected(t, []string{"srun", "-n", "4", "--overcommit", "--mpi=" + pmi}, verb, bin)
					p.held(t, &r)
				}
			}
		})
	}
}

// A library with collective operations of its own, which the user names: the ranks meet there, and
// what they spin for one another is waiting. Two programs that are one run: both are read.
func TestRanksOfOtherKinds(t *testing.T) {
	testenv.SkipShort(t)
	const mpi = "mpich"
	testenv.Tool(t, "mpicc."+mpi)
	build := func(source string) string {
		bin := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(source), ".c"))
		if out, err := exec.Command("mpicc."+mpi, "-g", "-O1", "-o", bin, source).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return bin
	}
	own, air, sea := build("mpikinds/ownlibrary.c"), build("mpikinds/air.c"), build("mpikinds/sea.c")
	for _, c := range []struct {
		name, file string
		line       int
		args       func(dir string) []string
	}{
		{"a library of its own", "ownlibrary.c", 44, func(dir string) []string {
			return []string{"-n", "4", lime(t), "simulate", "--section-end", "xcclAllReduce", "-o", dir, "--", own, filepath.Join(dir, "shared")}
		}},
		{"two programs", "air.c", 25, func(dir string) []string {
			return []string{"-n", "2", lime(t), "simulate", "-o", dir, "--", air, ":", "-n", "2", lime(t), "simulate", "-o", dir, "--", sea}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if out, err := exec.Command("mpirun."+mpi, c.args(dir)...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			r := reportOf(t, dir)
			if r.Program.Ranks != 4 || len(r.Sections) == 0 || len(r.Sections[0].Causes) == 0 {
				t.Fatalf("%d ranks, sections %v", r.Program.Ranks, r.Sections)
			}
			if first := r.Sections[0].Causes[0]; filepath.Base(first.File) != c.file || first.Line != c.line {
				t.Errorf("first cause at %s:%d, want %s:%d", first.File, first.Line, c.file, c.line)
			}
		})
	}
}
