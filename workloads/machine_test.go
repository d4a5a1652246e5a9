package workloads

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// enough is the share of the time lost that must be gone without the cause, and little what another cause may account for.
const (
	enough = 0.8
	little = 0.2
)

// erase runs the profiled program again without some events, and returns the share of the first section's lost
// time that is gone.
func erase(bin, data, spec string) (float64, error) {
	text, err := exec.Command(bin, "whatif", "--json", "--erase", spec, data).Output()
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

// subject holds what the report says of the first cause's data to the expectation.
func (w *workload) subject(bin, data string) error {
	text, err := exec.Command(bin, "report", "--json", data).Output()
	if err != nil {
		return err
	}
	var a answer
	if err := json.Unmarshal(text, &a); err != nil || len(a.Sections) == 0 || len(a.Sections[0].Causes) == 0 {
		return fmt.Errorf("no cause: %v", err)
	}
	if c := a.Sections[0].Causes[0]; !strings.HasPrefix(c.Data, w.Data) || !strings.HasPrefix(c.Sharing, w.Sharing) {
		return fmt.Errorf("the first cause is about %q, %q; want %q, %q", c.Sharing, c.Data, w.Sharing, w.Data)
	}
	return nil
}

// TestEraseMachine takes the first cause of each program with a planted machine cause away: its imbalance must go. Taking
// something else away on the same line must leave it.
func TestEraseMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and simulates")
	}
	bin, dir := lime(t), t.TempDir()
	wrong := map[string]string{"machine_tlb": "l1d-miss", "machine_branches": "l1d-miss"}
	for _, w := range load(t) {
		if w.Machine == "" {
			continue
		}
		prog, err := w.build(t, dir)
		if err != nil {
			t.Logf("%s skipped: %v", w.name, err)
			continue
		}
		data := filepath.Join(dir, w.name+".lime")
		if text, err := exec.Command(bin, "simulate", "--cores", "8", "--machine", w.Machine, "-o", data, "--", prog, "8").CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", w.name, err, text)
			continue
		}
		if err := w.subject(bin, data); err != nil {
			t.Errorf("%s: %v", w.name, err)
		}
		got, err := erase(bin, data, "top")
		if err != nil || got < enough {
			t.Errorf("%s: erasing the first cause accounts for %.2f of the lost time, %v", w.name, got, err)
		}
		t.Logf("%-22s %.2f", w.name, got)
		if kind := wrong[w.name]; kind != "" {
			got, err := erase(bin, data, fmt.Sprintf("%s@%s:%d", kind, w.source, w.marks["CAUSE"][0]))
			if err != nil || got > little {
				t.Errorf("%s: erasing %s accounts for %.2f of the lost time, %v", w.name, kind, got, err)
			}
		}
	}
}
