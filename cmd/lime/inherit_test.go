package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unlike is what a program sees otherwise than natively, for a reason that docs/guest.md and
// docs/record.md give: lines of testdata/probe.c that begin so.
var unlike = []struct {
	lines string
	verbs []string
	doc   string // words there
}{
	{`itimer 0:`, verbs, "A timer of `alarm`"},
	{`status: (Tgid|Pid|PPid|NStgid|NSpid|NSpgid|NSsid|SigQ):|stat:`, verbs, "The process id"},
	{`status: (Vm\w+|Rss\w+|FDSize|\w+_ctxt_switches):`, verbs, "What it takes of memory"},
	{`auxv (16|26|27|28|51):`, verbs[1:], "The auxiliary vector"},
	{`cores:|status: (Cpus_allowed|Cpus_allowed_list|Mems_allowed|Mems_allowed_list):`, verbs[1:], "The machine"},
	{`cgroup:`, verbs[1:], "control-group"},
}

// seen is what a command's probe prints, sorted, less what differs for a reason.
func seen(t *testing.T, verb string, words ...string) string {
	t.Helper()
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "PWD="+cmd.Dir)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", cmd, err)
	}
	lines := strings.Split(strings.ReplaceAll(string(out), cmd.Dir, "DIR"), "\n")
	for _, row := range unlike {
		re := regexp.MustCompile("^(" + row.lines + ")")
		if slices.Contains(row.verbs, verb) {
			lines = slices.DeleteFunc(lines, func(s string) bool { return re.MatchString(s) })
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// differing are the lines of either that the other has not.
func differing(a, b string) (out string) {
	for _, side := range []struct{ sign, of, other string }{{"-", a, b}, {"+", b, a}} {
		has := strings.Split(side.other, "\n")
		for line := range strings.SplitSeq(side.of, "\n") {
			if !slices.Contains(has, line) {
				out += side.sign + line + "\n"
			}
		}
	}
	return out
}

// What lime was started with, and what programs have changed that replace themselves or start others,
// the program sees as natively, under every verb.
func TestInheritedStateIsNative(t *testing.T) {
	probe, launch := inheritors(t)
	for _, row := range []struct{ name, before, inside string }{
		{"plain", "", ""}, {"set", "p", ""}, {"closed", "0", ""}, {"both_closed", "p02", ""}, {"by_exec", "", "p0"},
		{"rights", "", "nu"}, {"again", "p", "0"},
	} {
		for _, verb := range verbs {
			t.Run(row.name+"/"+verb, func(t *testing.T) {
				words := []string{launch, row.inside + ".", probe, "a", "b c"}
				out := t.TempDir()
				if err := errors.Join(os.Chmod(filepath.Dir(out), 0o755), os.Chmod(out, 0o777)); err != nil { // for who gives up its rights
					t.Fatal(err)
				}
				lime := []string{mustBuilt(t), verb, "-o", filepath.Join(out, "profile"), "--"}
				first := []string{launch, row.before + "."}
				want := seen(t, verb, slices.Concat(first, words)...)
				if d := differing(want, seen(t, verb, slices.Concat(first, lime, words)...)); d != "" {
					t.Errorf("natively -, under %s +:\n%s", verb, d)
				}
			})
		}
	}
}

// The same of children, whether they run natively or are followed.
func TestChildrenInheritAsNatively(t *testing.T) {
	probe, launch := inheritors(t)
	for _, letters := range []string{"p0", "n"} {
		for _, verb := range verbs {
			for _, follow := range []bool{false, true} {
				if follow && verb == "record" {
					continue
				}
				shell := []string{"sh", "-c", launch + " " + letters + " " + probe + "; true"}
				lime := []string{mustBuilt(t), verb, "-o", filepath.Join(t.TempDir(), "profile")}
				if follow {
					lime = append(lime, "--children")
				}
				want := seen(t, verb, shell...)
				if d := differing(want, seen(t, verb, slices.Concat(lime, []string{"--"}, shell)...)); d != "" {
					t.Errorf("%s, %s, followed %v; natively -, so +:\n%s", verb, letters, follow, d)
				}
			}
		}
	}
}

// inheritors are the two programs, where everybody can read them.
func inheritors(t *testing.T) (probe, launch string) {
	t.Helper()
	var built []string
	for _, name := range []string{"testdata/probe.c", "testdata/launch.c"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		built = append(built, program(t, string(text)))
	}
	if err := os.Chmod(filepath.Dir(filepath.Dir(built[0])), 0o755); err != nil {
		t.Fatal(err)
	}
	return built[0], built[1]
}

// The reasons stand in the documents.
func TestDifferencesAreDocumented(t *testing.T) {
	var docs string
	for _, name := range []string{"../../docs/guest.md", "../../docs/record.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		docs += string(text)
	}
	for _, row := range unlike {
		if !strings.Contains(docs, row.doc) {
			t.Errorf("%s: no document says %q", row.lines, row.doc)
		}
	}
}

// Files that a program inherits are its own, at whatever numbers (of a jobserver of make's, a lock, a
// pipe for its readiness).
func TestInheritedDescriptorsReachTheProgram(t *testing.T) {
	for _, verb := range verbs {
		lime := mustBuilt(t) + " " + verb + " -o " + filepath.Join(t.TempDir(), "p")
		cmd := exec.Command("sh", "-c", lime+` -- sh -c 'cat <&3; cat <&4; cat <&5; cat <&9' 3<<3 4<<4 5<<5 9<<9
three
3
four
4
five
5
nine
9
`)
		out, err := cmd.CombinedOutput()
		if want := "three\nfour\nfive\nnine\n"; err != nil || string(out) != want {
			t.Errorf("%s: %v, %q, want %q", verb, err, out, want)
		}
	}
}

// A timer that ran when lime was started ends the program, as it does natively.
func TestInheritedAlarm(t *testing.T) {
	_, launch := inheritors(t)
	for _, verb := range verbs {
		cmd := exec.Command(launch, "a", mustBuilt(t), verb, "-o", filepath.Join(t.TempDir(), "p"), "--", "sh", "-c", "while :; do :; done")
		_ = cmd.Run() // the status says it
		if got := cmd.ProcessState.ExitCode(); got != 128+14 {
			t.Errorf("%s: status %d", verb, got)
		}
	}
}
