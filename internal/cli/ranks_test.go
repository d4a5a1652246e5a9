package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"lime/internal/profile"
	"lime/internal/ranks"
)

// A directory of ranks whose counts are equal is a small profile of many cells: it is read all the
// same.
func TestReportOfManyEqualRanks(t *testing.T) {
	dir := t.TempDir()
	const n, rows = 24, 300
	for rank := range n {
		w, err := profile.Create(ranks.FileOf(dir, rank),
			profile.Meta{Collector: "simulate", Model: "count", Cores: 1, ClockUnit: "instructions",
				NodeTime: "visits", EndState: "exited", Complete: true,
				Resolved: true, RankInfo: profile.RankInfo{Launcher: "test", Rank: rank, Ranks: n, Job: "1"}})
		if err != nil {
			t.Fatal(err)
		}
		in := &profile.Instance{Meeting: &profile.Meeting{Communicator: "world"},
			Parts: []profile.Part{{Arrive: uint64(1000 + rank), Release: uint64(1000 + rank), Entry: 0, Exit: 0}}}
		for i := range rows {
			w.AddNode(profile.Node{Image: profile.None, Addr: uint64(16 * i), Size: 16, Instrs: 1, Kind: profile.EndCond, Function: profile.None})
			w.AddEdge(profile.Edge{From: profile.NodeID(i), To: profile.NodeID(i), Kind: profile.EdgeTaken})
			in.Edges = append(in.Edges, profile.Count{Row: int32(i), N: 7})
		}
		w.AddSection(profile.Section{Kind: profile.SectionMeeting, EndNode: profile.None})
		w.AddThread(profile.Thread{Name: "app", Parent: profile.None, Entry: profile.None})
		if err := w.WriteInstance(in); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	if code := Main([]string{"report", "--color", "never", dir}, strings.NewReader(""), &out, &errs); code != ExitOK {
		t.Fatalf("status %d: %s", code, errs.String())
	}
	if want := fmt.Sprintf("%d instance of %d threads", 1, n); !strings.Contains(out.String(), want) &&
		!strings.Contains(out.String(), fmt.Sprintf("in %d ranks", n)) {
		t.Errorf("%q is not in\n%s", want, out.String())
	}
}

// All that collect know of ranks.
func TestCollectorsKnowRanks(t *testing.T) {
	a := &app{}
	for _, cmd := range []*cobra.Command{a.recordCommand(), a.simulateCommand(), a.countCommand()} {
		if cmd.Flags().Lookup("rank-var") == nil {
			t.Errorf("%s does not ask which rank it is", cmd.Name())
		}
	}
}
