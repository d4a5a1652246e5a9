// A browser for tests: a headless Chromium, a server with runs, and what a page shows.

package view

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"lime/internal/testenv"
)

// browser is a page of a headless Chromium on a server, or the test is skipped.
type browser struct {
	t       *testing.T
	ctx     context.Context
	address string
	home    string // that requests may go to
	mu      sync.Mutex
	seen    []string // complaints
	loads   int

	patience time.Duration // with a page that comes to rest
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	testenv.SkipShort(t)
	testenv.Tool(t, "chromium")
	t.Parallel()             // most of the time a browser test waits
	limit := 5 * time.Minute // a first start on a busy machine takes long
	if testenv.Long() {
		limit = 20 * time.Minute
	}
	ctx := page(t, limit)
	b := &browser{t: t, ctx: ctx, patience: 30 * time.Second}
	b.watch()
	return b
}

// chromium is the browser in which all tests have their pages: starting one takes more of the
// processor's time than what most tests do in it.
type chromium struct {
	mu  sync.Mutex
	ctx context.Context // nil: it is not started, or has ended
	end func()
}

// all is that of this package's tests.
var all chromium

// TestMain ends the browser, if a test has started it.
func TestMain(m *testing.M) {
	code := m.Run()
	all.close()
	os.Exit(code)
}

// started is the running browser, in whose context others are made.
func (c *chromium) started(limit time.Duration) (context.Context, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx != nil && c.ctx.Err() == nil {
		return c.ctx, nil
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.NoSandbox,
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("force-device-scale-factor", "1"), chromedp.WSURLReadTimeout(limit))
	alloc, cancelAlloc := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(alloc)
	end := func() { cancel(); cancelAlloc() }
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil { // the first call starts it
		end()
		return nil, err
	}
	c.ctx, c.end = ctx, end
	return ctx, nil
}

// lost has the next who asks start another browser, unless somebody has.
func (c *chromium) lost(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx == ctx && c.ctx != nil {
		c.end()
		c.ctx = nil
	}
}

func (c *chromium) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx != nil {
		c.end()
	}
}

// page is a page that shares nothing with those of other tests, not even who has the keyboard. On a
// machine that is short of something for a moment a browser may end as it starts, before it has seen
// a page: that says nothing of a page, and another one is started.
func page(t *testing.T, limit time.Duration) context.Context {
	t.Helper()
	const attempts = 3
	for left := attempts - 1; ; left-- {
		in, err := all.started(limit)
		if err == nil {
			ctx, cancel := chromedp.NewContext(in, chromedp.WithNewBrowserContext())
			ctx, cancelTime := context.WithTimeout(ctx, limit)
			stop := func() { cancelTime(); cancel() }
			focused := emulation.SetFocusEmulationEnabledParams{Enabled: true}
			if _, err = chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, focused); err == nil {
				t.Cleanup(stop)
				return ctx
			}
			stop()
			all.lost(in)
		}
		if left == 0 {
			t.Fatal(err)
		}
		t.Log("the browser is started again: ", err)
	}
}

// serve starts a server for the browser.
func (b *browser) serve(runs ...*Run) *Server {
	s := serverOf(b.t, runs...)
	go s.Serve(b.t.Context())
	b.address = s.Address()
	b.home, _, _ = strings.Cut(b.address, "?")
	return s
}

// watch collects whatever the page complains of, and requests that leave the server.
func (b *browser) watch() {
	add := func(what string) { b.mu.Lock(); b.seen = append(b.seen, what); b.mu.Unlock() }
	err := chromedp.Listen(b.ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			what := e.ExceptionDetails.Text
			if e.ExceptionDetails.Exception != nil {
				what += " " + e.ExceptionDetails.Exception.Description
			}
			add(what)
		case *runtime.EventConsoleAPICalled:
			add("console." + string(e.Type))
		case *network.EventRequestWillBeSent:
			if u := e.Request.URL; !strings.HasPrefix(u, b.home) && !strings.HasPrefix(u, "data:") && !strings.HasPrefix(u, "file:") {
				add("request for " + u)
			}
		}
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := chromedp.Call(b.ctx, network.Enable, network.EnableParams{}); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if seen := b.complaints(); len(seen) > 0 {
			b.t.Errorf("the page complains: %v", seen)
		}
	})
}

func (b *browser) complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.seen)
}

// largeViews are what is looked at of a profile of 1,000 threads and a million instances.
var largeViews = []struct {
	hash     string
	words    []string
	canvases int
}{
	{"#timeline", []string{"1000 threads", "In this stretch", "big.c:9"}, 2},
	{"#timeline?from=2000000&to=2001000&path=1", []string{"Critical path", "Sections on the path"}, 2},
	{"#timeline?d=0&from=2000000&to=4000000", []string{"what ran: innermost", "Functions at work", "step_3"}, 2},
	{"#paths?from=2000000&to=4000000", []string{"Only from", "worker", "step_3"}, 0},
	{"#paths", []string{"worker"}, 0},
	{"#overview", []string{"What became of 1000 cores", "big.c:9"}, 0},
	{"#section?s=0&m=time", []string{"Ends at a barrier", "The account"}, 3},
	{"#threads", []string{"1000 threads", "Furthest from the median"}, 2},
	{"#source", []string{"big.c"}, 0},
}

// screen sets the colour scheme and the size.
func (b *browser) screen(scheme string, width int64) {
	b.t.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, media); err != nil {
		b.t.Fatal(err)
	}
	if err := chromedp.Do(b.ctx, chromedp.EmulateViewport(width, 1000)); err != nil {
		b.t.Fatal(err)
	}
}

// open shows a view in a fresh page, as a link would, and waits until nothing is being read.
func (b *browser) open(hash string) {
	b.t.Helper()
	b.load(hash)
	b.settle()
}

// load loads the page anew. Of an address that is shown already the browser would only follow what
// stands after #: each has a number of its own, which nobody heeds. Another page in between would
// cost a process of the browser's.
func (b *browser) load(hash string) {
	b.t.Helper()
	b.loads++
	address, query, _ := strings.Cut(b.address, "?")
	eval[bool](b, `(window.stale = true)`)
	if err := chromedp.Do(b.ctx, chromedp.Navigate(fmt.Sprintf("%s?%s&load=%d%s", address, query, b.loads, hash))); err != nil {
		b.t.Fatal(err)
	}
	if eval[bool](b, `window.stale === true`) {
		b.t.Fatalf("%s: the page is not loaded anew", hash)
	}
}

// settle waits until the page has what it asked for.
func (b *browser) settle() {
	b.t.Helper()
	rest := 0
	for began := time.Now(); time.Since(began) < b.patience; {
		if !eval[bool](b, `document.querySelector("main") !== null && document.querySelector(".loading, [data-busy]") === null`) {
			rest = 0
		} else if rest++; rest == 3 { // what has come may ask for more
			return
		}
		time.Sleep(30 * time.Millisecond)
	}
	b.t.Fatalf("the page does not come to rest: %q %s", b.complaints(), eval[string](b, `document.body.innerText.slice(0, 500)`))
}

func eval[T any](b *browser, js string) T {
	b.t.Helper()
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](js))
	if err != nil {
		b.t.Fatalf("%s: %v", js, err)
	}
	return out
}

// text is what the page shows.
func (b *browser) text() string {
	b.t.Helper()
	return strings.ReplaceAll(eval[string](b, `document.querySelector("main").innerText`), "\u00a0", " ")
}

func (b *browser) key(keys string) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, chromedp.KeyEvent(keys)); err != nil {
		b.t.Fatal(err)
	}
	b.settle()
}

// keep leaves a screenshot in the directory that LIME_PAGES names.
func (b *browser) keep(name string) {
	b.t.Helper()
	dir := os.Getenv("LIME_PAGES")
	if dir == "" {
		return
	}
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o666); err != nil {
		b.t.Fatal(err)
	}
}

// painted counts the different colours of the nth canvas, up to three: no test asks for more, and a
// screen has two million points.
func (b *browser) painted(n int) int {
	b.t.Helper()
	return eval[int](b, fmt.Sprintf(`(() => {
  const c = document.querySelectorAll("canvas")[%d], seen = new Set();
  for (const point of new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer))
    if (seen.add(point).size === 3) break;
  return seen.size; })()`, n))
}

// shows waits until the page says all of this.
func (b *browser) shows(words ...string) {
	b.t.Helper()
	said := ""
	for range 600 {
		said = b.text()
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(said, w) }) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.t.Fatalf("the page does not say %q:\n%s", words, said)
}
