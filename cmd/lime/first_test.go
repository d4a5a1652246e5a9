package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// TestFirstTenMinutes does what the page for newcomers says, and finds what it says.
func TestFirstTenMinutes(t *testing.T) {
	testenv.Tool(t, "gcc")
	text, err := os.ReadFile("../../docs/first-ten-minutes.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```c\n")
	source, rest, ok := strings.Cut(rest, "```\n")
	if !ok {
		t.Fatal("the page has no program")
	}
	dir := t.TempDir()
	lime, err := built()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(lime)+":"+os.Getenv("PATH"))
	if err := os.WriteFile(filepath.Join(dir, "rows.c"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	said, _, _ := strings.Cut(rest, "## 5.")
	ran := 0
	for line := range strings.Lines(said) {
		command, ok := strings.CutPrefix(line, "    ")
		if !ok || strings.HasPrefix(command, "Cause ") {
			continue
		}
		ran++
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
	if ran < 8 {
		t.Errorf("only %d commands were found", ran)
	}
	_, stdout, _ := run(t, dir, "", "report", "--json", "before.lime")
	var r struct {
		Sections []struct {
			LostShare float64 `json:"lost_share"`
			Causes    []struct {
				File  string
				Line  int
				Event string
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Sections) == 0 || len(r.Sections[0].Causes) == 0 {
		t.Fatalf("no cause: %s", stdout)
	}
	s := r.Sections[0]
	if c := s.Causes[0]; filepath.Base(c.File) != "rows.c" || c.Line != 11 || c.Event != "loop" || s.LostShare < 0.35 || s.LostShare > 0.45 {
		t.Errorf("the page says loop at rows.c:11 and about 40 %%; it is %s at %s:%d and %.3f", c.Event, c.File, c.Line, s.LostShare)
	}
}
