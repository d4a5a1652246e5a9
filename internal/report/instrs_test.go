package report

import (
	"bytes"
	"strings"
	"testing"

	"lime/internal/profile"
)

// What became of the instructions is told for all threads together, in parts that add up.
func TestInstructions(t *testing.T) {
	x := instructions(&profile.Tables{Accounts: []profile.Accounted{
		{Thread: 0, What: profile.Executed, Instrs: 600}, {Thread: 0, What: profile.InSections, Instrs: 600},
		{Thread: 1, What: profile.Executed, Instrs: 400}, {Thread: 1, What: profile.InSections, Instrs: 100},
		{Thread: 1, What: profile.OutLoop, Instrs: 300},
	}})
	sum := uint64(0)
	for _, w := range x.Went {
		sum += w.Instrs
	}
	if x.Executed != 1000 || sum != 1000 || len(x.Went) != 2 {
		t.Errorf("got %+v", x)
	}
	var b bytes.Buffer
	p := newPrinter(&b, TextOptions{})
	p.instructions(x)
	p.instructions(instructions(&profile.Tables{}))
	if err := p.done(); err != nil || !strings.Contains(b.String(), "30.0 %      300  left out: rounds of loops") ||
		strings.Count(b.String(), "executed") != 1 {
		t.Errorf("%v, printed:\n%s", err, &b)
	}
}
