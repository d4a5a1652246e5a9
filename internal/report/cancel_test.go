package report

import (
	"encoding/json"
	"strings"
	"testing"

	"lime/internal/analysis"
	"lime/internal/ledger"
)

// TestAnAccountThatCancels has two rows a thousand times the imbalance, of opposite sign: no share
// is told, the times are.
func TestAnAccountThatCancels(t *testing.T) {
	row := func(line int32, cycles float64) ledger.Row {
		return ledger.Row{Kind: ledger.Branch, Place: ledger.Place{File: "a.c", Line: line, Node: -1}, Cycles: cycles,
			Share: cycles / 100, Threads: []float64{-cycles, cycles}}
	}
	share := 1000.5
	s := &analysis.Section{ThreadsMin: 2, ThreadsMax: 2, InstanceCount: 1, Imbalance: 0.01, LostTime: 100,
		TimeToWin: 100, Time: 1e4, HasLedger: true, Cancels: true, Matters: true,
		Ledger: &ledger.Account{Total: 100, Positive: 100_050, Negative: -99_950, Exact: true,
			Rows: []ledger.Row{row(7, 100_050), row(9, -99_950)}, Threads: nil},
		Causes: []analysis.Cause{{Rank: 1, Event: "branch", Title: "branch", Important: true, Share: &share,
			LedgerTime: 100_050, Place: analysis.Place{File: "a.c", Line: 7}}}}
	b := &builder{}
	r := &Report{Sections: []Section{b.section(s)}, Program: Program{ClockUnit: "instructions"}}
	text, err := json.Marshal(r.Sections[0])
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	p := newPrinter(&out, TextOptions{})
	p.ledger(r, &r.Sections[0])
	p.causeHead(&r.Sections[0].Causes[0])
	p.w.Flush()
	for name, said := range map[string]string{"json": string(text), "text": out.String()} {
		for _, share := range []string{"1000.5", "100050.0 %", "99950.0 %"} {
			if strings.Contains(strings.ReplaceAll(said, "100050", ""), share) {
				t.Errorf("%s tells the share %s: %s", name, share, said)
			}
		}
	}
	if !strings.Contains(string(text), `"share_kind":"none"`) || !strings.Contains(string(text), `"cancels":true`) {
		t.Errorf("JSON does not say that shares are missing: %s", text)
	}
	if !strings.Contains(out.String(), "adds 100 k") {
		t.Errorf("the head does not tell the time: %s", out.String())
	}
}
