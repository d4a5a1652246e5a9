package scale

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"lime/internal/analysis"
	"lime/internal/profile"
)

// made is the analysis of a run whose core time goes into terms as told.
func made(cores int, time float64, terms map[string]float64) *analysis.Result {
	res := &analysis.Result{Loss: &analysis.Loss{Cores: cores, CoreTime: float64(cores) * time}}
	res.Whole.RunTime, res.Run.ClockUnit, res.Run.Collector = time, "instructions", "simulate"
	for i, name := range []string{analysis.TermUseful, analysis.TermImbalance, analysis.TermSerial, analysis.TermLock,
		analysis.TermWait, analysis.TermOffCore, analysis.TermOverhead, analysis.TermMemory} {
		term := analysis.LossTerm{Name: name, Title: name, Time: terms[name]}
		if term.Time > 0 {
			term.Places = []analysis.LossPlace{{Place: analysis.Place{File: "a.c", Line: 10 + i, Function: "f"},
				Time: term.Time, Section: profile.None}}
		}
		res.Loss.Terms = append(res.Loss.Terms, term)
	}
	return res
}

func runs(t *testing.T, cores []int, time func(p float64) (total float64, terms map[string]float64)) (out []*Run) {
	t.Helper()
	for _, n := range cores {
		total, terms := time(float64(n))
		r, err := From(fmt.Sprint(n), made(n, total, terms), n)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// amdahl is a program with 10 serial and 90 parallel units of work.
func amdahl(p float64) (float64, map[string]float64) {
	time := 10 + 90/p
	return time, map[string]float64{analysis.TermUseful: 100, analysis.TermSerial: p*time - 100}
}

func compared(t *testing.T, list []*Run, mode Mode) *Scaling {
	t.Helper()
	s, err := Compare(list, mode)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLossesAddUp(t *testing.T) {
	s := compared(t, runs(t, []int{4, 1, 16}, amdahl), "")
	if s.Mode != Strong || !s.Recognised || s.Points[0].Cores != 1 {
		t.Fatalf("%+v", s)
	}
	for _, p := range s.Points {
		sum := 0.0
		for _, l := range p.Losses {
			sum += l.Share
			places := 0.0
			for _, x := range l.Places {
				places += x.Share
			}
			if math.Abs(places-l.Share) > 1e-12 {
				t.Errorf("%d cores, %s: its places add up to %v, it is %v", p.Cores, l.Term, places, l.Share)
			}
		}
		if want := 100 / (float64(p.Cores)*10 + 90); math.Abs(p.Efficiency-want) > 1e-12 || math.Abs(sum-(1-want)) > 1e-12 {
			t.Errorf("%d cores: efficiency %v, losses %v; want %v", p.Cores, p.Efficiency, sum, want)
		}
	}
	if l := s.Points[2].Limit; l == nil || l.Term != analysis.TermSerial || l.Places[0].Line != 12 {
		t.Errorf("limit: %+v", l)
	}
}

// As much work for each core, and a lock that takes a tenth more for each doubling.
func TestWeakScaling(t *testing.T) {
	list := runs(t, []int{2, 8}, func(p float64) (float64, map[string]float64) {
		time := 100 + 10*math.Log2(p/2)
		return time, map[string]float64{analysis.TermUseful: 100 * p, analysis.TermLock: p * (time - 100)}
	})
	s := compared(t, list, "")
	if s.Mode != Weak {
		t.Errorf("taken for %s", s.Mode)
	}
	if p := s.Points[1]; math.Abs(p.Efficiency-100.0/120) > 1e-12 || math.Abs(p.Speedup-4*100.0/120) > 1e-12 ||
		math.Abs(p.Losses[3].Share-20.0/120) > 1e-12 {
		t.Errorf("%+v", p)
	}
	if s := compared(t, list, Strong); s.Recognised || s.Points[1].Efficiency > 0.3 {
		t.Errorf("what is said counts: %+v", s.Points[1])
	}
}

// Cores that the program has no thread for are too many for it.
func TestCoresThatTheProgramDoesNotUse(t *testing.T) {
	r, err := From("x", made(2, 50, map[string]float64{analysis.TermUseful: 100}), 8)
	if err != nil || r.Cores != 8 || r.CoreTime != 400 || r.term(analysis.TermSerial) != 300 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A forecast follows the law that the runs follow, for each term alone.
func TestForecastFollowsTheLaw(t *testing.T) {
	for name, law := range map[string]func(float64) (float64, map[string]float64){
		"Amdahl": amdahl,
		"a tree": func(p float64) (float64, map[string]float64) {
			time := 1000/p + 5*math.Log2(p)
			return time, map[string]float64{analysis.TermUseful: 1000, analysis.TermWait: p*time - 1000}
		},
		"each with each": func(p float64) (float64, map[string]float64) {
			time := 1000/p + 0.2*p
			return time, map[string]float64{analysis.TermUseful: 1000, analysis.TermImbalance: p*time - 1000}
		},
		"a lock that is busy from 16 cores on": func(p float64) (float64, map[string]float64) {
			time := max(1000/p, 62.5)
			return time, map[string]float64{analysis.TermUseful: 1000, analysis.TermLock: p*time - 1000}
		},
	} {
		s := compared(t, runs(t, []int{1, 2, 4, 8, 16, 32, 64}, law), "")
		if err := s.Look([]int{128, 256}); err != nil {
			t.Fatal(err)
		}
		for _, f := range s.Forecast {
			if want, _ := law(float64(f.Cores)); math.Abs(f.Time/want-1) > 0.01 {
				t.Errorf("%s on %d cores: %v, want %v", name, f.Cores, f.Time, want)
			}
		}
	}
}

// Where one run less would have given another curve, it is said.
func TestForecastSaysHowFarToTrustIt(t *testing.T) {
	s := compared(t, runs(t, []int{1, 2, 4, 8, 16}, func(p float64) (float64, map[string]float64) {
		time := 1000 / p
		if p == 16 { // something new begins with the last run
			time += 30
		}
		return time, map[string]float64{analysis.TermUseful: 1000, analysis.TermLock: p*time - 1000}
	}), "")
	if err := s.Look([]int{32, 1024}); err != nil {
		t.Fatal(err)
	}
	if s.Forecast[1].Trusted || !strings.Contains(s.Outlook, "cannot be trusted") {
		t.Errorf("%+v: %s", s.Forecast, s.Outlook)
	}
	few := compared(t, runs(t, []int{1, 2, 4}, amdahl), "")
	if err := few.Look([]int{8}); err == nil {
		t.Error("three runs are enough for a forecast")
	}
}

func TestKnee(t *testing.T) {
	s := compared(t, runs(t, []int{1, 2, 4, 8, 16, 32, 64}, amdahl), "")
	if s.Knee != 8 { // S x E is largest at 9 cores
		t.Errorf("knee at %d", s.Knee)
	}
	if s := compared(t, runs(t, []int{1, 2, 4}, amdahl), ""); s.Knee != 0 {
		t.Errorf("knee at %d before there is one", s.Knee)
	}
}

func TestRunsThatCannotBeCompared(t *testing.T) {
	list := runs(t, []int{4, 4}, amdahl)
	if _, err := Compare(list, ""); err == nil || !strings.Contains(err.Error(), "all runs used 4 cores") {
		t.Errorf("%v", err)
	}
	other := made(8, 50, map[string]float64{analysis.TermUseful: 100})
	other.Run.ClockUnit = "ns"
	r, _ := From("x", other, 0)
	if _, err := Compare([]*Run{list[0], r}, ""); err == nil || !strings.Contains(err.Error(), "collect both in the same way") {
		t.Errorf("%v", err)
	}
	if _, err := From("empty", &analysis.Result{}, 0); err == nil {
		t.Error("a run in which nothing was measured is taken")
	}
}

func TestForms(t *testing.T) {
	s := compared(t, runs(t, []int{1, 2, 4, 8, 16}, amdahl), "")
	if err := s.Look([]int{32}); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteText(&b, s, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"strong scaling", "     16  ████", "60.0 %  serial", "a.c:12 in f",
		"The knee is at 8 cores", "Forecast (not run)", "It stays serial"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := WriteHTML(&b, s); err != nil || strings.Count(b.String(), "<rect") < 8 || !strings.Contains(b.String(), "a.c:12 in f") {
		t.Errorf("%v\n%s", err, b.String())
	}
	b.Reset()
	if err := WriteJSON(&b, s); err != nil || !strings.Contains(b.String(), `"schema": "lime-scale-1"`) {
		t.Errorf("%v\n%s", err, b.String())
	}
}
