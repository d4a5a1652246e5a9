package cli

import (
	"strings"
	"testing"

	"lime/internal/profile"
)

// TestUnknownPartIsNotRepeated: of a run of which a part was measured the same part is measured
// again, or nothing.
func TestUnknownPartIsNotRepeated(t *testing.T) {
	meta := profile.Meta{Collector: "simulate", Command: []string{"true"}, Complete: true, EndState: "exited"}
	for _, c := range []struct {
		region []string
		want   string // of the error; "": none
	}{
		{nil, ""},
		{[]string{"--from=solve", "--delay=1s"}, ""},
		{[]string{"--until=solve"}, `"--until=solve" is no part of a region`},
		{[]string{"--delay=soon"}, `invalid duration "soon"`},
	} {
		m := meta
		m.Region = c.region
		err := repeatable(profile.New(m))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.region, err, c.want)
		}
	}
}
