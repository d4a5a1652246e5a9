package analysis

import "testing"

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
