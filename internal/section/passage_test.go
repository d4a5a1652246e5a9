package section

import (
	"fmt"
	"strings"
	"testing"
)

// A function that turns out to be a barrier at its second round: its first round ended a section,
// too.
func TestPassages(t *testing.T) {
	for _, c := range []struct{ name, ops, want string }{
		{"known when the second round begins", `
			0 0 start
			0 1 start of=0
			10 0 pass obj=7 at=1:100
			30 1 pass obj=7 at=1:100
			31 1 passed obj=7
			33 0 passed obj=7
			40 1 known obj=7
			40 1 arrive obj=7 at=1:100
			50 0 arrive obj=7 at=1:100
			51 0 leave obj=7
			52 1 leave obj=7`, `
			built-barrier @100 0[0-10>33] 1[0-30>31]
			barrier @100 0[33-50>51] 1[31-40>52]`},
		{"known while one is inside still", `
			0 0 start
			0 1 start of=0
			10 0 pass obj=7 at=1:100
			30 1 pass obj=7 at=1:100
			31 1 passed obj=7
			40 1 known obj=7
			40 1 arrive obj=7 at=1:100
			43 0 leave obj=7
			50 0 arrive obj=7 at=1:100
			51 0 leave obj=7
			52 1 leave obj=7`, `
			built-barrier @100 0[0-10>43] 1[0-30>31]
			barrier @100 0[43-50>51] 1[31-40>52]`},
		{"two by turns, known together", `
			0 0 start
			0 1 start of=0
			10 0 pass obj=7 at=1:100
			30 1 pass obj=7 at=1:100
			31 1 passed obj=7
			33 0 passed obj=7
			40 1 pass obj=8 at=1:200
			50 0 pass obj=8 at=1:200
			51 0 passed obj=8
			52 1 passed obj=8
			60 1 known obj=7
			60 1 known obj=8
			60 1 arrive obj=7 at=1:100
			70 0 arrive obj=7 at=1:100
			71 0 leave obj=7
			72 1 leave obj=7`, `
			built-barrier @100 0[0-10>33] 1[0-30>31]
			built-barrier @200 0[33-50>51] 1[31-40>52]
			barrier @100 0[51-70>71] 1[52-60>72]`},
		{"none after all: all stays in one part", `
			0 0 start
			0 1 start of=0
			10 0 pass obj=7 at=1:100
			20 0 passed obj=7
			30 1 pass obj=7 at=1:100
			31 1 passed obj=7
			60 0 exit at=1:9
			60 1 exit at=1:9`, `
			exit @9 0[0-60>60] 1[0-60>60]`},
		{"one has ended another section meanwhile", `
			0 0 start
			0 1 start of=0
			0 2 start of=0
			10 0 pass obj=7 at=1:100
			10 1 pass obj=7 at=1:100
			10 2 pass obj=7 at=1:100
			11 0 passed obj=7
			11 1 passed obj=7
			11 2 passed obj=7
			20 2 arrive obj=3 at=1:300
			20 2 leave obj=3
			40 1 known obj=7`, `
			serial @300 2[0-20>20]
			built-barrier @100 0[0-10>11] 1[0-10>11]`},
	} {
		var got []string
		for _, in := range recognise(t, c.ops) {
			if in.Kind != Tail || strings.Contains(c.want, "exit") {
				got = append(got, printInstance(in))
			}
		}
		if want := lines(c.want); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// What a thread did inside of the barrier belongs to no section.
func TestPassageSpans(t *testing.T) {
	in := recognise(t, `
		0 0 start
		0 1 start of=0
		10 0 pass obj=7 at=1:100
		30 1 pass obj=7 at=1:100
		31 1 passed obj=7
		33 0 passed obj=7
		40 1 known obj=7
		60 0 exit at=1:9
		60 1 exit at=1:9`)
	if len(in) != 2 || fmt.Sprint(in[0].Parts[0].Spans, in[1].Parts[0].Spans) != "[0@10] [0@60]" {
		t.Errorf("%v", in)
	}
}
