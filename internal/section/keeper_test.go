package section

import (
	"fmt"
	"slices"
	"testing"

	"lime/internal/unit"
)

// Who deals work out and waits for it takes no part, however long it had no core before it came to
// wait, and what it does next comes after the work. Who works as long takes part.
func TestKeeperWithoutACore(t *testing.T) {
	const ops = `
		0 0 start
		0 1 start of=0
		0 2 start of=0
		2 1 wait obj=9 at=50:501
		3 2 wait obj=9 at=50:501
		10 0 release obj=9 woken=1,2 at=60:100
		11 1 go
		11 2 go
		%d 0 wait obj=8 at=60:601
		80 1 wait obj=9 at=50:501
		90 2 release obj=8 woken=0 at=50:502
		91 0 go
		92 2 wait obj=9 at=50:501
		99 0 exit`
	for _, row := range []struct {
		comes int
		ran   unit.Cycles // of what the keeper did before it waited; 0: nobody knows
		kept  bool
	}{{12, 0, true}, {70, 0, false}, {70, 2, true}, {70, 60, false}} {
		var out []Instance
		r := New(func(in Instance) { out = append(out, in) })
		if row.ran > 0 {
			r.Ran = func(span any) unit.Cycles {
				if span == fmt.Sprintf("0@%d", row.comes) {
					return row.ran
				}
				return 80
			}
		}
		for _, l := range lines(fmt.Sprintf(ops, row.comes)) {
			if err := r.Feed(parseOp(t, l)); err != nil {
				t.Fatalf("%q: %v", l, err)
			}
		}
		r.Close(99)
		i := slices.IndexFunc(out, func(in Instance) bool { return in.Place == 601 })
		if i < 0 {
			t.Fatalf("%+v: no section ends where the keeper waits: %v", row, out)
		}
		takesPart := slices.ContainsFunc(out[i].Parts, func(p Part) bool { return p.Thread == 0 })
		if takesPart == row.kept || slices.Contains(out[i].Awaiting, 0) != row.kept {
			t.Errorf("%+v: %s, awaited by %v", row, printInstance(out[i]), out[i].Awaiting)
		}
	}
}
