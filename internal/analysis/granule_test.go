package analysis

import (
	"testing"

	"lime/internal/ledger"
	"lime/internal/profile"
)

// Threads that are late because they waited for one another are not as even as their pieces of work allow, though what is lost is less
// than a piece.
func TestWaitsAreNoGranule(t *testing.T) {
	tab := &profile.Tables{Nodes: make([]profile.Node, 2), Edges: []profile.Edge{{From: 0, To: 1, Kind: profile.EdgeTaken}, {From: 0, To: 0, Kind: profile.EdgeFall}}}
	r := &runner{tab: tab, prog: newProgram(tab)}
	for kind, keeps := range map[ledger.Kind]bool{ledger.LockWait: true, ledger.Loop: false} {
		acc := &ledger.Account{Exact: true, Total: 10, Instances: make([]ledger.InstanceTotal, 1), Rows: []ledger.Row{{Kind: kind, Share: 0.8}, {Kind: ledger.Branch, Share: 0.2}}}
		acc.Tests = []ledger.LoopTest{{Round: 50, Stayed: 16, Left: 8}}
		sec := &Section{Ledger: acc, HasLedger: true, Imbalance: 0.02, ThreadsMax: 8, Causes: make([]Cause, 1), Threads: []ThreadTotal{{Time: 800}}}
		r.evenButForEnds(sec)
		if sec.Balanced == keeps || len(sec.Causes) == 1 != keeps || sec.Granule == nil != keeps {
			t.Errorf("%s: %+v", kind, sec)
		}
	}
}
