package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNoteLines(t *testing.T) {
	notes := []Note{
		{Code: "no-debug-info", Text: "/usr/lib/libm.so.6", Times: 3},
		{Code: "child-process", Text: "a child ran", Times: 2},
		{Code: "no-source", Text: "./libc-start.c, ...", Times: 205},
		{Code: "no-debug-info", Text: "/usr/lib/libz.so.1", Times: 3},
	}
	want := []string{"No debug information, so functions only (build with -g for lines): libm.so.6, libz.so.1", "a child ran (2 times)"}
	if diff := cmp.Diff(want, noteLines(notes, false)); diff != "" {
		t.Error(diff)
	}
	if got := noteLines(notes, true); len(got) != 3 {
		t.Errorf("%q", got)
	}
	for range 9 {
		notes = append(notes, Note{Code: "no-debug-info", Text: "x", Times: 1})
	}
	if got := noteLines(notes, false)[0]; got != want[0]+", x, x, and 7 more" {
		t.Errorf("%q", got)
	}
}
