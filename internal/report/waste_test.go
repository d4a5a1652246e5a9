package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"lime/internal/profile"
)

// wasteProfile is a run of two threads: one clears a and fills it at once, called by two callers;
// both load the same things again.
const wasteProfile = `lime-profile 1
file 0 path=src/fill.c
line file=0 n=12 text="	memset(a, 0, sizeof a);"
line file=0 n=20 text="	a[i] = f(i);"
line file=0 n=31 text="	while (strcmp(table[k].name, name) != 0) k++; /* a search from the start, in a line so long that it must be cut somewhere */"
image 0 path=/home/u/app
image 1 path=/usr/lib/libc.so.6
function 0 name=clear image=0
function 1 name=fill image=0
function 2 name=find image=0
function 3 name=__libc_start_main image=1
node 0 function=0 image=0 at=0:12::clear
node 1 function=1 image=0 at=0:20::fill
node 2 function=2 image=0 at=0:31::find
node 3 function=1 image=0 kind=call at=0:19::fill
node 4 function=3 image=1 kind=call
thread 0 name=main
thread 1 name=worker parent=0
path 0 node=4
path 1 parent=0 node=3
waste-total kind=dead-store thread=0 bytes=800000 of=2000000 low=0.4 high=0.4
waste-total kind=dead-store thread=1 of=1000000
waste-total kind=silent-load thread=0 bytes=1000000 of=4000000 low=0.25 high=0.25
waste-total kind=silent-load thread=1 bytes=500000 of=1000000 low=0.5 high=0.5
waste-pair kind=dead-store thread=0 first-path=1 first-node=0 first=0x401000 first-at=0:12::clear second-path=0 second-node=1 second=0x401100 second-at=0:20::fill bytes=800000 n=100000 data=a+0x0
waste-pair kind=silent-load thread=0 first-path=0 first-node=2 first=0x401200 first-at=0:31::find second-path=0 second-node=2 second=0x401200 second-at=0:31::find bytes=1000000 n=125000 data="memory allocated at fill.c:7"
waste-pair kind=silent-load thread=1 first-path=0 first-node=2 first=0x401200 first-at=0:31::find second-path=0 second-node=2 second=0x401204 second-at=0:31::find bytes=500000 n=62500 data="memory allocated at fill.c:7"
`

func wasteReport(t *testing.T) *Report {
	t.Helper()
	p, err := profile.ParseText(wasteProfile)
	if err != nil {
		t.Fatal(err)
	}
	r := Build(sample(2))
	r.Waste = wasteOf(p.Tables())
	return r
}

func TestWasteText(t *testing.T) {
	text := textReport(t, wasteReport(t), TextOptions{})
	_, text, ok := strings.Cut(text, "━━ "+wasteTitle)
	if !ok {
		t.Fatal("no part on waste")
	}
	text, _, _ = strings.Cut(text, "━━ Notes")
	golden(t, "waste.txt", []byte(text))
	for _, line := range strings.Split(text, "\n")[1:] {
		if columns(line) > Width {
			t.Errorf("%d columns: %s", columns(line), line)
		}
	}
}

// Lines have the reason that holds for most of the bytes that are wasted there, in whichever order the
// threads come: a pair of which nothing is known takes it from nobody.
func TestWasteReasons(t *testing.T) {
	type part struct {
		why   string
		bytes uint64
	}
	for _, c := range []struct {
		parts []part
		want  string
	}{
		{[]part{{"clear", 60}, {"", 40}}, "clear"},
		{[]part{{"clear", 30}, {"clear", 30}, {"", 40}}, "clear"},
		{[]part{{"clear", 60}, {"spill", 25}, {"", 15}}, "clear"},
		{[]part{{"clear", 50}, {"spill", 50}}, ""},
		{[]part{{"clear", 40}, {"spill", 30}, {"", 30}}, ""},
		{[]part{{"clear", 10}, {"", 90}}, ""},
		{[]part{{"", 10}, {"", 90}}, ""},
	} {
		for range c.parts {
			first, rest := c.parts[0], c.parts[1:]
			c.parts = append(slices.Clone(rest), first)
			var tables profile.Tables
			for i, x := range c.parts {
				tables.WastePairs = append(tables.WastePairs, profile.WastePair{Kind: "dead-store",
					Thread: profile.ThreadID(i), Bytes: x.bytes, Why: x.why,
					First:  profile.WasteSide{Path: profile.None, Node: profile.None},
					Second: profile.WasteSide{Path: profile.None, Node: profile.None}})
			}
			var w Waste
			w.pairs(&tables)
			if len(w.Pairs) != 1 || w.Pairs[0].Why != c.want || w.Pairs[0].Threads != len(c.parts) {
				t.Errorf("%v: %+v, not one pair for %q", c.parts, w.Pairs, c.want)
			}
		}
	}
}

// The names that other programs rely on, spelled out.
func TestWasteJSON(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, wasteReport(t)); err != nil {
		t.Fatal(err)
	}
	type place struct {
		File, Function string
		Line           int
		Path           []Frame
	}
	var got struct {
		Waste struct {
			Fractions map[string]float64
			Pairs     []struct {
				Kind, Data    string
				Share         float64
				Bytes         uint64
				First, Second place
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if f := got.Waste.Fractions; f["dead-store"] != 0.8/3 || f["silent-load"] != 0.3 {
		t.Errorf("fractions %v", f)
	}
	if len(got.Waste.Pairs) != 2 {
		t.Fatalf("%d pairs", len(got.Waste.Pairs))
	}
	loads, dead := got.Waste.Pairs[0], got.Waste.Pairs[1]
	if loads.Kind != "silent-load" || loads.Bytes != 1500000 || loads.Share != 0.3 {
		t.Errorf("threads are not put together: %+v", loads)
	}
	if dead.First.Line != 12 || dead.Second.Function != "fill" || len(dead.First.Path) != 1 ||
		dead.First.Path[0].Line != 19 || len(dead.Second.Path) != 0 || dead.Data != "a+0x0" {
		t.Errorf("pair %+v", dead)
	}
}

// A page with waste is whole, and one without says nothing of it.
func TestWasteHTML(t *testing.T) {
	var with, without bytes.Buffer
	if err := WriteHTML(&with, wasteReport(t)); err != nil {
		t.Fatal(err)
	}
	if err := WriteHTML(&without, Build(sample(2))); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{wasteTitle, "fill.c:12 in clear", "memset(a, 0, sizeof a);", "26.7 %"} {
		if !strings.Contains(with.String(), words) {
			t.Errorf("the page lacks %q", words)
		}
	}
	if strings.Contains(without.String(), wasteTitle) {
		t.Error("a page on waste that nobody looked for")
	}
}
