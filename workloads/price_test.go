package workloads

import (
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"lime/internal/testenv"
)

// priced is a report of a run on a described machine, as far as the tests read it.
type priced struct {
	Sections []struct {
		TimeToWin float64 `json:"time_to_win"`
		LostTime  float64 `json:"lost_time"`
		Ledger    *struct {
			account
			Rows []priceRow
		}
	}
}

type priceRow struct {
	place
	Kind, Event string
	Share, Time float64
}

// simulated runs a program on the described desktop, and returns the profile and the report.
func simulated(t *testing.T, bin, prog string, args ...string) (data string, r priced) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "lime.data")
	words := append([]string{"simulate", "--machine", "desktop", "--cores", "8", "-o", data, "--", "./" + filepath.Base(prog), "8"}, args...)
	if text, err := at(prog, bin, words...).CombinedOutput(); err != nil {
		t.Fatalf("simulate: %v\n%s", err, text)
	}
	text, err := exec.Command(bin, "report", "--json", data).Output()
	if err != nil {
		t.Fatal("report:", err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return data, r
}

// TestPricesAddUp checks that decisions and prices together are the time of the last thread beyond the mean, in every
// section of programs on a described machine.
func TestPricesAddUp(t *testing.T) {
	t.Parallel()
	testenv.SkipShort(t)
	bin := lime(t)
	for _, w := range load(t) {
		if !slices.Contains([]string{"misses", "predict", "radix", "lu", "lock", "slowpath", "tree", "two", "omp_static"}, w.name) {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			prog := w.build(t, t.TempDir())
			_, r := simulated(t, bin, prog, w.Args...)
			sections := 0
			for _, s := range r.Sections {
				if s.Ledger == nil {
					continue
				}
				sections++
				sum := s.Ledger.RestPositive + s.Ledger.RestNegative
				for _, row := range s.Ledger.Rows {
					sum += row.Time
				}
				if off := math.Abs(sum/s.TimeToWin - 1); off > 1e-9 || !s.Ledger.Exact {
					t.Errorf("rows sum to %v of %v (%.1e off), exact: %v", sum, s.TimeToWin, off, s.Ledger.Exact)
				}
			}
			if sections == 0 {
				t.Error("no section has an account")
			}
		})
	}
}

// TestErase takes away the events of the account's first row and runs the program again: the time lost must fall by what
// the row said at least, and by what all events of its line cost at most, each within a tenth for what follows elsewhere.
// A stall is divided over the levels in proportion to their latencies, while what a core hides of it is no longer when the
// deepest is gone: the rest of the access is hidden better than it was, and the row says less than the run.
func TestErase(t *testing.T) {
	t.Parallel()
	testenv.SkipShort(t)
	all, bin := load(t), lime(t)
	for _, c := range []struct{ name, event string }{{"misses", "llc-miss"}, {"predict", "branch-miss"}} {
		t.Run(c.name, func(t *testing.T) {
			w := all[slices.IndexFunc(all, func(w *workload) bool { return w.name == c.name })]
			prog := w.build(t, t.TempDir())
			data, r := simulated(t, bin, prog)
			if len(r.Sections) == 0 || r.Sections[0].Ledger == nil || len(r.Sections[0].Ledger.Rows) == 0 {
				t.Fatal("no account")
			}
			row := r.Sections[0].Ledger.Rows[0]
			if row.Kind != "price" || row.Event != c.event || !slices.Contains(w.marks["CAUSE"], row.Line) {
				t.Fatalf("first row %+v, want the price of %s at line %v", row, c.event, w.marks["CAUSE"])
			}
			fell := erased(t, bin, prog, data, fmt.Sprintf("%s@%s:%d", row.Event, w.source, row.Line)) / r.Sections[0].LostTime
			t.Logf("the row says %.1f %%, the run without its events loses %.1f %% less", 100*row.Share, 100*fell)
			if most := priceOfLine(r.Sections[0].Ledger.Rows, row.Line); fell < 0.9*row.Share || fell > 1.1*most {
				t.Errorf("the row says %.3f and its line %.3f, the run without its events loses %.3f less", row.Share, most, fell)
			}
		})
	}
}

// priceOfLine is the share of all that hardware events cost at a line.
func priceOfLine(rows []priceRow, line int) (share float64) {
	for _, row := range rows {
		if row.Kind == "price" && row.Line == line {
			share += row.Share
		}
	}
	return share
}

// erased is the time that a run without some events loses less, in all sections: the first of them may end elsewhere.
func erased(t *testing.T, bin, prog, data, events string) (less float64) {
	t.Helper()
	text, err := at(prog, bin, "whatif", "--yes", "--json", "--erase", events, data).Output()
	if err != nil {
		t.Fatal("whatif:", err)
	}
	var r struct {
		Sections []struct {
			Before float64 `json:"lost_before"`
			After  float64 `json:"lost_after"`
		}
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Sections {
		less += s.Before - s.After
	}
	return less
}
