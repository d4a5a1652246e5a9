package view

import (
	"encoding/json"
	"math"
	"testing"
)

// Call paths beside those of another run have the figures of both, and their difference; of a
// section, those of the section that ends at the same place.
func TestCallPathsOfTwoRuns(t *testing.T) {
	a := NewAPI([]*Run{runOf(fixture(t, 6, 9)), runOf(fixture(t, 4, 9))})
	ask := func(q string) *PathTable {
		t.Helper()
		got, err := answer(t, a, q)
		if err != nil {
			t.Fatal(err)
		}
		table := &PathTable{}
		if err := json.Unmarshal(got.Body, table); err != nil {
			t.Fatal(err)
		}
		return table
	}
	for _, of := range []string{"", "&s=0", "&s=1", "&t=2", "&t=5", "&v=flat", "&v=bottom-up&s=0"} {
		both, before, after := ask("paths?p=0&q=1"+of), ask("paths?p=0"+of), &PathTable{}
		if of != "&t=5" { // the other run has no such thread
			after = ask("paths?p=1" + of)
		}
		if len(both.Metrics) != 3*len(before.Metrics) {
			t.Fatalf("%s: columns %v", of, both.Metrics)
		}
		for m := range before.Metrics {
			if both.Total[3*m] != before.Total[m] || len(after.Total) > 0 && both.Total[3*m+1] != after.Total[m] {
				t.Errorf("%s: totals %v of %v and %v", of, both.Total, before.Total, after.Total)
			}
		}
		find := func(in *PathTable, name string, m int) (sum float64) {
			for _, r := range in.Rows {
				if r.Name == name {
					sum += r.Own[m]
				}
			}
			return sum
		}
		for _, r := range both.Rows {
			for m := 0; m < len(r.All); m += 3 {
				if math.Abs(r.All[m+1]-r.All[m]-r.All[m+2]) > 1e-9 || math.Abs(r.Own[m+1]-r.Own[m]-r.Own[m+2]) > 1e-9 {
					t.Errorf("%s: %s: %v", of, r.Name, r.All)
				}
				if find(both, r.Name, m) != find(before, r.Name, m/3) || find(both, r.Name, m+1) != find(after, r.Name, m/3) {
					t.Errorf("%s: %s has not the figures of its run", of, r.Name)
				}
			}
		}
	}
}
