package report

import (
	"bytes"
	"strings"
	"testing"

	"lime/internal/analysis"
	"lime/internal/profile"
)

// recorded is a result as samples give it: with an effort and a balance point.
func recorded(advice string) *Report {
	res, tables := sample(4)
	at := func(line int, function string) analysis.Place {
		return analysis.Place{File: "src/lu.c", Line: line, Function: function}
	}
	res.Effort = &analysis.Effort{Width: 4, Work: 60e6, Overhead: 15e6, Idleness: 25e6, Limit: analysis.HighShare, Advice: advice,
		Of: analysis.EffortParts{Work: 0.6, Overhead: 0.14, Waiting: 0.26, Locks: 0.12}, Mostly: analysis.TermImbalance,
		Bounds:        analysis.Interval{Value: 0.14, Lo: 0.11, Hi: 0.17},
		OverheadShare: analysis.Interval{Value: 0.15, Lo: 0.12, Hi: 0.18}, IdlenessShare: analysis.Interval{Value: 0.25, Lo: 0.21, Hi: 0.29},
		Idle: []analysis.Charge{{Place: at(531, "lu"), Loop: true, Time: 20e6, Share: 0.8,
			Path: []analysis.Frame{{File: "src/lu.c", Line: 311, Function: "main"}, {File: "src/lu.c", Line: 531, Function: "lu"}}}},
		Overheads: []analysis.Charge{{Place: at(540, "lu"), Runtime: "OpenMP (libgomp)", Time: 14e6, Share: 0.93},
			{Runtime: "OpenMP (libgomp)", Time: 1e6, Share: 0.07}},
		LockWait: 20e6, Locks: []analysis.Charge{{Place: at(545, "lu"), Time: 20e6, Share: 1}}}
	b := &analysis.Balance{Context: analysis.Context{Place: at(520, "lu"), Kind: analysis.EventLoop},
		Parts: []analysis.BalancePart{{Context: analysis.Context{Place: at(531, "lu"), Kind: analysis.EventCall,
			Callee: "bmod"}, Share: 0.97, Times: []float64{1e6, 2e6, 3e6, 9e6}}}}
	for i := range 4 {
		b.Threads = append(b.Threads, analysis.BalanceThread{Thread: profile.ThreadID(i), Time: float64(i+1) * 1e6, Wait: float64(3-i) * 1e6})
	}
	res.Sections[0].Balance = b
	return Build(res, tables)
}

func TestEffortAndBalanceInText(t *testing.T) {
	var b bytes.Buffer
	if err := WriteText(&b, recorded(analysis.AdviceChange), TextOptions{}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	from := strings.Index(text, "Balance point")
	golden(t, "recorded.txt", []byte(text[from:strings.Index(text, "Over the instances")]+
		text[strings.Index(text, "━━ Effort"):strings.Index(text, "━━ Notes")]))
}

func TestEveryAdviceIsExplained(t *testing.T) {
	for _, advice := range []string{analysis.AdviceEffective, analysis.AdviceCoarsen, analysis.AdviceRefine, analysis.AdviceChange,
		analysis.AdviceLocks, analysis.AdviceOffCore, analysis.AdviceUnproved} {
		want := adviceTexts[advice]
		if advice == analysis.AdviceRefine {
			want = refineTexts[analysis.TermImbalance]
		}
		if r := recorded(advice); want == "" || !strings.Contains(r.Effort.Text, want) {
			t.Errorf("%s: %q", advice, r.Effort.Text)
		}
	}
	for _, term := range []string{analysis.TermImbalance, analysis.TermSerial, analysis.TermWait} {
		if refineTexts[term] == "" {
			t.Errorf("nothing is said of what is refined for %s", term)
		}
	}
}

// One term is told of once: the advice about locks, or what locks add to another.
func TestLocksAreToldOnce(t *testing.T) {
	for advice, want := range map[string]int{analysis.AdviceLocks: 1, analysis.AdviceRefine: 1, analysis.AdviceCoarsen: 1} {
		if text := recorded(advice).Effort.Text; strings.Count(text, "while they are held") != want {
			t.Errorf("%s: %s", advice, text)
		}
	}
}

func TestEffortAndBalanceOnThePage(t *testing.T) {
	page := string(htmlReport(t, recorded(analysis.AdviceChange)))
	for _, want := range []string{"Effort of 4 threads", "loop at lu.c:531 in lu",
		"the runtime&#39;s own threads: OpenMP (libgomp)", "The balance point",
		"97.0 % of the unevenness: call of bmod at lu.c:531", "thread 3: 9 M"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
