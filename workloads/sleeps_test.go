// Who sleeps, or waits for a file or a timer, is told by the line of the call, however it is done:
// all threads alike, or one for which the others wait.
package workloads

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// sleeps are ways not to work for a millisecond.
var sleeps = []struct{ name, event, tool, source, wait string }{
	{"nanosleep", "sleep", "gcc", "sleeps.c", "nanosleep(&ms, NULL)"},
	{"clock_nanosleep", "sleep", "gcc", "sleeps.c", "clock_nanosleep(CLOCK_MONOTONIC, 0, &ms, NULL)"},
	{"usleep", "sleep", "gcc", "sleeps.c", "usleep(1000)"},
	{"thrd_sleep", "sleep", "gcc", "sleeps.c", "thrd_sleep(&ms, NULL)"},
	{"select", "sleep", "gcc", "sleeps.c", "select(0, NULL, NULL, NULL, &(struct timeval){0, 1000})"},
	{"poll", "sleep", "gcc", "sleeps.c", "poll(NULL, 0, 1)"},
	{"poll a pipe", "io", "gcc", "sleeps.c", "poll(&nothing, 1, 1)"},
	{"timerfd", "io", "gcc", "sleeps.c", "if (read(fd, &ticks, 8) != 8) abort()"},
	{"sleep_for", "sleep", "g++", "sleeps.cpp", ""},
	{"time.Sleep", "sleep", "go", "sleeps.go", ""},
}

func TestSleepsAreNamed(t *testing.T) {
	bin, dir := lime(t), t.TempDir()
	for _, one := range []bool{false, true} {
		for i, s := range sleeps {
			t.Run(s.name+map[bool]string{false: " in all", true: " in one"}[one], func(t *testing.T) {
				t.Parallel()
				if s.tool != "go" {
					testenv.Tool(t, s.tool)
				}
				src := filepath.Join("testdata/sleeps", s.source)
				prog := filepath.Join(dir, strings.ReplaceAll(s.source, ".", "_")+string(rune('a'+i))+map[bool]string{true: "1"}[one])
				var args, options []string
				switch s.tool {
				case "go":
					args = []string{"build", "-o", prog, src}
				default:
					args = []string{"-O2", "-g", "-pthread", "-o", prog, src, "-DWAIT=" + s.wait}
					if s.tool == "g++" {
						args = append(args, "-std=c++20")
					}
				}
				if one {
					options = []string{"one"}
					if s.tool != "go" {
						args = append(args, "-DONE")
					}
				}
				if out, err := exec.Command(s.tool, args...).CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", s.tool, err, out)
				}
				data := prog + ".lime"
				if out, err := exec.Command(bin,
					append([]string{"simulate", "--cores", "8", "-o", data, "--", prog}, options...)...).CombinedOutput(); err != nil {
					t.Fatalf("simulate: %v\n%s", err, out)
				}
				out, err := exec.Command(bin, "report", "--json", data).Output()
				if err != nil {
					t.Fatal(err)
				}
				var a answer
				if err := json.Unmarshal(out, &a); err != nil {
					t.Fatal(err)
				}
				text, err := os.ReadFile(src)
				if err != nil {
					t.Fatal(err)
				}
				line := 1 + strings.Count(strings.Split(string(text), "/* HERE */")[0], "\n")
				if len(a.Sections) == 0 || len(a.Sections[0].Causes) == 0 {
					t.Fatalf("no cause: %s", out)
				}
				c := a.Sections[0].Causes[0]
				behind := fmt.Sprintf(" at %s:%d: 6 times, ", s.source, line) // the decision who sleeps may come first
				if (c.Line != line || c.Event != s.event) && !(one && strings.Contains(c.Sentence, behind)) {
					t.Errorf("%s at %s:%d, want %s at line %d: %s", c.Event, c.File, c.Line, s.event, line, c.Sentence)
				}
			})
		}
	}
}
