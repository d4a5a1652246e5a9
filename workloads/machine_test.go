package workloads

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// enough is the share of the time lost that must be gone without the cause, and little what another cause may account for.
const (
	enough = 0.8
	little = 0.2
)

// erase runs the profiled program again without some events, and returns the share of the first section's lost
// time that is gone.
func erase(bin, prog, data, spec string) (float64, error) {
	text, err := at(prog, bin, "whatif", "--yes", "--json", "--erase", spec, data).Output()
	if err != nil {
		return 0, fmt.Errorf("whatif --erase %s: %w", spec, err)
	}
	var a struct {
		Sections []struct{ Accounted float64 }
	}
	if err := json.Unmarshal(text, &a); err != nil || len(a.Sections) == 0 {
		return 0, fmt.Errorf("whatif --erase %s: %d sections, %v", spec, len(a.Sections), err)
	}
	return a.Sections[0].Accounted, nil
}

func reported(bin, data string) (a answer, err error) {
	text, err := exec.Command(bin, "report", "--json", data).Output()
	if err != nil {
		return a, fmt.Errorf("report: %w", err)
	}
	return a, json.Unmarshal(text, &a)
}

// subject holds what the report says of the first cause's data to the expectation.
func (w *workload) subject(a answer) error {
	if len(a.Sections) == 0 || len(a.Sections[0].Causes) == 0 {
		return errors.New("no cause")
	}
	if c := a.Sections[0].Causes[0]; !strings.HasPrefix(c.Data, w.Data) || !strings.HasPrefix(c.Sharing, w.Sharing) {
		return fmt.Errorf("the first cause is about %q, %q; want %q, %q", c.Sharing, c.Data, w.Sharing, w.Data)
	}
	return nil
}

// wrong is an event that is not the cause: the one that the workload names, or in long tests what the report says merely
// correlates, or is charged next to nothing.
func (w *workload) wrong(a answer) string {
	if kind, mark, ok := strings.Cut(w.Wrong, "@"); ok {
		return fmt.Sprintf("%s@%s:%d", kind, w.source, w.marks[mark][0])
	}
	if os.Getenv("LIME_LONG") == "" || len(a.Sections) == 0 {
		return ""
	}
	s := &a.Sections[0]
	for _, c := range s.Candidates {
		if c.Family == "hardware" && filepath.Base(c.File) == w.source && !slices.Contains(w.marks["CAUSE"], c.Line) {
			return fmt.Sprintf("%s@%s:%d", c.Event, w.source, c.Line)
		}
	}
	if s.Ledger == nil {
		return ""
	}
	for _, r := range s.Ledger.Rows {
		if r.Kind == "price" && r.Event != "" && math.Abs(r.Share) < 0.05 && filepath.Base(r.File) == w.source && !slices.Contains(w.marks["CAUSE"], r.Line) {
			return fmt.Sprintf("%s@%s:%d", r.Event, w.source, r.Line)
		}
	}
	return ""
}

// TestEraseMachine takes the first cause of each program with a planted machine cause away: its imbalance must go. Taking
// something else away must leave it.
func TestEraseMachine(t *testing.T) {
	t.Parallel()
	testenv.SkipShort(t)
	bin, dir := lime(t), t.TempDir()
	for _, w := range load(t) {
		if w.Machine == "" {
			continue
		}
		prog := w.build(t, dir)
		data := filepath.Join(dir, w.name+".lime")
		args := append(append([]string{"simulate", "--cores", "8", "-o", data}, w.machine()...), "--", "./"+filepath.Base(prog), "8")
		if text, err := at(prog, bin, args...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", w.name, err, text)
			continue
		}
		a, err := reported(bin, data)
		if err == nil {
			err = w.subject(a)
		}
		if err != nil {
			t.Errorf("%s: %v", w.name, err)
		}
		got, err := erase(bin, prog, data, "top")
		if err != nil || got < enough {
			t.Errorf("%s: erasing the first cause accounts for %.2f of the lost time, %v", w.name, got, err)
		}
		t.Logf("%-22s %.2f", w.name, got)
		if spec := w.wrong(a); spec != "" {
			got, err := erase(bin, prog, data, spec)
			t.Logf("%-22s %.2f, without %s", w.name, got, spec)
			if err != nil || got > little {
				t.Errorf("%s: erasing %s accounts for %.2f of the lost time, %v", w.name, spec, got, err)
			}
		}
	}
}
