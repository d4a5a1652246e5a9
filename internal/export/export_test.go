package export

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	pprof "github.com/google/pprof/profile"

	"lime/internal/profile"
	"lime/internal/testenv"
)

// sampleProfile has two threads: both sampled in main -> work, the second waits for the first.
func sampleProfile() *profile.Profile {
	p := profile.New(profile.Meta{Tool: "lime", ClockUnit: "ns", RunTime: 100})
	p.AddImage(profile.Image{Path: "/bin/app", Lo: 0x1000, Hi: 0x2000})
	p.AddFile(profile.File{Path: "app.c"})
	call := p.AddNode(profile.Node{Addr: 0x1000, LastAddr: 0x1004, Frames: []profile.Frame{{Line: 3, Function: "main"}}})
	work := p.AddNode(profile.Node{Addr: 0x1010, LastAddr: 0x1014,
		Frames: []profile.Frame{{Line: 8, Function: "helper;1"}, {Line: 9, Function: "work"}}})
	main := p.AddPath(profile.PathNode{Parent: profile.None, Node: call})
	leaf := p.AddPath(profile.PathNode{Parent: main, Node: work})
	p.AddSection(profile.Section{Kind: profile.SectionBarrier, EndNode: profile.None, Frames: []profile.Frame{{Line: 12}}})
	for i := range 2 {
		id := p.AddThread(profile.Thread{Name: "app", Parent: profile.None, Entry: profile.None})
		p.AddPathSample(profile.PathSample{Path: leaf, Thread: id, Metric: "time", Value: float64(40 + i)})
		p.AddPathSample(profile.PathSample{Path: main, Thread: id, Metric: "wait", Value: 5})
		p.AddPathSample(profile.PathSample{Path: leaf, Thread: id, Metric: "lock-wait", Value: float64(7 * i)})
	}
	in := &profile.Instance{Parts: []profile.Part{{Thread: 0, Arrive: 90, Release: 90, Entry: profile.None, Exit: profile.None},
		{Thread: 1, Start: 10, Arrive: 60, Release: 90, Entry: profile.None, Exit: profile.None}}}
	if err := p.WriteInstance(in); err != nil {
		panic(err)
	}
	return p
}

func TestFolded(t *testing.T) {
	var b bytes.Buffer
	if err := Folded(&b, sampleProfile()); err != nil {
		t.Fatal(err)
	}
	if want := "app/0;main;work;helper:1 40\napp/1;main;work;helper:1 41\n"; b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestPprof(t *testing.T) {
	var b bytes.Buffer
	if err := Pprof(&b, sampleProfile()); err != nil {
		t.Fatal(err)
	}
	p, err := pprof.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Sample) != 2 || p.Sample[1].Value[3] != 41 || p.Sample[1].Value[1] != 7 ||
		p.DefaultSampleType != "cpu" || p.SampleType[3].Type != "cpu" || len(p.Sample[0].Location) != 3 ||
		p.Sample[0].Location[0].Line[0].Line != 8 ||
		p.Sample[0].Location[2].Line[0].Function.Name != "main" || p.Sample[0].Location[0].Mapping.File != "/bin/app" {
		t.Errorf("got %v", p)
	}
}

func TestSpeedscope(t *testing.T) {
	var b bytes.Buffer
	if err := Speedscope(&b, sampleProfile()); err != nil {
		t.Fatal(err)
	}
	var f scopeFile
	if err := json.Unmarshal(b.Bytes(), &f); err != nil {
		t.Fatal(err)
	}
	if len(f.Profiles) != 2 || len(f.Shared.Frames) != 3 || f.Profiles[1].EndValue != 41 ||
		len(f.Profiles[0].Samples[0]) != 3 || f.Profiles[0].Unit != "nanoseconds" {
		t.Errorf("got %s", b.String())
	}
}

// The trace is a sequence of packets; each thread has a track, its events are in the order of time,
// and each end closes what began last.
func TestPerfetto(t *testing.T) {
	p := sampleProfile()
	p.AddSection(profile.Section{Kind: profile.SectionJoin, EndNode: profile.None, Frames: []profile.Frame{{Line: 20}}})
	in := &profile.Instance{Section: 1, Parts: []profile.Part{{Thread: 0, Arrive: 95, Release: 95, LockWait: 7,
		Entry: profile.None, Exit: profile.None},
		{Thread: 1, Arrive: 95, Release: 95, Entry: profile.None, Exit: profile.None}}}
	if err := p.WriteInstance(in); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Perfetto(&b, p); err != nil {
		t.Fatal(err)
	}
	last, depth := map[uint64]uint64{}, map[uint64]int{}
	var story []string
	for rest := b.Bytes(); len(rest) > 0; {
		if rest[0] != tracePacket<<3|2 {
			t.Fatalf("byte %#x begins no packet", rest[0])
		}
		n, k := binary.Uvarint(rest[1:])
		f := fields(t, rest[1+k:1+k+int(n)])
		rest = rest[1+k+int(n):]
		if d, ok := f[packetTrack].([]byte); ok {
			thread := fields(t, fields(t, d)[trackThread].([]byte))
			story = append(story, string(thread[threadTitle].([]byte)))
			continue
		}
		e, at := fields(t, f[packetEvent].([]byte)), f[packetTimestamp].(uint64)
		track := e[eventTrack].(uint64)
		if at < last[track] {
			t.Errorf("track %d goes back from %d to %d", track, last[track], at)
		}
		last[track] = at
		if e[eventType] == uint64(sliceEnd) {
			depth[track]--
			story = append(story, fmt.Sprintf("%d-", at))
			continue
		}
		depth[track]++
		story = append(story, fmt.Sprintf("%d+%s", at, e[eventName]))
		if a, ok := e[eventAnnotations].([]byte); ok {
			story = append(story, fmt.Sprintf("%s=%d", fields(t, a)[annotationName], fields(t, a)[annotationValue]))
		}
	}
	const want = "app/0 0+join app.c:20 waited for locks=7 0+barrier app.c:12 90- 95- " +
		"app/1 0+join app.c:20 10+barrier app.c:12 60- 60+wait at barrier app.c:12 90- 95-"
	if got := strings.Join(story, " "); got != want || depth[1] != 0 || depth[2] != 0 {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func fields(t *testing.T, b []byte) map[int]any {
	t.Helper()
	out := map[int]any{}
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		v, m := binary.Uvarint(b[n:])
		b = b[n+m:]
		switch key & 7 {
		case 0:
			out[int(key>>3)] = v
		case 2:
			out[int(key>>3)] = b[:v]
			b = b[v:]
		default:
			t.Fatalf("wire type %d", key&7)
		}
	}
	return out
}

func TestNoPaths(t *testing.T) {
	for _, write := range []func(*bytes.Buffer, profile.Source) error{
		func(b *bytes.Buffer, s profile.Source) error { return Folded(b, s) },
		func(b *bytes.Buffer, s profile.Source) error { return pprofPaths(b, s) },
		func(b *bytes.Buffer, s profile.Source) error { return Speedscope(b, s) },
	} {
		if err := write(&bytes.Buffer{}, profile.New(profile.Meta{})); !errors.Is(err, profile.ErrNoPaths) ||
			!strings.Contains(err.Error(), "lime record") {
			t.Errorf("a profile without paths: %v", err)
		}
	}
}

// The real tool reads the file.
func TestPprofTool(t *testing.T) {
	testenv.SkipUnlessLong(t) // the Go tools build pprof first
	file := filepath.Join(t.TempDir(), "p.pb.gz")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(Pprof(f, sampleProfile()), f.Close()); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "tool", "pprof", "-top", "-nodecount=5", file).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "81ns") || !strings.Contains(string(out), "helper:1") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// The tool takes the first mapping for the program: that must not be a library.
func TestPprofNamesTheProgram(t *testing.T) {
	for _, c := range []struct {
		command []string
		want    string
	}{{nil, "/home/u/app"}, {[]string{"app", "1"}, "/home/u/app"},
		{[]string{"/usr/lib/jvm/java"}, "/usr/lib/jvm/java"}, {[]string{"./run.sh"}, "/home/u/app"}} {
		p := profile.New(profile.Meta{Command: c.command})
		for _, path := range []string{"/usr/lib/libc.so.6", "/home/u/app", "/usr/lib/jvm/java"} {
			p.AddImage(profile.Image{Path: path})
		}
		f := newPprofFile(p)
		if got := f.out.Mapping[0].File; got != c.want {
			t.Errorf("%q: the first mapping is %s, want %s", c.command, got, c.want)
		}
		if l := f.location(0, 1); l.Mapping.File != "/usr/lib/libc.so.6" || len(f.out.Mapping) != 3 {
			t.Errorf("%q: a place in the first image is in %s of %d", c.command, l.Mapping.File, len(f.out.Mapping))
		}
	}
}
