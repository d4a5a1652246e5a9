package report

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lime/internal/analysis"
	"lime/internal/whatif"
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

// evil is text that would steer a terminal.
const evil = "\x1b[2J\a\x00\u009b2J"

// printable checks that no control character has passed.
func printable(t *testing.T, text string) {
	t.Helper()
	if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0) }); i >= 0 {
		t.Fatalf("control character in %q", text[i:min(len(text), i+20)])
	}
}

// What a profile names may be anything, whatever prints it.
func TestViewsAndComparisonsNeverPassControlCharacters(t *testing.T) {
	p := viewProfile()
	for i := range p.Nodes {
		p.Nodes[i].Frames[0].Function = evil
	}
	a, b := Build(sample(8)), Build(sample(8))
	b.Sections[0].EndsAt.Function, b.Program.Command = evil, []string{evil}
	b.Sections[0].Causes[0].File = evil
	place := analysis.Place{File: evil, Line: 3, Function: evil}
	c := &whatif.Comparison{Change: []string{evil}, Why: evil, ClockUnit: evil, Missed: 1,
		Sections: []whatif.Section{{Kind: "barrier", EndsAt: place, LostBefore: 1, Said: &whatif.Said{}},
			{EndsAt: analysis.Place{Function: evil}, LostBefore: 1}}}
	note := &Annotation{Files: []AnnotatedFile{{Path: evil,
		Lines: []AnnotatedLine{{Line: 1, Text: evil, Known: true, Events: []LineEvent{{Kind: evil}}}}}}}
	for name, write := range map[string]func(io.Writer) error{
		"tree":       func(w io.Writer) error { return WriteView(w, p, ViewTree) },
		"flat":       func(w io.Writer) error { return WriteView(w, p, ViewFlat) },
		"diff":       func(w io.Writer) error { return WriteDiffText(w, Compare(a, b), TextOptions{All: true}) },
		"what if":    func(w io.Writer) error { return WhatIf(w, c, true) },
		"annotation": func(w io.Writer) error { return WriteAnnotation(w, note, TextOptions{All: true}) },
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := write(&out); err != nil {
				t.Fatal(err)
			}
			printable(t, out.String())
		})
	}
}

func TestTextNeverPassesControlCharacters(t *testing.T) {
	r := Build(sample(8))
	r.Program.Command = []string{evil}
	c := &r.Sections[0].Causes[0]
	c.Function, c.Sentence, c.Title, c.Agreement = evil, evil, evil, evil
	c.Source[0].Text = evil
	r.Sections[0].EndsAt.Function = evil
	r.Notes[0].Text = evil
	printable(t, textReport(t, r, TextOptions{All: true}))
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
		{[]float64{0, 8, 0, 8, 0, 8, 0, 8, 8}, 2, "▄▇"},
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
		{"std::thread::_State_impl<std::thread::_Invoker<int> >::_M_run()+0x163", 35, "…_State_impl<…>::_M_run+0x163"},
		{"<rayon::Worker<T> as core::Run>::run+0x9", 20, "<…>::run+0x9"},
		{"main+0xno number but a long text", 12, "main+0xno n…"},
	} {
		if got := cutPlace(row.place, row.n); got != row.want || columns(got) > row.n {
			t.Errorf("%s in %d columns: %q, want %q", row.place, row.n, got, row.want)
		}
	}
}

// What ends with the program has no place; the report says so in words.
func TestEndOfTheProgram(t *testing.T) {
	for _, c := range []struct {
		p           Place
		long, short string
	}{
		{Place{Address: "0x0"}, "the end of the program", "the end of the program"},
		{Place{File: "/src/lu.c", Line: 9, Function: "main"}, "lu.c:9 in main", "lu.c:9"},
		{Place{Address: "0x1234"}, "0x1234", "0x1234"},
	} {
		if long, short := c.p.End(), c.p.EndShort(); long != c.long || short != c.short {
			t.Errorf("%+v: %q and %q, want %q and %q", c.p, long, short, c.long, c.short)
		}
	}
}

// A run that lime was killed in at once has nothing to tell, and says so.
func TestCutOffAtOnce(t *testing.T) {
	text := textReport(t, &Report{Program: Program{Command: []string{"app"}, Collector: "record", Model: "native",
		EndState: "running"}}, TextOptions{})
	for _, want := range []string{"Recorded natively. The run was cut off", "Nothing was measured"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not hold %q:\n%s", want, text)
		}
	}
}

// A recorded cause's time is printed as time, beside how long the run really took.
func TestRecordedTimes(t *testing.T) {
	r := &Report{Program: Program{Command: []string{"app"}, Collector: "record", Model: "native", ClockUnit: "ns",
		CountLabel: "sampled", TimeLabel: "measured", Threads: 2},
		Notes: []Note{{Code: "cpu-time", Text: "the times are those on a CPU; on the wall the run took 3 s",
			Times: 1}, {Code: "work-elsewhere", Text: "others did it", Times: 1}},
		Sections: []Section{{Kind: "exit", Matters: true, EndsAt: Place{Address: "0x0"}, Instances: 3, LostShare: 0.5,
			Causes: []Cause{{Rank: 1, Event: "lock-wait", Title: "lock wait",
				Place: Place{File: "a.c", Line: 7}, Summed: true, CountTime: true,
				Counts: []ThreadCount{{Thread: 0, Time: 9e8, Count: 811e6}, {Thread: 1, Time: 1e8}}}}}}}
	text := textReport(t, r, TextOptions{})
	for _, want := range []string{"\nThe times are those on a CPU; on the wall the run took 3 s.\nCaution: Others did " +
		"it.\n", "1 the end of the program", "by thread, all instances:", "here     811 ms     0 ns"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not hold %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "unknown place") || strings.Count(text, "on the wall") != 1 || strings.Count(text, "thers did it") != 1 {
		t.Errorf("the report:\n%s", text)
	}
}
