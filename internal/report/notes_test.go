package report

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lime/internal/profile"
)

func TestNoteLines(t *testing.T) {
	notes := []Note{
		{Code: "no-debug-info", Text: "/usr/lib/libm.so.6", Times: 3},
		{Code: "unwatched", Text: "a child ran", Times: 2},
		{Code: "complete-stacks", Text: "99.0 % of the samples have a complete call path", Times: 200}, // not 200 times 99 %
		{Code: profile.NoteEffortThreads, Text: "so many threads", Times: 4},
		{Code: noteTimeline, Text: "the times are those on a CPU; on the wall the run took 3 s", Times: 1},
		{Code: "no-source", Text: "./libc-start.c, ...", Times: 205},
		{Code: "no-debug-info", Text: "/usr/lib/libz.so.1", Times: 3},
	}
	want := []string{"No debug information, so functions only (build with -g for lines): libm.so.6, libz.so.1",
		"a child ran (2 times)", "99.0 % of the samples have a complete call path"}
	if diff := cmp.Diff(want, noteLines(notes, false)); diff != "" {
		t.Error(diff)
	}
	if got := noteLines(notes, true); len(got) != 5 || !slices.Contains(got, "4 so many threads") {
		t.Errorf("%q", got)
	}
	if got, want := timeline(notes), "The times are those on a CPU; on the wall the run took 3 s."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for range 9 {
		notes = append(notes, Note{Code: "no-debug-info", Text: "x", Times: 1})
	}
	if got := noteLines(notes, false)[0]; got != want[0]+", x, x, and 7 more" {
		t.Errorf("%q", got)
	}
}
