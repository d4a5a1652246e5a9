package ranks

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lime/internal/profile"
)

// rankText is a rank's profile: it works so long before each meeting, whose communicators and roles
// follow the numbers. The process's files lie at an address of its own.
func rankText(rank, ranks int, base uint64, meetings ...string) string {
	var b strings.Builder
	at := func(off uint64) string { return fmt.Sprintf("%#x", base+off) }
	fmt.Fprintf(&b, `lime-profile 1
meta collector=simulate model=count cores=64 clock-unit=instructions node-time=visits end-state=exited complete=true resolved=true launcher=test rank=%d ranks=%d job="7" host=h
image 0 path=/bin/app build-id=ab base=%s lo=%s hi=%s
file 0 path=app.c
line file=0 n=%d text="work();"
node 0 kind=cond image=0 addr=%s size=8 instrs=3 last=%s at=0:12:1:main
node 1 kind=call image=0 addr=%s size=8 instrs=2 last=%s at=0:20:1:main
edge 0 kind=taken from=0 to=0
edge 1 kind=fall from=0 to=1
section 0 kind=collective end=%s end-node=1 at=0:20:1:main
section 1 kind=exit end=%s end-node=1 at=0:30:1:main
thread 0 name=app
`, rank, ranks, at(0), at(0), at(0x1000), rank+1, at(0x100), at(0x104), at(0x110), at(0x114), at(0x114), at(0x118))
	clock := 0
	for _, m := range meetings {
		word, more, _ := strings.Cut(m, " ")
		f := strings.Split(word, ":")
		var work int
		fmt.Sscan(f[0], &work)
		section := 0
		if f[1] == "exit" {
			section = 1
			fmt.Fprintf(&b, "instance section=%d\n", section)
		} else {
			fmt.Fprintf(&b, "instance section=%d meeting=%q:%s\n", section, f[1], f[2])
		}
		fmt.Fprintf(&b, "part thread=0 start=%d arrive=%d entry=0 exit=1 entry-stack=1 exit-stack=1 %s\nedges 0 "+
			"%d\nedges 1 1\n", clock, clock+work, more, work/3)
		clock += work + 1000*(rank+1) // what a rank spends in the call is its own affair
	}
	return b.String()
}

func put(t testing.TB, path, text string) string {
	t.Helper()
	p, err := profile.ParseText(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := copyTo(p, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// copyTo writes a profile in memory to a file.
func copyTo(p *profile.Profile, path string) error {
	w, err := profile.Create(path, *p.Meta())
	if err != nil {
		return err
	}
	u := &union{t: *p.Tables()}
	u.write(w)
	if err := p.Scan(func(in *profile.Instance) error { return w.WriteInstance(in) }); err != nil {
		return err
	}
	return w.Close()
}

func merge(t *testing.T, paths ...string) *profile.Profile {
	t.Helper()
	p := profile.New(profile.Meta{})
	if err := Merge(paths, false, p); err != nil {
		t.Fatal(err)
	}
	if err := profile.Validate(p); err != nil {
		t.Fatal(err)
	}
	return p
}

func text(t *testing.T, p *profile.Profile) string {
	t.Helper()
	var b strings.Builder
	if err := profile.WriteText(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// parts is what the instances of a profile say of their parts, an instance a line.
func parts(p *profile.Profile) (out []string) {
	_ = p.Scan(func(in *profile.Instance) error {
		s := fmt.Sprint(in.Section)
		if in.Meeting != nil {
			s += fmt.Sprintf(" %s:%d", in.Meeting.Communicator, in.Meeting.N)
		}
		for _, q := range in.Parts {
			s += fmt.Sprintf(" %s %d-%d-%d", p.Tables().Threads[q.Thread].Name, q.Start, q.Arrive, q.Release)
		}
		out = append(out, s)
		return nil
	})
	return out
}

// Two ranks, three meetings, and their ends: one instance each, on one clock.
func TestMergeMakesOneInstanceOfAMeeting(t *testing.T) {
	dir := t.TempDir()
	a := put(t, FileOf(dir, 0), rankText(0, 2, 0x5000, "300:world:0", "600:world:1", "90:world/0:0:0", "30:exit"))
	b := put(t, FileOf(dir, 1), rankText(1, 2, 0x9000, "900:world:0", "300:world:1", "60:world/0:0:0", "30:exit"))
	p := merge(t, a, b)
	want := []string{
		"0 world:0 rank 0 0-300-900 rank 1 0-900-900",
		"0 world:1 rank 0 900-1500-1500 rank 1 900-1200-1500",
		"0 world/0:0 rank 0 1500-1590-1590 rank 1 1500-1560-1590",
		"1 end:0 rank 0 1590-1620-1620 rank 1 1590-1620-1620",
	}

	if got := parts(p); !slices.Equal(got, want) {
		t.Errorf("%s\nwant %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if n := len(p.Nodes) + len(p.Edges) + len(p.Images); n != 5 {
		t.Errorf("%d rows: two processes of one file have the same", n)
	}
	if len(p.Files[0].Lines) != 2 {
		t.Errorf("lines of both ranks are kept: %v", p.Files[0].Lines)
	}
	in, _ := p.Instance(0, 0)
	if !slices.Equal(in.Edges, []profile.Count{{Row: 0, Part: 0, N: 100}, {Row: 0, Part: 1, N: 300},
		{Row: 1, Part: 0, N: 1}, {Row: 1, Part: 1, N: 1}}) {
		t.Errorf("counts: %v", in.Edges)
	}
	if m := p.Meta(); m.RunTime != 1620 || m.Ranks != 2 || m.Cores != 2 {
		t.Errorf("%+v", m)
	}

}

// However the files are put together, the run is the same.
func TestMergeInATree(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for r := range 7 {
		paths = append(paths, put(t, FileOf(dir, r),
			rankText(r, 7, uint64(0x5000+0x1000*r), fmt.Sprintf("%d:world:0", 90*(r+1)), fmt.Sprintf("%d:world:1", 900-90*r), "30:exit")))
	}
	want := text(t, merge(t, paths...))
	var halves []string
	for i, part := range [][]string{paths[:3], paths[3:]} {
		halves = append(halves, filepath.Join(dir, fmt.Sprint("half", i)))
		if err := copyTo(merge(t, part...), halves[i]); err != nil {
			t.Fatal(err)
		}
	}
	if got := text(t, merge(t, halves...)); got != want {
		t.Errorf("in a tree:\n%s\nat once:\n%s", got, want)
	}
}

// A broadcast's root goes on at once, and who comes behind it does not wait; of a reduction only
// the root waits.
func TestWhoWaitsForWhom(t *testing.T) {
	for _, c := range []struct {
		name  string
		ranks [3]string
		want  []string
	}{
		{"a late root", [3]string{"900:world:0 meets=feeds", "300:world:0 meets=waits", "600:world:0 meets=waits"},
			[]string{"0 messages:0 rank 0 0-900-900 rank 1 0-300-900 rank 2 0-600-900"}},
		{"a root in between", [3]string{"600:world:0 meets=feeds", "300:world:0 meets=waits", "900:world:0 meets=waits"},
			[]string{"0 messages:0 rank 0 0-600-600 rank 1 0-300-600", "0 messages:1 rank 2 0-900-900"}},
		{"a reduction", [3]string{"300:world:0 meets=waits", "600:world:0 meets=feeds", "900:world:0 meets=feeds"},
			[]string{"0 messages:0 rank 1 0-600-600", "0 messages:1 rank 2 0-900-900 rank 0 0-300-900"}},
		{"a reduction that the root comes to last", [3]string{"900:world:0 meets=waits", "600:world:0 meets=feeds", "300:world:0 meets=feeds"},
			[]string{"0 messages:0 rank 2 0-300-300", "0 messages:1 rank 1 0-600-600", "0 messages:2 rank 0 0-900-900"}},
		{"started early enough", [3]string{"300:world:0 early=200", "600:world:0 early=500", "900:world:0 early=600"},
			[]string{"0 messages:0 rank 0 0-300-300", "0 messages:1 rank 1 0-600-600", "0 messages:2 rank 2 0-900-900"}},
		{"started too late by one", [3]string{"300:world:0 early=200", "600:world:0 early=500", "900:world:0 early=300"},
			[]string{"0 messages:0 rank 1 0-600-600", "0 messages:1 rank 2 0-900-900 rank 0 0-300-600"}},
	} {
		dir := t.TempDir()
		var paths []string
		for r, m := range c.ranks {
			paths = append(paths, put(t, FileOf(dir, r), rankText(r, 3, 0x5000, m)))
		}
		if got := parts(merge(t, paths...)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %s\nwant %s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// What a rank with threads did in sections of its own stays there, and counts for its part in the
// meeting as well.
func TestRanksWithThreads(t *testing.T) {
	dir := t.TempDir()
	text := func(rank int, work int) string {
		s := rankText(rank, 2, 0x5000)
		s += "section 2 kind=region-end end=0x5120 end-node=1 at=0:15:1:main\nthread 1 name=app parent=0\n"
		s += fmt.Sprintf("instance section=2\npart thread=0 start=100 arrive=%d\npart thread=1 start=100 arrive=400\nedges 0 10 20\n", 100+work)
		s += fmt.Sprintf("instance section=0 meeting=world:0\npart thread=0 start=%d arrive=%d\nedges 0 5\n", 400, 450)
		s += "instance section=1\npart thread=0 start=450 arrive=460\nedges 0 1\n"
		return s
	}
	a, b := put(t, FileOf(dir, 0), text(0, 300)), put(t, FileOf(dir, 1), text(1, 200))
	p := merge(t, a, b)
	want := []string{
		"0 world:0 rank 0 0-450-450 rank 1 0-450-450",
		"1 end:0 rank 0 450-460-460 rank 1 450-460-460",
		"2 rank 0 100-400-400 rank 0, thread 1 (app) 100-400-400",
		"3 rank 0 400-450-450", "4 rank 0 450-460-460",
		"2 rank 1 100-300-400 rank 1, thread 1 (app) 100-400-400",
		"3 rank 1 400-450-450", "4 rank 1 450-460-460",
	}
	if got := parts(p); !slices.Equal(got, want) {
		t.Errorf("%s\nwant %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	in, _ := p.Instance(0, 0)
	if len(in.Edges) != 2 || in.Edges[0].N != 15 || in.Parts[1].LockWait != 100 {
		t.Errorf("%+v", in)
	}
}

// What does not belong to the run is named, and the rest is read.
func TestFilesThatAreNotOfTheRun(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	add := func(name, text string) { paths = append(paths, put(t, filepath.Join(dir, name), text)) }
	ok := func(r int) string { return rankText(r, 6, 0x5000, "300:world:0", "30:exit") }
	add("rank-00000.lime", ok(0))
	add("rank-00001.lime", strings.Replace(ok(1), "end-state=exited complete=true", "end-state=running", 1))
	add("rank-00002.lime", strings.Replace(ok(2), `job="7"`, `job="6"`, 1))
	add("rank-00003.lime", strings.Replace(ok(3), "launcher=test", "", 1))
	add("second.lime", ok(0))
	add("beyond.lime", ok(6))
	bad := filepath.Join(dir, "rank-00004.lime")
	if err := os.WriteFile(bad, []byte("no profile, but long enough for one"), 0o666); err != nil {
		t.Fatal(err)
	}
	p := merge(t, append(paths, bad)...)
	var got []string
	for _, n := range p.Meta().Notes {
		got = append(got, n.Code+": "+n.Text)
	}
	want := []string{
		"ranks: The run is put together from the profiles of 2 ranks.",
		"rank-missing: of 6 ranks these left no profile that can be read: 2 to 5",
		"rank-foreign: rank-00003.lime is left out: it is no rank's profile, but that of a program that ran by itself",
		"rank-unreadable: rank-00004.lime is left out: profile " + bad + ": not a lime profile (it does not start like a SQLite file)",
		`rank-foreign: rank-00002.lime is left out: it is of another run: of job "6", the others of "7"`,
		"rank-foreign: second.lime is left out: it is of rank 0, and so is rank-00000.lime",
		"rank-foreign: beyond.lime is left out: it is of rank 6, and the run has ranks 0 to 5",
		"rank-cut: rank 1 on h: no end is in the profile: lime was killed there, or the disk was full; what was done until then is counted",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if err := Merge([]string{bad}, false, profile.New(profile.Meta{})); err == nil ||
		!strings.Contains(err.Error(), "rank-00004.lime is left out") {
		t.Errorf("nothing to read: %v", err)
	}
}

// Ranks that do not come to a meeting keep nobody from going on.
func TestMeetingsThatDoNotFit(t *testing.T) {
	dir := t.TempDir()
	a := put(t, FileOf(dir, 0), rankText(0, 2, 0x5000, "300:x:0", "300:y:0", "30:exit"))
	b := put(t, FileOf(dir, 1), rankText(1, 2, 0x5000, "600:y:0", "300:x:0", "30:exit"))
	p := merge(t, a, b)
	if n := noteOf(p.Meta(), NoteUnaligned); n != 1 {
		t.Errorf("%d meetings did not fit, want 1: %v", n, parts(p))
	}
}
