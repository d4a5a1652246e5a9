package profile

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lime/internal/testenv"
)

func document(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../docs/profile-format.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// block returns the first fenced block in a language.
func block(t *testing.T, doc, lang string) string {
	t.Helper()
	_, rest, ok := strings.Cut(doc, "```"+lang+"\n")
	code, _, end := strings.Cut(rest, "```")
	if !ok || !end {
		t.Fatalf("no block of %q", lang)
	}
	return code
}

func TestDocumentHasTheSchema(t *testing.T) {
	doc := document(t)
	var want strings.Builder
	for _, s := range schema {
		fmt.Fprintf(&want, "%s;\n", s.create)
		if !strings.Contains(doc, "`"+s.name+"`") {
			t.Errorf("table %s is not explained", s.name)
		}
	}
	if got := block(t, doc, "sql"); got != want.String() {
		t.Errorf("schema in the document:\n%swant:\n%s", got, want.String())
	}
	for _, f := range metaFields {
		if !strings.Contains(doc, "`"+f.key+"`") {
			t.Errorf("key %s of meta is not explained", f.key)
		}
	}
}

func TestDocumentHasTheTextKeys(t *testing.T) {
	doc := document(t)
	_, doc, _ = strings.Cut(doc, "# The text twin")
	for word, fields := range map[string][]textField{
		"meta": metaText.fields(&Meta{}), "note": noteText.fields(&Note{}), "image ID": imageText.fields(&Image{}),
		"file ID": fileText.fields(&File{}),
		"line":    lineText.fields(&sourceLine{}), "function ID": functionText.fields(&Function{}), "node ID": nodeText.fields(&Node{}),
		"edge ID": edgeText.fields(&Edge{}), "kind ID": kindText.fields(&EventKind{}), "event ID": eventText.fields(&Event{}),
		"section ID": sectionText.fields(&Section{}), "thread ID": threadText.fields(&Thread{}), "path ID": pathText.fields(&PathNode{}),
		"sample": sampleText.fields(&PathSample{}), "waste-total": wasteTotalText.fields(&WasteTotal{}),
		"waste-pair": wastePairText.fields(&WastePair{}), "lock ID": lockText.fields(&Lock{}),
		"lock-wait": lockWaitText.fields(&LockWait{}), "lock-hold": lockHoldText.fields(&LockHold{}), "account": accountText.fields(&Accounted{}), "trace": traceText.fields(&Trace{}),
		"instance": instanceText.fields(&Instance{}), "part": partText.fields(&Part{}),
	} {
		line := regexp.MustCompile("(?m)^\\| `" + word + "` \\| `([^`]*)`").FindStringSubmatch(doc)
		if line == nil {
			t.Errorf("%s is not explained", word)
			continue
		}
		var keys []string
		for _, f := range fields {
			keys = append(keys, f.key)
		}
		if got := strings.ReplaceAll(line[1], "...", ""); got != strings.Join(keys, " ") {
			t.Errorf("%s: the document says %q, the code %q", word, got, strings.Join(keys, " "))
		}
	}
}

func TestDocumentExampleParses(t *testing.T) {
	doc := document(t)
	i := strings.LastIndex(doc, "```\nlime-profile")
	if _, err := ParseText(block(t, doc[i:], "")); err != nil {
		t.Error(err)
	}
}

// TestPythonReadsIt runs the document's program and compares its output.
func TestPythonReadsIt(t *testing.T) {
	testenv.Tool(t, "python3")
	dir := t.TempDir()
	script, path := filepath.Join(dir, "read.py"), filepath.Join(dir, "lime.data")
	if err := os.WriteFile(script, []byte(block(t, document(t), "python")), 0o666); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, 12, 25)
	out, err := exec.Command("/usr/bin/python3", script, path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if want := pythonOutput(t, openFile(t, path)); string(out) != want {
		t.Errorf("got:\n%.2000s\nwant:\n%.2000s", out, want)
	}
}

func pythonOutput(t *testing.T, r *Reader) string {
	var b strings.Builder
	next := []int{0, 0}
	for id := range int64(25) {
		s := SectionID(0)
		if n := next[1]; n < len(r.ids[1]) && r.ids[1][n] == id {
			s = 1
		}
		in, err := r.Instance(s, next[s])
		if err != nil {
			t.Fatal(err)
		}
		next[s]++
		fmt.Fprintln(&b, "instance", id, "section", in.Section, "seq", in.Seq)
		for i, p := range in.Parts {
			fmt.Fprintln(&b, "part", i, "thread", p.Thread, "time", p.Time())
		}
		for _, c := range in.Edges {
			fmt.Fprintln(&b, "edge", c.Row, "part", c.Part, "count", c.N)
		}
	}
	for i := range r.tables.Nodes {
		n := &r.tables.Nodes[i]
		fmt.Fprintln(&b, "node", i, "image", n.Image, "address", fmt.Sprintf("%#x", n.Addr), "size", n.Size)
	}
	for i, e := range r.tables.Edges {
		fmt.Fprintln(&b, "edge", i, "from", e.From, "to", e.To, "kind", uint8(e.Kind))
	}
	return b.String()
}
