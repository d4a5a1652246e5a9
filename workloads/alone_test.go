package workloads

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// accountsAgree holds the two accounts of one thread alone to each other in programs of parallel
// regions: others are there before and behind them only.
func (w *workload) accountsAgree(a *answer) error {
	if !strings.Contains(w.Build, "-fopenmp") {
		return nil
	}
	return a.aloneAgrees()
}

// aloneAgrees holds that a stretch of one thread alone that takes a share of the run loses all cores
// but one for that share, and while it waits at its end (for the program's). Where code ran that is part of no section, it is less; and the dynamic
// linker's part has a row of its own.
func (a *answer) aloneAgrees() error {
	lost, waits, loading := map[int]float64{}, map[int]float64{}, 0.0
	for _, t := range a.Loss.Terms {
		for _, p := range t.Places {
			switch {
			case t.Name == "wait" || t.Name == "imbalance":
				waits[p.Section] += p.Share
			case t.Name != "serial":
			case p.Why == "":
				lost[p.Section] += p.Share
			case strings.Contains(p.Why, "dynamic linker"):
				loading += p.Share
			}
		}
	}
	others := 1 - 1/float64(a.Loss.Cores)
	const rounding = 1e-9
	elsewhere := rounding + a.inNoSection()
	all, most := loading, 0.0
	for _, s := range a.Serial {
		alone, have := s.TimeShare*others+waits[s.ID]*float64(a.Loss.Cores-1), lost[s.ID]
		all, most = all+have, most+alone
		if have > alone+rounding || s.Loading == 0 && alone-have > elsewhere {
			return fmt.Errorf("%s:%d: one thread is alone for %.4f of the run, which loses %.4f; the account says %.4f",
				s.EndsAt.File, s.EndsAt.Line, s.TimeShare, alone, have)
		}
	}
	if all > most+rounding || most-all > elsewhere {
		return fmt.Errorf("one thread alone loses %.4f; the account says %.4f", most, all)
	}
	return nil
}

// regionsProgram is a program of parallel regions, between which one thread works: as long as chance
// will have it.
func regionsProgram(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString(`#include <omp.h>
static double burn(long n) { double x = 1; for (long i = 0; i < n; i++) x = x * 1.0000001 + i; return x; }
double total;
int main(void)
{
	for (int round = 0; round < 5; round++) {
`)
	schedules := []string{"static", "static, 1", "dynamic", "guided", "dynamic, 4"}
	for range 1 + r.IntN(4) {
		if r.IntN(3) > 0 {
			fmt.Fprintf(&b, "\t\ttotal += burn(%d);\n", 1<<r.IntN(16))
		}
		grows := []string{"", " * (i + 1)", " * (i % 3)"}[r.IntN(3)]
		fmt.Fprintf(&b, "#pragma omp parallel for schedule(%s) reduction(+ : total)\n\t\tfor (int i = 0; i < %d; i++) total += burn(%d%s);\n",
			schedules[r.IntN(len(schedules))], 1+r.IntN(40), 1<<r.IntN(10), grows)
	}
	b.WriteString("\t}\n\treturn total < 0;\n}\n")
	return b.String()
}

// TestAloneAgrees: in programs of parallel regions, all that is lost because one thread works alone
// stands where that thread worked, and the time in which the runtime starts and ends regions is
// neither: it is overhead, of the region's line.
func TestAloneAgrees(t *testing.T) {
	t.Parallel()
	testenv.SkipShort(t)
	testenv.Tool(t, "gcc")
	bin := lime(t)
	for seed := range uint64(6) {
		w := &workload{name: fmt.Sprint("regions", seed), source: "main.c", dir: t.TempDir()}
		w.Build = "gcc -O1 -g -fopenmp -o OUT main.c"
		w.Machine = []string{"", "lime2011"}[seed%2]
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			text := regionsProgram(rand.New(rand.NewPCG(seed, 41)))
			if err := os.WriteFile(filepath.Join(w.dir, w.source), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			prog := w.build(t, t.TempDir())
			a, err := w.simulate(t, bin, prog, 4)
			if err != nil {
				t.Errorf("%v\n%s", err, text)
			}
			a.regionsStart(t, text)
		})
	}
}

// regionsStart holds that every loss has a place but for the code that is in no section, and that
// the runtime's is that of the region.
func (a *answer) regionsStart(t *testing.T, text string) {
	ends := map[int]place{}
	for _, s := range a.Sections {
		ends[s.ID] = s.EndsAt
	}
	for _, term := range a.Loss.Terms {
		for _, p := range term.Places {
			switch {
			case term.Name == "serial" && p.Section < 0 && !strings.Contains(p.Why, "dynamic linker") && p.Share > 0.01+a.inNoSection():
				t.Errorf("%.4f is lost at a place that is not known: %s\n%s", p.Share, p.Why, text)
			case term.Name == "overhead" && p.Section >= 0 && p.place != ends[p.Section]:
				t.Errorf("a region of line %d starts at line %d\n%s", ends[p.Section].Line, p.Line, text)
			}
		}
	}
}

// inNoSection is the share of all instructions that are of no section, though nobody waited.
func (a *answer) inNoSection() float64 {
	for _, w := range a.Instructions.Went {
		if w.What == "no-section" {
			return float64(w.Instructions) / float64(a.Instructions.Executed)
		}
	}
	return 0
}
