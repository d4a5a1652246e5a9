package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// --verify says why a run cannot be repeated, and reports all the same.
func TestVerifyCannot(t *testing.T) {
	text, err := os.ReadFile("testdata/uneven8.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, now, want string }{
		{"", "", " is not here "},
		{"collector=simulate", "collector=record", "recorded while it ran natively"},
		{"collector=simulate", "collector=callgrind", "imported from callgrind"},
		{"complete=true", "complete=false", "did not come to its end"},
		{"end-state=exited", "end-state=interrupted", "did not come to its end"},
	} {
		path := filepath.Join(t.TempDir(), "p.txt")
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), c.old, c.now, 1)), 0o666); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := lime(t, "report", "--verify", path)
		words := strings.Join(strings.Fields(stdout), " ")
		if code != ExitOK || stderr != "" || !strings.Contains(words, "Nothing was verified: ") ||
			!strings.Contains(words, c.want) || !strings.Contains(words, "Cause 1:") {
			t.Errorf("%s: status %d, %s\n%s", c.now, code, stderr, stdout)
		}
		code, stdout, stderr = lime(t, "whatif", "--even", "blocks.c:21", path)
		if code != ExitOK || !strings.Contains(strings.Join(strings.Fields(stdout), " "), c.want) {
			t.Errorf("whatif --even, %s: status %d, %s\n%s", c.now, code, stderr, stdout)
		}
	}
}
