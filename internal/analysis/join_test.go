package analysis

import (
	"math"
	"testing"

	"lime/internal/profile"
)

// hardwareCause is a cause with a share, at a line, of a kind of the table below.
func hardwareCause(line int32, kind int32, event string, score, share float64) Cause {
	c := Cause{Family: FamilyHardware, Event: event, Score: score, Share: &share, LedgerTime: 100 * share, TimeToWin: 100 * share,
		key: causeKey{lineKey: lineKey{line: line}, hw: true, kind: kind}}
	c.Line = int(line)
	return c
}

// The misses of one line in several levels are one cause; those of another line, of another kind of
// access, and control flow are not.
func TestJoin(t *testing.T) {
	tab := &profile.Tables{Kinds: []profile.EventKind{
		{Name: "l1d-miss"}, {Name: "l2-miss", Superior: "l1d-miss"}, {Name: "llc-miss", Superior: "l2-miss"}, {Name: "tlb-miss"},
	}}
	sec := &Section{HasLedger: true, TimeToWin: 100, WinShare: 0.5}
	sec.Causes = []Cause{
		hardwareCause(7, 2, "llc-miss", 0, 0.4),
		{Family: FamilyControl, Event: EventLoop, Share: new(float64), key: causeKey{lineKey: lineKey{line: 7}}},
		hardwareCause(7, 3, "tlb-miss", 0.3, 0.2), hardwareCause(7, 1, "l2-miss", 0.9, 0.1), hardwareCause(8, 0, "l1d-miss", 0.1, 0.1),
	}
	*sec.Causes[1].Share = 0.45
	sec.Causes[3].Rivals = []Rival{{Place: Place{Line: 7}, Event: "llc-miss"}, {Place: Place{Line: 9}, Event: "llc-miss"}}
	sec.Candidates = []Cause{hardwareCause(7, 0, "l1d-miss", 0.95, 0.005), hardwareCause(9, 0, "l1d-miss", 0.8, 0.005)}
	sec.Candidates[0].Agreement = "the account charges it next to nothing"
	sec.Candidates[0].Rivals = sec.Causes[3].Rivals
	(&runner{tab: tab}).join(sec)

	if len(sec.Causes) != 4 || len(sec.Candidates) != 1 || sec.Candidates[0].Line != 9 {
		t.Fatalf("causes %+v, candidates %+v", sec.Causes, sec.Candidates)
	}
	c := sec.Causes[0]
	if c.Rank != 1 || c.Event != "llc-miss" || c.Score != 0.95 || c.Agreement != "" || len(c.Parts) != 3 {
		t.Errorf("the joined cause: %+v", c)
	}
	sum := 0.0
	for _, p := range c.Parts {
		sum += *p.Share
	}
	if math.Abs(sum-*c.Share) > 1e-12 || math.Abs(*c.Share-0.505) > 1e-12 || math.Abs(c.TimeToWin-50.5) > 1e-9 ||
		math.Abs(c.WinShare-0.2525) > 1e-12 {
		t.Errorf("share %v of parts %v, to win %v, %v", *c.Share, sum, c.TimeToWin, c.WinShare)
	}
	if len(c.Rivals) != 1 || c.Rivals[0].Line != 9 {
		t.Errorf("rivals %+v: the same access is none", c.Rivals)
	}
	if sec.Causes[1].Family != FamilyControl || len(sec.Causes[1].Parts) != 0 {
		t.Errorf("second: %+v", sec.Causes[1])
	}
}
