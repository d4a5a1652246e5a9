package region

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

// TestMeasuredTimeGrowsInStretchesOnly holds At to a clock that ticks through random stretches.
func TestMeasuredTimeGrowsInStretchesOnly(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		w := NewWindow(Spec{From: []string{"f"}})
		var want []uint64
		sum := uint64(0)
		for at := range uint64(500) {
			if rnd.IntN(10) == 0 {
				if w.Open() {
					w.End(at, time.Duration(at))
				} else {
					w.Begin(at, time.Duration(at))
				}
			}
			want = append(want, sum)
			if w.Open() {
				sum++
			}
		}
		for at, m := range want {
			if got := w.At(uint64(at)); got != m {
				t.Fatalf("seed %d: %d measured until %d, want %d", seed, got, at, m)
			}
		}
		if spent, _ := w.Spent(500); uint64(spent) != sum {
			t.Fatalf("seed %d: %d spent, want %d", seed, spent, sum)
		}
	}
}

func TestWantedByTimeAndPlace(t *testing.T) {
	w := NewWindow(Spec{From: []string{"f"}, Delay: 10, Duration: 20})
	step := func(now time.Duration, want bool) {
		t.Helper()
		if got := w.Wanted(now); got != want {
			t.Fatalf("at %d: wanted %v, want %v", now, got, want)
		}
		switch {
		case want && !w.Open():
			w.Begin(uint64(now), now)
		case !want && w.Open():
			w.End(uint64(now), now)
		}
	}
	w.Enter()
	step(5, false)
	if d, ok := w.Next(5); !ok || d != 5 {
		t.Errorf("next change in %d, %v", d, ok)
	}
	step(10, true)
	w.Enter()
	w.Leave(1)
	step(15, true)
	w.Leave(1)
	step(20, false)
	w.Enter()
	step(30, true)
	if d, ok := w.Next(32); !ok || d != 8 {
		t.Errorf("next change in %d, %v", d, ok)
	}
	step(40, false)
	if !w.Over() {
		t.Error("it goes on after its duration")
	}
	step(50, false)
}

func TestWordsOfASpec(t *testing.T) {
	s := Spec{From: []string{"a=b", "std::f"}, Phase: "solve", Delay: time.Second, Duration: 20 * time.Millisecond}
	got, err := Parse(s.Words())
	if err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("%v, %v; want %v", got, err, s)
	}
	if _, err := Parse([]string{"--until=now"}); err == nil {
		t.Error("an unknown word was taken")
	}
}

func TestNamesOfFunctions(t *testing.T) {
	for _, c := range []struct {
		function, symbol, name string
		want                   Mark
	}{
		{"work", "work", "work", Whole},
		{"work", "worker", "worker", None},
		{"work", "homework", "homework", None},
		{"work", "work.constprop.0", "work.constprop.0", Whole},
		{"work", "work.cold", "work.cold", None},
		{"ns::work", "_ZN2ns4workEi", "ns::work(int)", Whole},
		{"work", "_ZN2ns4workEi", "ns::work(int)", None},
		{"ns::work", "_ZN2ns4workIiEEvT_", "void ns::work<int>(int)", Whole},
		{"main.work", "main.work", "main.work", Whole},
		{"work", "lime_phase_begin", "lime_phase_begin", None},
	} {
		s := Spec{From: []string{c.function}}
		if got := s.Mark(c.symbol, c.name); got != c.want {
			t.Errorf("%s for %s: %d, want %d", c.name, c.function, got, c.want)
		}
	}
	s := Spec{Phase: AnyPhase}
	if s.Mark("lime_phase_begin", "") != Begin || s.Mark("lime_phase_end", "") != End {
		t.Error("the functions of lime.h are not found")
	}
}

func TestNearNames(t *testing.T) {
	got := Near("wrok", []string{"work", "main", "ns::work(int)", "transform", "work"})
	if !slices.Equal(got, []string{"work", "ns::work"}) {
		t.Errorf("%v", got)
	}
}
