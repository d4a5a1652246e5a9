package ranks

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lime/internal/profile"
)

// A rank that forks regions on its way to a meeting: block 2 of main calls the runtime's block 3,
// which leads, uncounted, to its block 4; that calls the body, block 5, and goes on in block 7;
// main goes on in block 6, right behind block 2. Its part has a way from its beginning to its end.
func TestWayThroughRegions(t *testing.T) {
	rank := func(rank, regions int) string {
		s := rankText(rank, 2, 0x5000) + `function 0 name=main image=0 entry=0x5100
function 1 name=fork image=0 entry=0x5300
function 2 name=body image=0 entry=0x5400
node 2 kind=call image=0 function=0 addr=0x5200 size=8 instrs=2 last=0x5204
node 3 kind=call image=0 function=1 addr=0x5300 size=8 instrs=2 last=0x5304
node 4 kind=call-ind image=0 function=1 addr=0x5340 size=8 instrs=2 last=0x5344
node 5 kind=ret image=0 function=2 addr=0x5400 size=8 instrs=2 last=0x5404
node 6 kind=jump image=0 function=0 addr=0x5208 size=8 instrs=2 last=0x520c
node 7 kind=ret image=0 function=1 addr=0x5348 size=8 instrs=2 last=0x534c
edge 2 kind=call from=2 to=3
edge 3 kind=end from=5
edge 4 kind=return from=4 to=7
edge 5 kind=jump from=6 to=2
edge 6 kind=jump from=6 to=1
section 2 kind=region-end end=0x5204 end-node=2
section 3 kind=serial end=0x5204 end-node=2
thread 1 name=app parent=0
`
		clock := 0
		for i := range regions {
			enter := "entry=2"
			if i > 0 {
				enter = "entry=6"
			}
			s += fmt.Sprintf("instance section=3\npart thread=0 start=%d arrive=%d %s exit=2 entry-stack= "+
				"exit-stack=2\nedges 2 1\n", clock, clock+10, enter)
			if i > 0 {
				s += "edges 5 1\n"
			}
			s += fmt.Sprintf("instance section=2\npart thread=0 start=%d arrive=%d entry=5 exit=4 entry-stack=2,4 "+
				"exit-stack=2\n", clock+10, clock+110)
			s += fmt.Sprintf("part thread=1 start=%d arrive=%d\nedges 3 1 1\nedges 4 1\n", clock+10, clock+110)
			clock += 110
		}
		s += fmt.Sprintf("instance section=0 meeting=world:0\npart thread=0 start=%d arrive=%d entry=6 exit=1 "+
			"entry-stack= exit-stack=1\nedges 6 1\n", clock, clock+10)
		return s
	}
	dir := t.TempDir()
	p := merge(t, put(t, FileOf(dir, 0), rank(0, 1)), put(t, FileOf(dir, 1), rank(1, 3)))
	in, err := p.Instance(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][2]uint64{}
	flow := map[profile.NodeID][2]int64{}
	for _, c := range in.Edges {
		e := p.Tables().Edges[c.Row]
		k := fmt.Sprintf("%s %d-%d", e.Kind, e.From, e.To)
		n := got[k]
		n[c.Part] = c.N
		got[k] = n
		if e.Kind == profile.EdgeReturn { // matched with the call
			continue
		}
		if e.To >= 0 {
			f := flow[e.To]
			f[c.Part] += int64(c.N)
			flow[e.To] = f
		}
		if e.From >= 0 {
			f := flow[e.From]
			f[c.Part] -= int64(c.N)
			flow[e.From] = f
		}
	}
	for want, n := range map[string][2]uint64{
		"call 2-3": {1, 3}, "jump 3-4": {1, 3}, "call-ind 4-5": {1, 3}, "end 5--1": {1, 3}, "return 4-7": {1, 3}, "end 7--1": {1, 3},
		"return 2-6": {1, 3}, "jump 6-2": {0, 2}, "jump 6-1": {1, 1},
	} {
		if got[want] != n {
			t.Errorf("%s: %v, want %v", want, got[want], n)
		}
		delete(got, want)
	}
	if len(got) > 0 {
		t.Errorf("what is not in the program: %v", got)
	}
	for i, q := range in.Parts {
		if q.Entry != 2 || q.Exit != 1 || q.EntryStack == nil || !slices.Equal(q.ExitStack, []profile.NodeID{1}) {
			t.Errorf("part %d: %+v", i, q)
		}
	}
	// What is no such way stays open: another stack, a continuation elsewhere.
	for _, change := range [][2]string{{"entry-stack=2,4", "entry-stack=6,4"}, {"addr=0x5208 size=8", "addr=0x5210 size=8"}} {
		dir := t.TempDir()
		text := strings.ReplaceAll(rank(1, 1), change[0], change[1])
		p := merge(t, put(t, FileOf(dir, 0), rank(0, 1)), put(t, FileOf(dir, 1), text))
		in, _ := p.Instance(0, 0)
		for _, c := range in.Edges {
			if e := p.Tables().Edges[c.Row]; c.Part == 1 &&
				(change[1] == "entry-stack=6,4" && e.Kind == profile.EdgeCallInd || change[1][0] == 'a' &&
					e.Kind == profile.EdgeReturn && e.From == 2) {
				t.Errorf("%s: %+v", change[1], e)
			}
		}
	}
}
