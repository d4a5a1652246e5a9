package cli

// A run that is shown in a browser while it goes on: --view.

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"lime/internal/analysis"
	"lime/internal/view"
)

func viewFlag(fl *pflag.FlagSet, on *bool) {
	fl.BoolVar(on, "view", false,
		"show in a browser what has finished so far, and the whole when the program has ended, until you interrupt lime")
}

// liveView shows a profile that is being written. A nil one shows nothing.
type liveView struct {
	app    *app
	heap   view.Heap
	path   string
	server *view.Server
	end    context.CancelFunc // of serving
	stop   context.CancelFunc // of refreshing
	done   chan struct{}      // the refreshing has ended
	term   chan os.Signal     // holds lime when the run that it has ended is gone already
	old    []func() error     // profiles that were shown
}

// startLive serves the page of a run that is about to begin.
func (a *app) startLive(on bool, path string) (*liveView, error) {
	if !on {
		return nil, nil
	}
	s, err := view.Listen("", nil)
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(context.Background())
	l := &liveView{app: a, path: path, server: s, end: end, done: make(chan struct{}), term: make(chan os.Signal, 1)}
	signal.Notify(l.term, syscall.SIGTERM)
	s.Expect(stopRun)
	go func() { _ = s.Serve(ctx) }() // it ends with lime; what cannot be served is missed in the page
	fmt.Fprintln(a.stderr, "lime: the run is shown at", s.Address())
	if a.desktop() {
		openBrowser(s.Address())
	}
	var refreshing context.Context
	refreshing, l.stop = context.WithCancel(ctx)
	go l.refresh(refreshing)
	return l, nil
}

// stopRun ends the program as if somebody had sent lime the signal: lime passes it on.
func stopRun() { _ = syscall.Kill(os.Getpid(), syscall.SIGTERM) }

// How often the page gets something new: looking takes at most a tenth of one core's time, and
// nothing when nobody looks.
const (
	leastRefresh = time.Second
	refreshShare = 10
	watching     = 5 * time.Second // a page asks every second
)

func (l *liveView) refresh(ctx context.Context) {
	defer close(l.done)
	pause := leastRefresh
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		if !l.server.Watched(watching) {
			continue
		}
		began := time.Now()
		l.show(true)
		pause = max(leastRefresh, refreshShare*time.Since(began))
	}
}

// show shows what there is of the profile; running says that it grows.
func (l *liveView) show(running bool) {
	runs, done, err := openRuns([]string{l.path}, analysis.DefaultOptions(), &l.heap)
	if err != nil {
		_ = done() // there is nothing yet
		return
	}
	for _, r := range runs {
		r.Growing()
	}
	l.server.Show(runs, running)
	l.old = append(l.old, done)
	if n := len(l.old) - 3; n >= 0 { // those that answers under way may look into stay open
		_ = l.old[n]()
		l.old[n] = func() error { return nil }
	}
}

// release closes the profile, which is about to be written anew: the run has ended.
func (l *liveView) release() {
	if l == nil {
		return
	}
	l.stop()
	<-l.done
	l.server.Show(nil, true)
	l.close()
}

func (l *liveView) close() {
	for _, done := range l.old {
		_ = done()
	}
	l.old = nil
}

// finish shows the finished profile until the user interrupts lime.
func (l *liveView) finish() {
	if l == nil {
		return
	}
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, os.Interrupt, syscall.SIGTERM)
	signal.Stop(l.term)
	l.show(false)
	fmt.Fprintln(l.app.stderr, "lime: the program has ended; its page is served until you interrupt lime")
	<-stopped
	signal.Stop(stopped)
	l.end()
	l.close()
}
