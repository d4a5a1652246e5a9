// Command viewframes measures how fast the time line of 'lime view' opens and zooms in a headless
// Chromium: viewframes ADDRESS, where the address is the one that lime view printed. It prints the
// time until the whole run is drawn, the frames a second while it zooms into the run and moves
// about, and the memory of the page.
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

// spent is the processor time of all processes that this one started, and those started: the
// browser's.
func spent() time.Duration {
	type process struct {
		parent int
		ticks  int64
	}
	all := map[int]process{}
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
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		parent, _ := strconv.Atoi(words[1])
		user, _ := strconv.ParseInt(words[11], 10, 64)
		system, _ := strconv.ParseInt(words[12], 10, 64)
		all[pid] = process{parent, user + system}
	}
	ticks := int64(0)
	for pid, p := range all {
		for up := p.parent; up > 1; up = all[up].parent {
			if up == os.Getpid() && pid != up {
				ticks += p.ticks
				break
			}
		}
	}
	return time.Duration(ticks) * 10 * time.Millisecond // a tick is a hundredth of a second
}

func measure(ctx context.Context, address string) error {
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1600, 1000)); err != nil {
		return err
	}
	start := time.Now()
	if err := chromedp.Do(ctx, chromedp.Navigate(address+"#timeline")); err != nil {
		return err
	}
	for {
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](drawn))
		if err != nil {
			return err
		}
		if ok {
			break
		}
		if time.Since(start) > 10*time.Minute {
			return fmt.Errorf("the time line was not drawn within ten minutes")
		}
		time.Sleep(20 * time.Millisecond)
	}
	fmt.Printf("time line drawn after %.2f s\n", time.Since(start).Seconds())
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
	fmt.Printf("zooming and moving: %.0f frames a second, 95 %% of them within %.0f ms; JavaScript heap %.0f MB\n", got[0], got[1], heap/1e6)
	return nil
}
