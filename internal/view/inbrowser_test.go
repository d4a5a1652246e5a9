// The views in a browser.

package view

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lime/internal/analysis"
	"lime/internal/profile"
	"lime/internal/testenv"
)

// The large profile is shown in every view. LIME_BIG names one that was made before (go run
// ./scripts/bigprofile -o FILE), beside which what is kept of it stays for the next time.
func TestTheLargeProfileInABrowser(t *testing.T) {
	testenv.SkipUnlessLong(t)
	path := os.Getenv("LIME_BIG")
	if path == "" {
		path = filepath.Join(t.TempDir(), "big.lime")
		cmd := exec.Command("go", "run", "../../scripts/bigprofile", "-o", path)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("bigprofile: %v: %s", err, out)
		}
	}
	r, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	run := NewRun(r, path, analysis.DefaultOptions(), new(Heap))
	if err := run.Keep(path+".kept", analysis.DefaultOptions()); err != nil {
		t.Fatal(err)
	}
	b := newBrowser(t)
	b.serve(run)
	b.patience = 10 * time.Minute
	for _, width := range []int64{1920, 390} {
		b.screen("dark", width)
		for _, v := range largeViews {
			began := time.Now()
			b.open(v.hash)
			t.Logf("%s at %d: %.1f s", v.hash, width, time.Since(began).Seconds())
			said := b.text()
			for _, words := range v.words {
				if !strings.Contains(said, words) {
					t.Errorf("%s does not say %q:\n%.2000s", v.hash, words, said)
				}
			}
			n := eval[int](b, `document.querySelectorAll("canvas").length`)
			if n < v.canvases {
				t.Errorf("%s: %d charts, want %d", v.hash, n, v.canvases)
			}
			for k := range n {
				if b.painted(k) < 2 {
					t.Errorf("%s: chart %d is empty", v.hash, k)
				}
			}
			b.keep(fmt.Sprintf("large-%s-%d", strings.Trim(strings.Split(v.hash, "?")[0], "#"), width))
		}
	}
}

// shows are the views with what must be read in them.
var shows = []struct {
	name, hash string
	words      []string
	canvases   int
}{
	{"overview", "#overview", []string{"useful work", "What became of 12 cores", "waiting for locks", "app.c:30", "Parallel efficiency"}, 0},
	{"section", "#section?s=0&m=time", []string{"Ends at a barrier", "The account", "app.c:10", "Causes", "static void work"}, 2},
	{"section-cause", "#section?s=0&c=1", []string{"Causes", "static void work"}, 2},
	{"section-event", "#section?s=0&m=kind%3Al1d-miss&pick=1,2,0,0", []string{"Threads 1 to 2, instance 1", "all others", "came last"}, 3},
	{"threads", "#threads?m=line%3A0%3A10&s=0&t=2",
		[]string{"runs of line 10", "thread 2 worker 2", "Furthest from the median", "Follow it"}, 3},
	{"source", "#source?s=0&path=src%2Fapp.c&line=10", []string{"for (int i = 0; i < n; i++)", "runs, by thread", "loop"}, 0},
	{"timeline", "#timeline", []string{"12 threads", "In this stretch", "Sections by work", "app.c:30"}, 2},
	{"timeline-zoomed", "#timeline?from=3000&to=7000&s=0&i=2&t=3",
		[]string{"thread 11 came last", "Thread 3 worked", "Calls open when it began"}, 2},
	{"timeline-path", "#timeline?path=1&from=3000&to=7000",
		[]string{"always along the thread that the others waited for", "Sections on the path", "thread 11"}, 2},
	{"timeline-ran", "#timeline?d=1&from=1000&to=9000&t=3&m=1100",
		[]string{"what ran: level 2", "Functions at work", "Thread 3 at", "worker > work", "Call paths of this stretch"}, 2},
	{"paths-window", "#paths?from=1000&to=9000&t=3&s=0", []string{"Only from", "work", "the whole run"}, 0},
	{"paths", "#paths", []string{"Call paths", "worker", "work", "idleness"}, 0},
	{"paths-found", "#paths?v=bottom-up&t=1&q=work&f=100*$1/$0", []string{"3 found", "100*$1/$0"}, 0},
	{"flame", "#paths?v=flame&m1=time&m2=idleness", []string{"Width: time", "redder: more idleness"}, 1},
	{"scaling", "#compare?p=0&q=2", []string{"Over the cores", "beside the run on 4 cores", "Speed-up"}, 0},
	{"beside-overview", "#overview?vs=1", []string{"Beside the other run", "The whole run", "What became of"}, 0},
	{"beside-section", "#section?s=0&vs=1", []string{"Beside app.lime", "of core time lost", "Change"}, 4},
	{"beside-timeline", "#timeline?vs=2", []string{"12 threads", "4 threads"}, 3},
	{"beside-paths", "#paths?vs=2", []string{"Beside app.lime", "change of time", "worker"}, 0},
	{"beside-threads", "#threads?m=wait&vs=1", []string{"Beside app.lime", "Changed most"}, 4},
	{"beside-source", "#source?s=0&path=src%2Fapp.c&line=10&vs=1", []string{"in app.lime", "for (int i = 0; i < n; i++)"}, 0},
	{"compare", "#compare?p=0&q=1", []string{"The whole run", "Parallel efficiency", "Sections", "same"}, 0},
}

func TestTheViewsInABrowser(t *testing.T) {
	b := newBrowser(t)
	b.serve(runOf(fixture(t, 12, 24)), runOf(fixture(t, 12, 20)), runOf(fixture(t, 4, 20)))
	for _, s := range shows {
		for i, screen := range []struct {
			scheme string
			width  int64
		}{{"light", 1920}, {"dark", 1920}, {"light", 390}, {"dark", 390}} {
			b.screen(screen.scheme, screen.width)
			if i == 0 {
				b.open(s.hash)
			} else { // as a window that is made narrower
				b.settle()
			}
			said := b.text()
			for _, words := range s.words {
				if !strings.Contains(said, words) && (screen.width > 640 || words != "runs, by thread") {
					t.Errorf("%s at %d does not say %q:\n%s", s.name, screen.width, words, said)
				}
			}
			if got := eval[string](b, "location.hash"); got != s.hash {
				t.Errorf("%s: the address became %s", s.name, got)
			}
			if n := eval[int](b, `document.querySelectorAll("canvas").length`); n < s.canvases {
				t.Errorf("%s: %d charts, want %d", s.name, n, s.canvases)
			} else {
				for k := range n {
					if b.painted(k) < 2 {
						t.Errorf("%s at %d: chart %d is empty", s.name, screen.width, k)
					}
				}
			}
			if eval[bool](b, "document.documentElement.scrollWidth > innerWidth") {
				t.Errorf("%s is wider than a screen of %d", s.name, screen.width)
			}
			if much := eval[string](b, tooMuch); much != "" && s.name != "paths-found" { // a formula's figures have no bound
				t.Errorf("%s: shares of %s", s.name, much)
			}
			if cut := eval[string](b, cutOff); cut != "" {
				t.Errorf("%s at %d: to be seen only by those who scroll sideways: %s", s.name, screen.width, cut)
			}
			if dark := eval[string](b, "getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 15)"; dark != (screen.scheme == "dark") {
				t.Errorf("%s: %s is not %s", s.name, s.hash, screen.scheme)
			}
			if n := eval[int](b, `[...document.querySelectorAll("canvas, dialog, nav, select")]
				.filter(e => !e.ariaLabel && !e.getAttribute("aria-labelledby") && !e.closest("label")).length`); n > 0 {
				t.Errorf("%s: %d parts have no words for those who do not see them", s.name, n)
			}
			b.keep(fmt.Sprintf("%s-%s-%d", s.name, screen.scheme, screen.width))
		}
	}
}

// The figures of calls that are far inside are seen on a phone, too.
func TestDeepPathsOnAPhone(t *testing.T) {
	b := newBrowser(t)
	p := fixture(t, 4, 5)
	at := profile.PathID(1)
	for i := range 24 {
		n := p.AddNode(profile.Node{
			Image: 0, Addr: uint64(0x9000 + 16*i), LastAddr: uint64(0x9008 + 16*i), Size: 4, Instrs: 1, Kind: profile.EndRet,
			Function: p.AddFunction(profile.Function{Image: 0, Name: fmt.Sprintf("a_function_with_a_long_name_%d", i), File: 0, Line: 9})})
		at = p.AddPath(profile.PathNode{Parent: at, Node: n})
	}
	p.AddPathSample(profile.PathSample{Path: at, Metric: "time", Value: 1e6, Thread: 0, Section: 0})
	b.serve(runOf(p))
	b.screen("light", 390)
	b.open("#paths")
	b.shows("a_function_with_a_long_name_23")
	if cut := eval[string](b, cutOff); cut != "" {
		t.Errorf("to be seen only by those who scroll sideways: %s", cut)
	}
	b.keep("paths-deep-390")
}

// A share in these views is of what there is: none is more than all of it.
const tooMuch = `[...document.querySelector("main").innerText.matchAll(/([0-9.]+)\s%/g)]
	.filter((m) => Number(m[1]) > 100).map((m) => m[0]).join("; ")`

// cutOff names what does not fit: tables (source code may be wider than a screen, its columns before
// the text take no more than half of it), and the tab of the view that is shown.
const cutOff = `(() => {
  const words = (e) => e.innerText.slice(0, 60).replace(/\s+/g, " ");
  const wide = [...document.querySelectorAll(".scroll")].filter((e) => e.scrollWidth > e.clientWidth + 1).map(words);
  const text = [...document.querySelectorAll(".src td.text")]
    .filter((e) => e.offsetLeft > Math.max(innerWidth / 2, 330)).slice(0, 1).map((e) => "source at " + e.offsetLeft);
  const tab = [...document.querySelectorAll(".tabs a[aria-current]")]
    .filter((e) => e.getBoundingClientRect().right > innerWidth).map(words);
  return [...wide, ...text, ...tab].join("; "); })()`

func TestTheKeys(t *testing.T) {
	b := newBrowser(t)
	b.serve(runOf(fixture(t, 6, 8)))
	b.screen("light", 1280)
	b.open("")
	for _, step := range []struct{ key, ask, want string }{
		{"2", "location.hash", "#section?p=0"},
		{"5", "location.hash", "#threads?p=0"},
		{"n", "location.hash", "#section?p=0&s=0"},
		{"n", "location.hash", "#section?p=0&s=1"},
		{"p", "location.hash", "#section?p=0&s=0"},
		{"?", "String(document.querySelector('dialog').open)", "true"},
		{"\u001b", "String(document.querySelector('dialog').open)", "false"},
		{"1", "location.hash", "#overview?p=0"},
	} {
		b.key(step.key)
		if got := eval[string](b, step.ask); got != step.want {
			t.Errorf("key %q: %s is %q, want %q", step.key, step.ask, got, step.want)
		}
	}
	b.open("#section?s=0")
	eval[bool](b, `(document.querySelector("canvas[tabindex]").focus(), true)`)
	b.key("\r") // picks the cell in the corner
	if got := eval[string](b, "location.hash"); !strings.Contains(got, "pick=0%2C0%2C0%2C0") {
		t.Errorf("Enter on the heat map: %s", got)
	}
}

// Names that are markup are shown as text, and nothing of them runs.
func TestHostileNamesInABrowser(t *testing.T) {
	b := newBrowser(t)
	evil := `<img src=x onerror=document.title="owned"><script>document.title="owned"</script>"'` + "\u202e"
	b.serve(runOf(fixture(t, 4, 3, evil)))
	b.screen("light", 1280)
	for _, s := range shows {
		if strings.Contains(s.hash, "vs=") || strings.Contains(s.hash, "q=1") || strings.Contains(s.hash, "q=2") {
			continue // there is one run
		}
		b.open(s.hash)
		if eval[bool](b, `document.title === "owned" || document.querySelector("main img, main script") !== null`) {
			t.Errorf("%s: a name became markup", s.name)
		}
	}
	b.open("#source")
	if text := b.text(); !strings.Contains(text, "<img src=x") || strings.Contains(text, "\u202e") {
		t.Errorf("the names are not shown as they are:\n%s", text)
	}
}

// A static copy shows the same from files.
func TestTheStaticCopyInABrowser(t *testing.T) {
	b := newBrowser(t)
	dir := t.TempDir()
	if err := Export(dir, []*Run{runOf(fixture(t, 12, 6)), runOf(fixture(t, 12, 5)), runOf(fixture(t, 4, 5))}); err != nil {
		t.Fatal(err)
	}
	b.address = "file://" + dir + "/index.html"
	b.screen("light", 1280)
	for _, s := range shows {
		// a line's runs and any stretch are summed up when they are asked for
		if s.name == "threads" || s.name == "timeline-zoomed" || s.name == "timeline-path" ||
			s.name == "timeline-ran" || s.name == "paths-window" || strings.HasPrefix(s.name, "beside-") && s.name != "beside-paths" {
			continue
		}
		b.open(s.hash)
		said := b.text()
		for _, words := range s.words {
			if !strings.Contains(said, words) {
				t.Errorf("%s does not say %q:\n%s", s.name, words, said)
			}
		}
	}
}

// A run that goes on is shown as far as it is; what finishes is shown without a touch, and the
// button ends it.
func TestALiveRunInABrowser(t *testing.T) {
	b := newBrowser(t)
	s := b.serve()
	ended := make(chan bool, 1)
	s.Expect(func() { ended <- true })
	b.screen("light", 1280)
	b.open("#timeline")
	b.shows("Nothing has finished yet")
	s.Show([]*Run{runOf(fixture(t, 4, 3))}, true)
	b.shows("4 threads", "The program runs", "3 instances")
	s.Show([]*Run{runOf(fixture(t, 4, 8))}, true)
	b.shows("8 instances")
	eval[bool](b, `([...document.querySelectorAll("button")].find((x) => x.innerText === "End the program").click(), true)`)
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("the button ends nothing")
	}
	s.Show([]*Run{runOf(fixture(t, 4, 9))}, false)
	b.shows("The program has ended: this is the whole run", "9 instances")
}

// The buttons run the program again and show what came of it beside what was said.
func TestRunningAgainInABrowser(t *testing.T) {
	b := newBrowser(t)
	s := b.serve(runOf(fixture(t, 6, 9)))
	goOn := make(chan struct{})
	s.Allow(t.Context(), &rerun{goOn: goOn})
	b.screen("light", 1280)
	b.open("#section?s=0")
	b.shows("The buttons run ./app -n 4 again")
	click := `(document.querySelector("article.cause .again button").click(), true)`
	eval[bool](b, click)
	b.shows("runs without the", "stop")
	close(goOn)
	b.shows("Confirmed", "of what it loses is gone", "88.0", "90.0")
	b.keep("again-light-1280")
}

// Instructions stand beside the lines, and lead to theirs.
func TestInstructionsInABrowser(t *testing.T) {
	b := newBrowser(t)
	s := b.serve(runOf(fixture(t, 6, 9)))
	b.screen("dark", 1920)
	b.open("#source?s=0&line=10&asm=1")
	b.shows("start lime view with --binaries")
	s.AllowBinaries(code{})
	b.open("#source?s=0&line=11&asm=1")
	b.shows("add $1,%eax", "y.h:7", "the binary is gone")
	eval[bool](b, `([...document.querySelectorAll(".asm a")].find((x) => x.innerText === "10").click(), true)`)
	b.shows("the instructions of line 10")
	b.keep("instructions-dark-1920")
}

// From the opening to the cause is one click.
func TestTheWayToTheCause(t *testing.T) {
	b := newBrowser(t)
	b.serve(runOf(fixture(t, 6, 9)))
	b.screen("light", 1280)
	b.open("")
	b.shows("lost to imbalance", "app.c:30")
	eval[bool](b, `([...document.querySelectorAll("main a")].find((x) => x.innerText.includes("app.c:10")).click(), true)`)
	b.shows("thread 5 (worker 5) runs this loop", "for (int i = 0; i < n; i++)")
	at := `(() => {
		const r = document.querySelector("article.cause.here").getBoundingClientRect();
		return r.top > -50 && r.top < innerHeight / 2;
	})()`
	for range 100 {
		if eval[bool](b, at) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Error("the cause is not in sight")
}
