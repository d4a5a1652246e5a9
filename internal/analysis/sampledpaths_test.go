package analysis

import (
	"testing"

	"lime/internal/profile"
)

// What of a call path can be a cause: the program's own calls. A language's library is none of it,
// where it was compiled into the program either, unless code of the program's was inlined there; and
// the body of a task begins a path of its own: whoever waits at that moment does it.
func TestOwnPartOfPaths(t *testing.T) {
	const own, rust, cpp, golang = "app.c", "/rustc/0/library/std/src/io/stdio.rs", "/usr/include/c++/12/bits/stl_vector.h", "/usr/local/go/src/sort/sort.go"
	for _, row := range []struct {
		callee, file string
		want         []int32 // lines
	}{
		{"extra", own, []int32{13, 31}},
		{"runtime.main", golang, []int32{13}},
		{"sort.insertionSort", golang, []int32{13}},
		{"main.sorted", own, []int32{13, 31}},
		{"_ZN3std2io5stdio6_print17h0123456789abcdefE", rust, []int32{13}},
		{"_ZNSt6vectorIiSaIiEE9push_backERKi", cpp, []int32{13}},
		{"_ZNSt6vectorIiSaIiEE9push_backERKi", "", []int32{13}},
		{"_ZN3std3sys9backtrace28__rust_begin_short_backtrace17h0123456789abcdefE", own, []int32{13, 31}},
		{"_ZNSt6thread11_State_implINS_8_InvokerISt5tupleIJZ4mainEUlvE_EEEEE6_M_runEv", own, []int32{13, 31}},
		{"work._omp_fn.0", own, []int32{31}},
	} {
		p := sampledProgram(t, []uint64{100, 100}, []uint64{50, 50})
		tab := p.Tables()
		tab.Functions[2].Name, tab.Functions[2].Link = row.callee, row.callee
		inside := p.AddFile(profile.File{Path: row.file})
		for i := range tab.Nodes {
			n := &tab.Nodes[i]
			for j := range n.Frames {
				if n.Function == 2 && row.file == "" {
					n.Frames = nil
					break
				} else if n.Function == 2 {
					n.Frames[j].File = inside
				}
			}
		}
		ps := newProcs(tab)
		ps.roots = map[profile.FunctionID]bool{}
		var got []int32
		for _, v := range ps.rooted(ps.frames(profile.PathID(len(tab.Paths) - 1))) {
			got = append(got, ps.line(v).line)
		}
		if len(got) != len(row.want) || got[len(got)-1] != row.want[len(got)-1] {
			t.Errorf("%s in %s: lines %v, want %v", row.callee, row.file, got, row.want)
		}
	}
}
