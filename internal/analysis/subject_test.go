package analysis

import (
	"strings"
	"testing"

	"lime/internal/profile"
)

func TestSubject(t *testing.T) {
	for _, tt := range []struct {
		detail, words string
	}{
		{"", ""},
		{"on counter+0x8", " The data: counter+0x8."},
		{"true sharing with a.c:7", " It is true sharing with a.c:7."},
		{"false sharing with a.c:7; on x+0x0; against y+0x8", " It is false sharing with a.c:7, of x+0x0, where the other side writes y+0x8."},
		{"false sharing with a.c:7; on x+0x0; against x+0x0", " It is false sharing with a.c:7, of x+0x0."},
	} {
		if got := subject(tt.detail).words(); got != tt.words {
			t.Errorf("%q: %q, want %q", tt.detail, got, tt.words)
		}
	}
}

// TestLuckIsSaid reads the detail of misses that are conflicts of page frames.
func TestLuckIsSaid(t *testing.T) {
	s := subject("on memory allocated at a.c:9; " + profile.DetailConflict)
	if !s.Luck || s.Data != "memory allocated at a.c:9" || s.Sharing != "" || !strings.Contains(s.words(), "luck of where pages lie") {
		t.Errorf("%+v: %s", s, s.words())
	}
	sec := &Section{Causes: []Cause{{Subject: s, Important: true}}}
	said := 0
	luckVerdict(sec, func(code, _, format string, _ ...any) {
		if code == "luck" && strings.Contains(format, "lime whatif --seeds") {
			said++
		}
	})
	if sec.Causes[0].Luck = false; said != 1 {
		t.Errorf("the verdict was said %d times", said)
	}
	if luckVerdict(sec, func(string, string, string, ...any) { said++ }); said != 1 {
		t.Error("a verdict on luck where there is none")
	}
}
