package report

import (
	"context"
	"os"
	"path/filepath"
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

// browser starts a headless Chromium, or skips the test.
func browser(t *testing.T) context.Context {
	t.Helper()
	testenv.SkipShort(t)
	testenv.Tool(t, "chromium")
	const limit = 4 * time.Minute // a first start on a busy machine takes long
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.NoSandbox,
		chromedp.Flag("disable-dev-shm-usage", true), // containers have little of it
		chromedp.Flag("force-device-scale-factor", "1"), chromedp.WSURLReadTimeout(limit))
	alloc, cancelAlloc := chromedp.NewExecAllocator(t.Context(), options...)
	ctx, cancel := chromedp.NewContext(alloc)
	ctx, cancelTime := context.WithTimeout(ctx, limit)
	t.Cleanup(func() { cancelTime(); cancel(); cancelAlloc() })
	return ctx
}

// watch collects whatever the page complains of or loads.
func watch(t *testing.T, ctx context.Context) func() []string {
	t.Helper()
	var mu sync.Mutex
	var seen []string
	add := func(what string) { mu.Lock(); seen = append(seen, what); mu.Unlock() }
	err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			add(e.ExceptionDetails.Text)
		case *runtime.EventConsoleAPICalled:
			add("console." + string(e.Type))
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, "file:") && !strings.HasPrefix(e.Request.URL, "data:") {
				add("request for " + e.Request.URL)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	return func() []string { mu.Lock(); defer mu.Unlock(); return seen }
}

// ask runs actions whose results are wanted one by one.
func ask[T any](t *testing.T, ctx context.Context, a chromedp.Action[T]) T {
	t.Helper()
	out, err := chromedp.Run(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// writePage leaves the sample's page in a file and returns its address.
func writePage(t *testing.T, threads int) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, htmlReport(t, Build(sample(threads))), 0o666); err != nil {
		t.Fatal(err)
	}
	return "file://" + file
}

// The layouts in which the page must hold.
var layouts = []struct {
	name   string
	scheme string
	width  int64
}{
	{"desktop-light", "light", 1280}, {"desktop-dark", "dark", 1280},
	{"phone-light", "light", 375}, {"phone-dark", "dark", 375},
}

func TestPageInABrowser(t *testing.T) {
	ctx := browser(t)
	complaints := watch(t, ctx)
	address := writePage(t, 32)
	for _, l := range layouts {
		show(t, ctx, address, l.scheme, l.width)
		if ask(t, ctx, chromedp.Evaluate[bool](`document.documentElement.scrollWidth > innerWidth`)) {
			t.Errorf("%s: the page is wider than the screen", l.name)
		}
		background := ask(t, ctx, chromedp.Evaluate[string](`getComputedStyle(document.body).backgroundColor`))
		if dark := background == "rgb(20, 23, 15)"; dark != (l.scheme == "dark") {
			t.Errorf("%s: background %s", l.name, background)
		}
		keep(t, l.name, ask(t, ctx, chromedp.FullScreenshot(100)))
	}
	if seen := complaints(); len(seen) > 0 {
		t.Errorf("the page complains: %v", seen)
	}
}

// keep leaves a screenshot in the directory that LIME_PAGES names.
func keep(t *testing.T, name string, picture []byte) {
	t.Helper()
	if dir := os.Getenv("LIME_PAGES"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// show opens the page in a colour scheme at a width.
func show(t *testing.T, ctx context.Context, address, scheme string, width int64) {
	t.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
}

func TestPageIsUsableByKeyboard(t *testing.T) {
	ctx := browser(t)
	show(t, ctx, writePage(t, 32), "light", 1280)
	for _, step := range []struct{ key, ask, want string }{
		{"\t", "document.activeElement.className", "skip"},
		{"n", "document.activeElement.id", "s1"},
		{"n", "document.activeElement.id", "s2"},
		{"p", "document.activeElement.id", "s1"},
	} {
		if err := chromedp.Do(ctx, chromedp.KeyEvent(step.key)); err != nil {
			t.Fatal(err)
		}
		if got := ask(t, ctx, chromedp.Evaluate[string](step.ask)); got != step.want {
			t.Errorf("key %q: %s is %q, want %q", step.key, step.ask, got, step.want)
		}
	}
	if err := chromedp.Do(ctx, chromedp.Focus(chromedp.CSS(`#s1 button[data-order="time"]`)), chromedp.KeyEvent("\r")); err != nil {
		t.Fatal(err)
	}
	moved := ask(t, ctx, chromedp.Evaluate[string](`document.querySelector('#s1 .threads g[data-i="8"]').getAttribute("transform")`))
	if moved != "translate(-7 0)" {
		t.Errorf("thread 8, second by time, moved by %q", moved)
	}
	unnamed := ask(t, ctx, chromedp.Evaluate[int](`[...document.querySelectorAll("svg")].filter(s => !s.getAttribute("aria-label")).length`))
	if unnamed != 0 {
		t.Errorf("%d charts have no words", unnamed)
	}
}
