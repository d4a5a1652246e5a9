package threads

import (
	"testing"

	"lime/internal/collect/mpi"
	"lime/internal/section"
)

// A call ends as what it has turned out to be at its return, which its beginning need not tell: a
// meeting that has a name of its own, or a wait for work.
func TestEndOfCall(t *testing.T) {
	var m Meetings
	first, second := m.Next(), m.Next()
	if first == second || first&Meeting == 0 {
		t.Errorf("meetings %#x and %#x", first, second)
	}
	for _, row := range []struct {
		call   mpi.Call
		kind   section.OpKind
		object uint64
		idle   bool
	}{
		{mpi.Call{Meets: true}, section.OpLeave, second, false},
		{mpi.Call{Waits: true}, section.OpWaitEnd, 0, true},
		{mpi.Call{Waits: true, Polls: true, Found: true}, section.OpWaitEnd, 0, true},
	} {
		op := EndOfCall(&row.call, 5, second, 90)
		if op.Kind != row.kind || op.Object != row.object || op.Idle != row.idle || op.Thread != 5 || op.At != 90 ||
			op.Other != section.NoThread {
			t.Errorf("%+v: %+v", row.call, op)
		}
	}
}
