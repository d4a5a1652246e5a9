package resolve

import (
	"fmt"
	"testing"

	"lime/internal/profile"
)

// loopText is a function with a loop (blocks 1 to 3) around an inlined call with a loop of its own
// (block 2). The outer loop's test has the place of what was inlined. Block 4 is a jump into block
// 1 and all before it.
const loopText = `lime-profile 1
file 0 path=own.c
image 0 path=own lo=0 hi=0x1000
function 0 image=0 name=work entry=0x10 file=0
node 0 image=0 function=0 addr=0x10 last=0x18 kind=cond
node 1 image=0 function=0 addr=0x30 last=0x38 kind=fall
node 2 image=0 function=0 addr=0x40 last=0x48 kind=cond
node 3 image=0 function=0 addr=0x50 last=0x58 kind=cond
node 4 image=0 function=0 addr=0x20 last=0x38 kind=fall
node 5 image=0 function=0 addr=0x60 last=0x68 kind=ret
edge 0 from=0 to=1 kind=fall
edge 1 from=0 to=4 kind=taken
edge 2 from=1 to=2 kind=fall
edge 3 from=4 to=2 kind=fall
edge 4 from=2 to=2 kind=taken
edge 5 from=2 to=3 kind=fall
edge 6 from=3 to=1 kind=taken
edge 7 from=3 to=5 kind=fall
`

func TestOuterLoops(t *testing.T) {
	outer, inner := profile.Frame{Line: 14, Function: "work"}, profile.Frame{Line: 9, Function: "kernel"}
	inlined := []profile.Frame{inner, outer}
	for _, c := range []struct {
		name  string
		entry uint64
		first []profile.Frame // of block 1
		want  string
	}{
		{"begins in the loop", 0x30, []profile.Frame{outer}, "[{0 14 0 0 work}]"},
		{"begins before it", 0x28, []profile.Frame{outer}, "[{0 9 0 0 kernel} {0 14 0 0 work}]"},
		{"not said", 0, []profile.Frame{outer}, "[{0 9 0 0 kernel} {0 14 0 0 work}]"},
		{"may begin with the loop", 0x30, inlined, "[{0 9 0 0 kernel} {0 14 0 0 work}]"},
	} {
		p, err := profile.ParseText(loopText)
		if err != nil {
			t.Fatal(err)
		}
		tab := p.Tables()
		r := newResolver(p.Meta(), tab, Options{})
		for i := range tab.Nodes {
			n := &tab.Nodes[i]
			n.Frames, n.First = inlined, inlined
			r.places[placeKey{n.Image, n.LastAddr}] = location{frames: inlined, entries: []uint64{c.entry, 0}}
		}
		tab.Nodes[1].First = c.first
		r.outerLoops()
		if got := fmt.Sprint(tab.Nodes[3].Frames); got != c.want {
			t.Errorf("%s: the outer loop's test is at %s, want %s", c.name, got, c.want)
		}
		if got := len(tab.Nodes[2].Frames); got != 2 {
			t.Errorf("%s: the inner loop's test has %d frames, want 2", c.name, got)
		}
	}
}
