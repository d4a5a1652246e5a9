package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestPathsAreWithinTheRoot(t *testing.T) {
	for _, c := range []struct{ file, root, want string }{
		{"/src/a/b.c", "/src", "a/b.c"}, {"/src/a/b.c", "/src/", "a/b.c"}, {"/src/a/../b.c", "/src", "b.c"},
		{"lu.c", "/src", "lu.c"}, {"./x/lu.c", "", "x/lu.c"},
		{"/usr/include/x.h", "/src", ""}, {"../x.c", "/src", ""}, {"/x.c", "", ""}, {"", "/src", ""}, {"/srcs/b.c", "/src", ""},
	} {
		got, ok := within(c.file, c.root)
		if ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%s in %s: %q, %v; want %q", c.file, c.root, got, ok, c.want)
		}
	}
}

// What GitHub and others require of SARIF: version, a driver's name, a text, and places by relative
// paths with known rules.
func TestSARIF(t *testing.T) {
	r := Build(sample(8))
	r.Sections[0].Causes[0].File = "src/a b%.c"
	var b bytes.Buffer
	if err := WriteSARIF(&b, r, "/root"); err != nil {
		t.Fatal(err)
	}
	var log sarifLog
	dec := json.NewDecoder(&b)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 || log.Runs[0].Tool.Driver.Name != "lime" {
		t.Fatalf("%+v", log)
	}
	run, uris := log.Runs[0], map[string]bool{}
	for _, x := range run.Results {
		at := x.Locations[0].Physical
		uris[at.Artifact.URI] = true
		if x.RuleIndex >= len(run.Tool.Driver.Rules) || run.Tool.Driver.Rules[x.RuleIndex].ID != x.RuleID || x.Message.Text == "" ||
			at.Region.StartLine < 1 || at.Artifact.BaseID != sourceRoot || strings.HasPrefix(at.Artifact.URI, "/") || x.Rank < 0 || x.Rank > 100 {
			t.Errorf("%+v", x)
		}
	}
	if _, ok := run.Bases[sourceRoot]; !ok || !uris["src/lu.c"] || !uris["src/a%20b%25.c"] {
		t.Errorf("places %v", uris)
	}
}

// A name in a profile is no command to GitHub's runner, and no markup.
func TestFindingsAreText(t *testing.T) {
	r := Build(sample(8))
	c := &r.Sections[0].Causes[0]
	c.File, c.Sentence = "src/a,title=x::y.c", "100 %\n::error::<b>|`x`"
	var b bytes.Buffer
	if err := WriteGitHub(&b, r, "/root"); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		if !strings.HasPrefix(line, "::warning file=src/") ||
			strings.Count(line, "title=") != strings.Count(line, "title=lime%3A")+strings.Count(line, "%2Ctitle=x") {
			t.Errorf("%s", line)
		}
	}
	printable(t, b.String())
	b.Reset()
	if err := WriteMarkdown(&b, r, "/root"); err != nil {
		t.Fatal(err)
	}
	printable(t, b.String())
	if text := b.String(); strings.Contains(text, "<b>") || !strings.Contains(text, `\|\`+"`") || !strings.Contains(text, "imbalance") {
		t.Errorf("%s", text)
	}
}
