// Command viewframes measures how fast the time line of 'lime view' opens and zooms in a headless
// Chromium: viewframes ADDRESS, where the address is the one that lime view printed. It prints the
// times until the overview and the time line have a first picture, and until they are exact, the
// frames a second while it zooms into the run and moves about, and the memory of the page.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
)

// frames zooms in by the wheel for some seconds, then moves, and counts the frames.
const frames = `new Promise((done) => {
  const c = document.querySelector("canvas.lanes"), box = c.getBoundingClientRect(), gaps = [];
  let n = 0, last = performance.now();
  const step = (now) => {
    gaps.push(now - last);
    last = now;
    if (++n > 180) {
      gaps.shift();
      gaps.sort((a, b) => a - b);
      done([1000 * gaps.length / gaps.reduce((a, b) => a + b, 0), gaps[Math.floor(gaps.length * 0.95)]]);
      return;
    }
    c.dispatchEvent(new WheelEvent("wheel", { deltaY: n < 120 ? -12 : 0, deltaX: n < 120 ? 0 : 8, ctrlKey: n < 120, clientX: box.left + box.width / 3, clientY: box.top + 5, bubbles: true, cancelable: true }));
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})`

// drawn: nothing is being read any more for the time line. That causes are still looked for, as on
// the first start of a large profile, is said above it and keeps nothing back.
const drawn = `document.querySelector("canvas.lanes") !== null && document.querySelector("[data-busy]") === null &&
  [...document.querySelectorAll(".loading")].every((e) => e.textContent.startsWith("Looking for causes"))`

// told: the overview has its figures, of the whole run or, until causes are known, of the threads.
// pictured: it has them, or the view has a sketch that is drawn.
const (
	told     = `document.querySelector("main .stack, main .terms") !== null`
	pictured = `document.querySelector("canvas.sketch[data-busy='0']") !== null || document.querySelector("canvas.lanes") !== null || ` + told
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: viewframes ADDRESS")
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		log.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("enable-precise-memory-info", true), chromedp.WSURLReadTimeout(time.Minute))
	alloc, cancelAlloc := chromedp.NewExecAllocator(context.Background(), options...)
	defer cancelAlloc()
	ctx, cancel := chromedp.NewContext(alloc)
	defer cancel()
	if err := measure(ctx, os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

// process is one that this one started, or that those started: the browser's.
type process struct {
	id    int
	ticks int64 // of the processor
}

// started are all of them.
func started() []process {
	parents, ticks := map[int]int{}, map[int]int64{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		words := strings.Fields(rest)
		if len(words) < 13 {
			continue
		}
		id, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		parents[id], _ = strconv.Atoi(words[1])
		user, _ := strconv.ParseInt(words[11], 10, 64)
		system, _ := strconv.ParseInt(words[12], 10, 64)
		ticks[id] = user + system
	}
	var out []process
	for id := range parents {
		for up := parents[id]; up > 1; up = parents[up] {
			if up == os.Getpid() {
				out = append(out, process{id, ticks[id]})
				break
			}
		}
	}
	return out
}

// spent is the processor time of the browser.
func spent() time.Duration {
	ticks := int64(0)
	for _, p := range started() {
		ticks += p.ticks
	}
	return time.Duration(ticks) * 10 * time.Millisecond // a tick is a hundredth of a second
}

// resident is what the process of the page has in memory, in MB, shared pages by its part of them:
// the browser's own code is among it.
func resident() float64 {
	kb := 0.0
	for _, p := range started() {
		command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.id))
		if err != nil || !strings.Contains(string(command), "--type=renderer") {
			continue
		}
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", p.id))
		_, rest, _ := strings.Cut(string(text), "\nPss:")
		if words := strings.Fields(rest); len(words) > 0 {
			n, _ := strconv.ParseFloat(words[0], 64)
			kb = max(kb, n) // spare ones have less
		}
	}
	return kb / 1000
}

// wait waits until something holds of the page, and returns how long that took.
func wait(ctx context.Context, began time.Time, what, js string) error {
	for time.Since(began) < 10*time.Minute {
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](js))
		if err != nil {
			return err
		}
		if ok {
			fmt.Printf("%s after %.2f s\n", what, time.Since(began).Seconds())
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("no %s within ten minutes", what)
}

func measure(ctx context.Context, address string) error {
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1600, 1000)); err != nil {
		return err
	}
	for _, view := range []struct{ hash, first, whole string }{{"#overview", pictured, told}, {"#timeline", pictured, drawn}} {
		start := time.Now()
		if err := chromedp.Do(ctx, chromedp.Navigate(address+"&view="+view.hash[1:]+view.hash)); err != nil {
			return err
		}
		if err := wait(ctx, start, view.hash[1:]+": first picture", view.first); err != nil {
			return err
		}
		if err := wait(ctx, start, view.hash[1:]+": exact", view.whole); err != nil {
			return err
		}
	}
	before := spent()
	got, err := chromedp.Run(ctx, chromedp.Evaluate[[]float64](frames, chromedp.EvalAwaitPromise))
	if err != nil {
		return err
	}
	fmt.Printf("processor time of the browser: %.1f ms a frame\n", float64((spent()-before).Milliseconds())/180)
	heap, err := chromedp.Run(ctx, chromedp.Evaluate[float64](`performance.memory.usedJSHeapSize`))
	if err != nil {
		return err
	}
	fmt.Printf("zooming and moving: %.0f frames a second, 95 %% of them within %.0f ms; JavaScript heap %.0f MB, the page's process %.0f MB\n",
		got[0], got[1], heap/1e6, resident())
	return nil
}
