package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// sharer is a program that shares lines falsely, and the same one with padding.
type sharer struct {
	name, tool string
	build      func(pad bool, out string) []string
	args       []string
	data       string // that it shares
}

func sharers(t *testing.T) []sharer {
	c := func(compiler string) func(bool, string) []string {
		return func(pad bool, out string) []string {
			cmd := []string{compiler, "-g", "-O1", "-pthread", "-w", "-o", out}
			if pad {
				cmd = append(cmd, "-DPAD")
			}
			if compiler == "g++" {
				cmd = append(cmd, "-x", "c++")
			}
			return append(cmd, "testdata/sharing.c")
		}
	}
	rust := func(pad bool, out string) []string {
		cmd := []string{"rustc", "-g", "-O", "-o", out, "testdata/sharing.rs"}
		if pad {
			cmd = append(cmd, "--cfg", "pad")
		}
		return cmd
	}
	golang := func(pad bool, out string) []string {
		text, err := os.ReadFile("testdata/sharing.go")
		if err != nil {
			t.Fatal(err)
		}
		words := "0"
		if pad {
			words = "7"
		}
		source := filepath.Join(t.TempDir(), "main.go")
		if err := os.WriteFile(source, []byte(strings.Replace(string(text), "PAD]", words+"]", 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{"go", "build", "-o", out, source}
	}
	return []sharer{
		{"linear regression", "gcc", c("gcc"), []string{"regression"}, "sums"},
		{"counters in C", "gcc", c("gcc"), []string{"count"}, "counters"},
		{"locks of a hash table", "gcc", c("gcc"), []string{"hash"}, "buckets"},
		{"locks of a list", "gcc", c("gcc"), []string{"list"}, "nodes"},
		{"counters in C++", "g++", c("g++"), []string{"count"}, "counters"},
		{"locks of a hash table in C++", "g++", c("g++"), []string{"hash"}, "buckets"},
		{"counters in Rust", "rustc", rust, nil, "sharing::COUNTERS"},
		{"counters in Go", "go", golang, nil, "main.counters"},
	}
}

// built compiles it, padded or not.
func (s *sharer) built(t *testing.T, pad bool) string {
	t.Helper()
	if s.tool != "go" { // which runs this test
		testenv.Tool(t, s.tool)
	}
	out := filepath.Join(t.TempDir(), "program")
	args := s.build(pad, out)
	if text, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", args, text)
	}
	return out
}

// shared is the data of the worst pair of a native run of so many seconds, "" if there is none; both
// sides must be known.
func shared(t *testing.T, program string, args []string, seconds string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "p.lime")
	args = slices.Concat([]string{"record", "--waste=sharing", "-o", file, "--", program}, args, []string{seconds})
	if code, _, stderr := run(t, ".", "", args...); code != 0 {
		t.Fatalf("%v: status %d, %s", args, code, stderr)
	}
	r := wasteOf(t, file)
	if len(r.Waste.Pairs) == 0 {
		return ""
	}
	if p := &r.Waste.Pairs[0]; p.First.Line == 0 || p.Second.Line == 0 {
		t.Errorf("%v: a side without a line: %+v", args, p)
	}
	return r.Waste.Pairs[0].Data
}

// TestSampledSharing: lines that threads share falsely are found in a native run, with the data; of
// padded twins nothing is said. On a busy machine threads that seldom run at once seldom fight for a
// line: longer runs show it.
func TestSampledSharing(t *testing.T) {
	for _, s := range sharers(t) {
		t.Run(s.name, func(t *testing.T) {
			packed := s.built(t, false)
			got := ""
			for _, seconds := range []string{"1", "4", "16"} {
				if got = shared(t, packed, s.args, seconds); got != "" {
					break
				}
			}
			if got != s.data {
				t.Errorf("found on %q, want %q", got, s.data)
			}
			if got := shared(t, s.built(t, true), s.args, "0.6"); got != "" {
				t.Errorf("padded: found on %q", got)
			}
		})
	}
}

// TestTrueSharing: what threads do to the same bytes is no false sharing.
func TestTrueSharing(t *testing.T) {
	s := sharers(t)[0]
	program := s.built(t, false)
	for _, kernel := range []string{"common", "handing"} {
		if got := shared(t, program, []string{kernel}, "1"); got != "" {
			t.Errorf("%s: found on %q", kernel, got)
		}
	}
}

// TestSharingAgrees: where a simulated machine has coherence misses of false sharing, they are on the
// data that the native run names, and where it has none the native run is silent (TestSampledSharing).
func TestSharingAgrees(t *testing.T) {
	for _, s := range sharers(t)[:4] {
		for _, pad := range []bool{false, true} {
			file := filepath.Join(t.TempDir(), "p.lime")
			args := append([]string{"simulate", "--cores", "2", "--machine", "desktop", "-o", file, "--", s.built(t, pad)}, s.args...)
			if code, _, stderr := run(t, ".", "", append(args, "0.0005")...); code != 0 {
				t.Fatalf("%v: status %d, %s", args, code, stderr)
			}
			_, stdout, _ := run(t, ".", "", "report", "--json", file)
			var r struct {
				Costs []struct{ Sharing, Data string }
			}
			if err := json.Unmarshal([]byte(stdout), &r); err != nil {
				t.Fatal(err)
			}
			found := false
			for _, c := range r.Costs {
				found = found || strings.HasPrefix(c.Sharing, "false sharing") && strings.HasPrefix(c.Data, s.data+"+")
			}
			if found == pad {
				t.Errorf("%s, padded %v: false sharing of %s in the model: %v: %+v", s.name, pad, s.data, found, r.Costs)
			}
		}
	}
}
