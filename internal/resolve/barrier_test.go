package resolve

import (
	"fmt"
	"testing"

	"lime/internal/profile"
)

// barrierText is a barrier of a mutex and a condition: node 1 calls the function of nodes 2
// (broadcast) and 3 (wait), from which nodes 4 and 5 of the library are called. The frames of 2 and
// 3 and the end are filled in by the cases.
const barrierText = `lime-profile 1
file 0 path=own.c
function 0 name=thread
function 1 name=phases
function 2 name=libc
node 0 function=0
node 1 function=0 kind=call at=0:34:0:thread
node 2 function=1 kind=call %s
node 3 function=1 kind=call %s
node 4 function=2
node 5 function=2
section 0 kind=%s end-node=%d at=0:34:0:thread
thread 0
thread 1
instance section=0
part thread=0 arrive=5 exit=4 exit-stack=0,1,2
part thread=1 arrive=9 exit=5 exit-stack=0,1,3
`

func TestInlinedBarriers(t *testing.T) {
	const (
		broadcast = "at=0:15:3:bar at=0:25:2:phases"
		wait      = "at=0:18:4:bar at=0:25:2:phases"
	)
	for _, c := range []struct {
		name      string
		two, tree string
		kind      string
		end       int
		want      string
		trimmed   map[profile.NodeID]bool
	}{
		{"inlined", broadcast, wait, "built-barrier", 1, "[{0 25 2 0 phases}]", nil},
		{"inlined, place inside", broadcast, wait, "built-barrier", 3, "[{0 25 2 0 phases}]", nil},
		{"inlined twice deep", "at=0:1:1:low at=0:9:1:bar at=0:25:2:phases", wait, "built-barrier", 1, "[{0 25 2 0 phases}]", nil},
		{"one end at the line of the call", broadcast, "at=0:25:2:phases", "built-barrier", 1, "[{0 25 2 0 phases}]", nil},
		{"a function of its own", "at=0:15:3:phases", "at=0:18:4:phases", "built-barrier", 1, "[{0 34 0 0 thread}]", nil},
		{"two inlined calls", broadcast, "at=0:18:4:bar at=0:28:2:phases", "built-barrier", 1, "[{0 34 0 0 thread}]", nil},
		{"place in another function", broadcast, wait, "built-barrier", 4, "[{0 34 0 0 thread}]", nil},
		{"place further out", broadcast, wait, "built-barrier", 0, "[{0 34 0 0 thread}]", nil},
		{"a library's, inlined", "at=0:25:2:phases", "at=0:25:2:phases", "built-barrier", 1, "[{0 25 2 0 phases}]",
			map[profile.NodeID]bool{2: true, 3: true}},
		{"library code in a function of its own", "at=0:15:3:phases", "at=0:18:4:phases", "built-barrier", 1,
			"[{0 34 0 0 thread}]", map[profile.NodeID]bool{2: true, 3: true}},
		{"another kind", broadcast, wait, "barrier", 1, "[{0 34 0 0 thread}]", nil},
	} {
		p, err := profile.ParseText(fmt.Sprintf(barrierText, c.two, c.tree, c.kind, c.end))
		if err != nil {
			t.Fatal(err)
		}
		if err := inlinedBarriers(p, p.Tables(), c.trimmed); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(p.Tables().Sections[0].Frames); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestLibraryAroundThePlace has the section end at a thread library's call (node 0) although the
// program's own call (node 1) is open in all parts.
func TestLibraryAroundThePlace(t *testing.T) {
	for _, c := range []struct {
		outer, want string
	}{
		{"/rustc/0123/library/std/src/thread.rs", "1 [{1 25 0 0 work}]"},
		{"thread.c", "0 [{0 7 0 0 run}]"},
	} {
		p, err := profile.ParseText(fmt.Sprintf(`lime-profile 1
file 0 path=%s
file 1 path=own.rs
file 2 path=/rustc/0123/library/std/src/barrier.rs
node 0 kind=call addr=1 at=0:7::run
node 1 kind=call addr=2 last=3 at=1:25::work
node 2 kind=call at=2:9::wait
node 3 kind=call at=2:12::wait
section 0 kind=built-barrier end-node=0 at=0:7::run
thread 0
thread 1
instance section=0
part thread=0 arrive=5 exit=2 exit-stack=0,1,2
part thread=1 arrive=9 exit=3 exit-stack=0,1,3
`, c.outer))
		if err != nil {
			t.Fatal(err)
		}
		if err := inlinedBarriers(p, p.Tables(), nil); err != nil {
			t.Fatal(err)
		}
		s := p.Tables().Sections[0]
		if got := fmt.Sprint(s.EndNode, s.Frames); got != c.want {
			t.Errorf("%s: %s, want %s", c.outer, got, c.want)
		}
	}
}
