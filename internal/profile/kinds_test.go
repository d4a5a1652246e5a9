package profile

import (
	"strings"
	"testing"
)

func TestEveryKindIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range kinds {
		if k.Name == "" || k.Title == "" || k.Unit == "" || k.Family.String() == "" || k.Family == FamilyNone {
			t.Errorf("%+v: a column is empty", k)
		}
		if seen[k.Name] || strings.ToLower(k.Name) != k.Name || strings.ContainsAny(k.Name, " _") {
			t.Errorf("%q: there twice, or not spelt as the others", k.Name)
		}
		seen[k.Name] = true
	}
}

func TestSuperiorsLeadUp(t *testing.T) {
	for _, k := range kinds {
		n := 0
		for up := k.Superior; up != ""; n++ {
			s, ok := KindNamed(up)
			if !ok || s.Family != k.Family || n > len(kinds) {
				t.Fatalf("%s: superior %q", k.Name, up)
			}
			up = s.Superior
		}
	}
}

// The superior of a row is the nearest kind that the collector can see.
func TestNewKindsResolveSuperiors(t *testing.T) {
	for _, c := range []struct{ names, want string }{
		{"l1d-miss l2-miss llc-miss memory-wait", ",l1d-miss,l2-miss,llc-miss"},
		{"l1d-miss llc-miss branch-miss", ",l1d-miss,"},
		{"llc-miss", ""},
		{"lock-wait unheard-of", ","},
	} {
		var got []string
		for _, k := range NewKinds(Modelled, strings.Fields(c.names)...) {
			got = append(got, k.Superior)
			if k.Label != Modelled || k.Title == "" || k.Unit == "" {
				t.Errorf("%+v", k)
			}
		}
		if strings.Join(got, ",") != c.want {
			t.Errorf("%s: superiors %q, want %q", c.names, strings.Join(got, ","), c.want)
		}
	}
}

func TestFamiliesOfKinds(t *testing.T) {
	for name, want := range map[string]Family{"lock-wait": FamilyLock, "spin-wait": FamilyWait,
		"off-cpu": FamilyOffCore, "sleep": FamilyOffCore,
		"page-fault": FamilyMemory, "l2-miss": FamilyMemory, "loop-left": FamilySamples, "of-another-lime": FamilyNone} {
		if got := FamilyOf(name); got != want || got.Waits() != (want == FamilyLock || want == FamilyWait || want == FamilyOffCore) {
			t.Errorf("%s: family %q, want %q", name, got, want)
		}
	}
}
