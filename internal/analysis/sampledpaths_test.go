package analysis

import (
	"testing"

	"lime/internal/profile"
)

// What of a call path can be a cause: the program's own calls. A language's library is none of it,
// where it was compiled into the program either, and the body of a task begins a path of its own:
// whoever waits at that moment does it.
func TestOwnPartOfPaths(t *testing.T) {
	for _, row := range []struct {
		callee string
		want   []int32 // lines
	}{
		{"extra", []int32{13, 31}},
		{"runtime.main", []int32{13}},
		{"sort.insertionSort", []int32{13}},
		{"main.sorted", []int32{13, 31}},
		{"_ZN3std2io5stdio6_print17h0123456789abcdefE", []int32{13}},
		{"_ZNSt6vectorIiSaIiEE9push_backERKi", []int32{13}},
		{"work._omp_fn.0", []int32{31}},
	} {
		p := sampledProgram(t, []uint64{100, 100}, []uint64{50, 50})
		tab := p.Tables()
		tab.Functions[2].Name, tab.Functions[2].Link = row.callee, row.callee
		ps := newProcs(tab)
		ps.roots = map[profile.FunctionID]bool{}
		var got []int32
		for _, v := range ps.rooted(ps.frames(profile.PathID(len(tab.Paths) - 1))) {
			got = append(got, ps.line(v).line)
		}
		if len(got) != len(row.want) || got[len(got)-1] != row.want[len(got)-1] {
			t.Errorf("%s: lines %v, want %v", row.callee, got, row.want)
		}
	}
}
