package guest

import (
	"flag"
	"os"
	"sort"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the list of system calls in docs/guest.md")

// TestDocumentedCalls holds the list in docs/guest.md to the table.
func TestDocumentedCalls(t *testing.T) {
	const file, mark = "../../docs/guest.md", "<!-- calls -->\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, list, ok := strings.Cut(string(text), mark)
	if !ok {
		t.Fatalf("%s has no line %q", file, mark)
	}
	want := callList()
	if *update {
		if err := os.WriteFile(file, []byte(head+mark+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if list != want {
		t.Errorf("the list of calls in %s is out of date: go test ./internal/guest -run Documented -update", file)
	}
}

func callList() string {
	titles := [...]string{"Done by lime, or by the host with lime's care", "Done by the host as they are", "Not supported"}
	var names [3][]string
	for _, r := range sysByNr {
		if r != nil {
			names[r.kind] = append(names[r.kind], r.name)
		}
	}
	var b strings.Builder
	for kind, title := range titles {
		sort.Strings(names[kind])
		writeWrapped(&b, title+": "+strings.Join(names[kind], ", ")+".")
	}
	return b.String()
}

// writeWrapped writes a paragraph with an empty line before it, in lines of at most 100 columns.
func writeWrapped(b *strings.Builder, text string) {
	column := 0
	for _, word := range strings.Fields(text) {
		switch {
		case column == 0 || column+1+len(word) > 100:
			b.WriteByte('\n')
			column = len(word)
		default:
			b.WriteByte(' ')
			column += 1 + len(word)
		}
		b.WriteString(word)
	}
	b.WriteByte('\n')
}
