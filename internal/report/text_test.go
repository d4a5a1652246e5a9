package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with a file of testdata, or rewrites it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func textReport(t *testing.T, r *Report, o TextOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteText(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextGolden(t *testing.T) {
	for _, test := range []struct {
		name    string
		threads int
		o       TextOptions
	}{
		{"lu8.txt", 8, TextOptions{}},
		{"lu32.txt", 32, TextOptions{}},
		{"lu32-all.txt", 32, TextOptions{All: true}},
		{"lu100-color.txt", 100, TextOptions{Color: true, Sections: 1}},
	} {
		r := Build(sample(test.threads))
		golden(t, test.name, []byte(textReport(t, r, test.o)))
	}
}

func TestTextFits80Columns(t *testing.T) {
	for _, n := range []int{1, 2, 8, 16, 17, 64, 1000} {
		r := Build(sample(n))
		r.Sections[0].Causes[0].File = strings.Repeat("very/long/", 20) + strings.Repeat("name", 30) + ".c"
		r.Sections[0].Causes[0].Sentence = strings.Repeat("x", 200) + " ends"
		for _, line := range strings.Split(textReport(t, r, TextOptions{All: true}), "\n") {
			if columns(line) > Width {
				t.Errorf("%d threads: %d columns: %s", n, columns(line), line)
			}
		}
	}
}

func TestTextNeverPassesControlCharacters(t *testing.T) {
	r := Build(sample(8))
	evil := "\x1b[2J\a\x00\u009b2J"
	r.Program.Command = []string{evil}
	c := &r.Sections[0].Causes[0]
	c.Function, c.Sentence, c.Title, c.Agreement = evil, evil, evil, evil
	c.Source[0].Text = evil
	r.Sections[0].EndsAt.Function = evil
	r.Notes[0].Text = evil
	for _, char := range textReport(t, r, TextOptions{All: true}) {
		if char != '\n' && (char < ' ' || char >= 0x7f && char < 0xa0) {
			t.Fatalf("control character %q in the report", char)
		}
	}
}

func TestEmptyReport(t *testing.T) {
	got := textReport(t, &Report{Program: Program{Threads: 1, Collector: "simulate"}}, TextOptions{})
	if !strings.Contains(got, "a single thread") {
		t.Error(got)
	}
	got = textReport(t, &Report{Program: Program{Threads: 4}}, TextOptions{})
	if !strings.Contains(got, "--section-end") {
		t.Error(got)
	}
}

func TestSpark(t *testing.T) {
	for _, test := range []struct {
		values []float64
		n      int
		want   string
	}{
		{nil, 4, ""},
		{[]float64{1}, 4, "▄"},
		{[]float64{5, 5, 5}, 4, "▄▄▄"},
		{[]float64{0, 7}, 4, "▁█"},
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, 8, "▁▂▃▄▅▆▇█"},
		{[]float64{0, 0, 8, 8}, 2, "▁█"},
	} {
		if got := spark(test.values, test.n); got != test.want {
			t.Errorf("spark(%v, %d) = %q, want %q", test.values, test.n, got, test.want)
		}
	}
}

func TestWrap(t *testing.T) {
	got := wrap("a bb ccc dddddddd e", 6)
	want := []string{"a bb", "ccc", "ddddd…", "e"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestBarWidth(t *testing.T) {
	for _, test := range []struct {
		ratio float64
		width int
	}{{0, 0}, {-1, 0}, {0.001, 1}, {0.5, 5}, {1, 10}, {7, 10}} {
		b, w := bar(test.ratio, 10)
		if w != test.width || columns(b) != w {
			t.Errorf("bar(%g) = %q, %d; want %d columns", test.ratio, b, w, test.width)
		}
	}
}

// What tells one place of a stripped library from another is the distance from its start.
func TestCutPlaces(t *testing.T) {
	for _, row := range []struct {
		place string
		n     int
		want  string
	}{
		{"short+0x12", 19, "short+0x12"},
		{"libSvtAv1Enc.so.1.4.1+0x9f12d", 19, "libSvtAv1E…+0x9f12d"},
		{"x265::WorkerThread::threadMain()+0x1d6", 19, "…threadMain+0x1d6"},
		{"a_file_with_a_long_name.cpp:1234", 19, "a_file_with_a…:1234"},
		{"std::a_function_that_has_no_end()+0x1d6", 19, "…a_function_…+0x1d6"},
		{"a::Rate::end(a::Frame*, b<int (*)(int)>) const+0xbe", 19, "a::Rate::end+0xbe"},
		{"a_longer_name::operator()(int, char**)+0xbe", 19, "…operator()+0xbe"},
		{"main+0xno number but a long text", 12, "main+0xno n…"},
	} {
		if got := cutPlace(row.place, row.n); got != row.want || columns(got) > row.n {
			t.Errorf("%s in %d columns: %q, want %q", row.place, row.n, got, row.want)
		}
	}
}
