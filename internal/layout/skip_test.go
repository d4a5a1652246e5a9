package layout

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Nobody else skips: what is skipped for a reason of its own is seen by nobody.
func TestNobodyElseSkips(t *testing.T) {
	skip := regexp.MustCompile(`\b(t|b|tb|f)\.Skip(f|Now)?\(`)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") || filepath.Base(filepath.Dir(path)) == "testenv" {
			return err
		}
		text, err := os.ReadFile(path)
		for i, line := range strings.Split(string(text), "\n") {
			if skip.MatchString(line) {
				t.Errorf("%s:%d: skips by itself: use internal/testenv", path, i+1)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
