package ranks

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lime/internal/profile"
)

// waited merges ranks whose ways are given as in rankText; a visit with messages is WORK:mail, and
// after it the mail as instances have it.
func waited(t *testing.T, ways ...[]string) (*profile.Profile, []string) {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for r, way := range ways {
		paths = append(paths, put(t, FileOf(dir, r), mailText(r, len(ways), way)))
	}
	p := merge(t, paths...)
	return p, parts(p)
}

// mailText is rankText with mail: "300:mail >0,1,5,0,world".
func mailText(rank, ranks int, way []string) string {
	var meetings, mails []string
	for _, w := range way {
		work, mail, ok := strings.Cut(w, ":mail ")
		if ok {
			w = fmt.Sprintf("%s:MAIL%d:0", work, len(mails))
			mails = append(mails, mail)
		}
		meetings = append(meetings, w)
	}
	s := rankText(rank, ranks, 0x5000, meetings...)
	for i, mail := range mails {
		s = strings.Replace(s, fmt.Sprintf("\"MAIL%d\":0", i), fmt.Sprintf("%q:0", "mail "+mail), 1)
	}
	s = strings.ReplaceAll(s, `meeting="MAIL`, `meeting="mail`)
	return s
}

func TestWhoWaitsForMessages(t *testing.T) {
	for _, c := range []struct {
		name string
		ways [][]string
		want []string
	}{
		{"a late sender", [][]string{
			{"900:mail >0,1,5,0,world", "30:world:0"},
			{"300:mail <0,1,5,0,world", "60:world:0"},
		}, []string{"0 messages:0 rank 0 0-900-900 rank 1 0-300-900", "0 world:0 rank 0 900-930-960 rank 1 900-960-960"}},
		{"one in time: what was done before belongs to what is done next", [][]string{
			{"300:mail >0,1,5,0,world", "630:world:0"},
			{"900:mail <0,1,5,0,world", "60:world:0"},
		}, []string{"0 world:0 rank 0 0-930-960 rank 1 0-960-960"}},
		{"a late receiver of an answered send", [][]string{
			{"300:mail !0,1,5,0,world", "30:world:0"},
			{"900:mail <0,1,5,0,world", "60:world:0"},
		}, []string{"0 messages:0 rank 1 0-900-900 rank 0 0-300-900", "0 world:0 rank 0 900-930-960 rank 1 900-960-960"}},
		{"a chain: the last one has waited for both", [][]string{
			{"300:mail >0,1,5,0,world", "30:world:0"},
			{"30:mail <0,1,5,0,world", "600:mail >1,2,5,0,world", "30:world:0"},
			{"0:mail <1,2,5,0,world", "90:world:0"},
		}, []string{
			"0 messages:0 rank 0 0-300-300 rank 2 0-0-300 rank 1 0-30-300",
			"0 messages:1 rank 1 300-900-900 rank 2 300-300-900",
			"0 world:0 rank 0 300-330-990 rank 1 900-930-990 rank 2 900-990-990"}},
		{"two messages in a row are one piece, whoever waits for the second", [][]string{
			{"300:mail >0,1,5,0,world", "0:mail >0,2,5,0,world", "0:world:0"},
			{"30:mail <0,1,5,0,world", "0:world:0"},
			{"60:mail <0,2,5,0,world", "0:world:0"},
		}, []string{"0 messages:0 rank 0 0-300-300 rank 1 0-30-300 rank 2 0-60-300",
			"0 world:0 rank 0 300-300-300 rank 1 300-300-300 rank 2 300-300-300"}},
		{"an exchange, in which each sends before it receives", [][]string{
			{"300:mail >0,1,5,0,world", "0:mail <1,0,5,0,world", "0:world:0"},
			{"900:mail >1,0,5,0,world", "0:mail <0,1,5,0,world", "0:world:0"},
		}, []string{"0 messages:0 rank 1 0-900-900 rank 0 0-300-900", "0 world:0 rank 0 900-900-900 rank 1 900-900-900"}},
		{"a message of which the other side is not there", [][]string{
			{"900:mail >0,1,5,0,world", "30:world:0"},
			{"300:mail <0,1,6,0,world", "60:world:0"},
		}, []string{"0 world:0 rank 0 0-930-930 rank 1 0-360-930"}},
		{"more sent than received: which is which is not known", [][]string{
			{"900:mail >0,1,5,0,world", "0:mail >0,1,5,1,world", "30:world:0"},
			{"300:mail <0,1,5,0,world", "60:world:0"},
		}, []string{"0 world:0 rank 0 0-930-930 rank 1 0-360-930"}},
		{"a rank that waits for one that waits in a collective operation", [][]string{
			{"900:world/1:0", "0:world:0"},
			{"300:world/1:0", "30:mail >1,2,5,0,world", "0:world:0"},
			{"60:mail <1,2,5,0,world", "0:world:0"},
		}, []string{"0 world/1:0 rank 0 0-900-900 rank 1 0-300-900 rank 2 0-60-900",
			"0 messages:0 rank 1 900-930-930 rank 2 900-900-930",
			"0 world:0 rank 0 900-900-930 rank 1 930-930-930 rank 2 930-930-930"}},
		{"a reduction to one, for which nobody waits, and then its broadcast", [][]string{
			{"900:world:0 meets=waits", "0:world:1 meets=feeds", "30:world:2"},
			{"300:world:0 meets=feeds", "0:world:1 meets=waits", "30:world:2"},
		}, []string{"0 messages:0 rank 0 0-900-900 rank 1 0-300-900", "0 world:2 rank 0 900-930-930 rank 1 900-930-930"}},
		{"all wait for one another: passed", [][]string{
			{"300:mail <1,0,5,0,world", "0:mail >0,1,5,0,world", "0:world:0"},
			{"900:mail <0,1,5,0,world", "0:mail >1,0,5,0,world", "0:world:0"},
		}, []string{"0 world:0 rank 0 0-300-900 rank 1 0-900-900"}},
	} {
		p, got := waited(t, c.ways...)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
		whole(t, c.name, p, c.ways)
	}
}

// whole holds that each rank's counts and work stand in the instances once.
func whole(t *testing.T, name string, p *profile.Profile, ways [][]string) {
	t.Helper()
	want, got := map[profile.ThreadID]uint64{}, map[profile.ThreadID]uint64{}
	for r, way := range ways {
		for _, w := range way {
			var n uint64
			fmt.Sscan(strings.SplitN(w, ":", 2)[0], &n)
			want[profile.ThreadID(r)] += n / 3
		}
	}
	_ = p.Scan(func(in *profile.Instance) error {
		for _, c := range in.Edges {
			if c.Row == 0 {
				got[in.Parts[c.Part].Thread] += c.N
			}
		}
		return nil
	})
	for r, n := range want {
		if got[r] != n {
			t.Errorf("%s: of rank %d %d rounds are told, it went %d", name, r, got[r], n)
		}
	}
}

// A tree of merges gives the same file with messages, too.
func TestMergeMailInATree(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for r := range 4 {
		way := []string{
			fmt.Sprintf("%d:mail >%d,%d,5,0,world", 90*(r+1), r, (r+1)%4), fmt.Sprintf("0:mail <%d,%d,5,0,world", (r+3)%4, r),
			fmt.Sprintf("%d:world:0", 900-90*r), "0:mail >9,9,9,9,lost", "30:world:1", "30:exit"}
		paths = append(paths, put(t, FileOf(dir, r), mailText(r, 4, way)))
	}
	want := text(t, merge(t, paths...))
	var halves []string
	for i, part := range [][]string{paths[:1], paths[1:]} {
		halves = append(halves, filepath.Join(dir, fmt.Sprint("half", i)))
		if err := copyTo(merge(t, part...), halves[i]); err != nil {
			t.Fatal(err)
		}
	}
	if got := text(t, merge(t, halves...)); got != want {
		t.Errorf("in a tree:\n%s\nat once:\n%s", got, want)
	}
}

// Ranks are compared from where the last of them went on: what one did before without a wait is no
// part of a meeting that another one came to from a wait.
func TestRanksAreComparedFromTheLastWait(t *testing.T) {
	_, got := waited(t,
		[]string{"900:mail >0,1,5,0,world", "90:world:0"},
		[]string{"30:mail <0,1,5,0,world", "90:world:0"},
		[]string{"600:mail >2,3,5,0,world", "300:mail >2,3,5,1,world", "90:world:0"},
		[]string{"900:mail <2,3,5,0,world", "0:mail <2,3,5,1,world", "90:world:0"})
	want := []string{
		"0 messages:0 rank 0 0-900-900 rank 1 0-30-900",
		"0 messages:1 rank 2 0-900-900",
		"0 messages:2 rank 3 0-900-900",
		"0 world:0 rank 0 900-990-990 rank 1 900-990-990 rank 2 900-990-990 rank 3 900-990-990",
	}
	if !slices.Equal(got, want) {
		t.Errorf("\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Samples go where their pieces are told.
func TestSamplesMoveWithTheirPieces(t *testing.T) {
	m := moves{{0, 1}: {1: 100, 2: 300}, {1, 1}: {1: 50}, {2, 1}: {3: 0}}
	got := m.apply([]profile.PathSample{{Path: 7, Thread: 0, Section: 1, Metric: "time", Value: 8}, {Path: 7, Thread: 1, Section: 1, Value: 4},
		{Path: 7, Thread: 0, Section: 2, Value: 2}, {Path: 7, Thread: 2, Section: 1, Value: 1}})
	want := []profile.PathSample{{Path: 7, Thread: 0, Section: 1, Metric: "time", Value: 2},
		{Path: 7, Thread: 0, Section: 2, Metric: "time", Value: 6},
		{Path: 7, Thread: 1, Section: 1, Value: 4}, {Path: 7, Thread: 0, Section: 2, Value: 2}, {Path: 7, Thread: 2, Section: 1, Value: 1}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
