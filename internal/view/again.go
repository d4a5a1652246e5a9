// Runs that the page asks for: the same program again, with a cause taken away or a line evened
// out.

package view

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"lime/internal/report"
)

// Again runs programs again, where the user allowed it. What it is told is where something stands
// in the report: nothing that the page sends names a file or a command.
type Again interface {
	// Possible returns the command of a profile's run, or why it cannot be run again.
	Possible(p int) (command string, err error)
	// Without runs it without a cause of a section, or with its cost evened out; causes count from
	// 1.
	Without(ctx context.Context, p, section, cause int) (*Outcome, error)
	// Even runs it with what the threads do at a line of a section evened out.
	Even(ctx context.Context, p, section int, file string, line int) (*Outcome, error)
}

// Outcome sets what was said of a change beside what the run shows.
type Outcome struct {
	Text      string  `json:"text"` // in words
	Before    Balance `json:"before"`
	Said      Balance `json:"said"`
	After     Balance `json:"after"`
	RunBefore float64 `json:"run_time_before"`
	RunAfter  float64 `json:"run_time_after"`
	Run       bool    `json:"run"` // false: there is only what was said, and the text says why
}

// Balance is a section's imbalance, and the part of what it loses that is gone.
type Balance struct {
	Imbalance float64 `json:"imbalance"`
	Gone      float64 `json:"gone"`
}

// job is a run that was asked for. One is under way at a time: they take all cores of the machine.
type job struct {
	id      int
	what    string
	began   time.Time
	cancel  context.CancelFunc
	done    chan struct{}
	outcome *Outcome
	err     error
}

// jobs are the runs of a server.
type jobs struct {
	mu   sync.Mutex
	ctx  context.Context // ends with the server
	list []*job
}

// Job is how a run stands.
type Job struct {
	ID      int      `json:"id"`
	What    string   `json:"what"`
	Done    bool     `json:"done"`
	Seconds float64  `json:"seconds"`
	Outcome *Outcome `json:"outcome,omitempty"`
	Error   string   `json:"error,omitempty"`
}

// start begins a run, unless one is under way.
func (j *jobs) start(what string, run func(context.Context) (*Outcome, error)) (*Job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if n := len(j.list); n > 0 && !j.list[n-1].ended() {
		return nil, &Problem{http.StatusConflict, "Another run is under way: " + j.list[n-1].what + "."}
	}
	ctx, cancel := context.WithCancel(j.ctx)
	b := &job{id: len(j.list), what: what, began: time.Now(), cancel: cancel, done: make(chan struct{})}
	j.list = append(j.list, b)
	go func() {
		defer close(b.done)
		defer cancel()
		defer caught("the run", &b.err)
		b.outcome, b.err = run(ctx)
	}()
	return b.state(), nil
}

func (b *job) ended() bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}

func (b *job) state() *Job {
	out := &Job{ID: b.id, What: b.what, Seconds: time.Since(b.began).Seconds()}
	if out.Done = b.ended(); out.Done {
		if out.Outcome = b.outcome; b.err != nil {
			out.Error = b.err.Error()
		}
	}
	return out
}

// find returns a run by its number.
func (j *jobs) find(id int) (*job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if id < 0 || id >= len(j.list) {
		return nil, missing("there is no run %d", id)
	}
	return j.list[id], nil
}

// Allow lets the page have programs run again, until the context ends.
func (s *Server) Allow(ctx context.Context, again Again) {
	a := s.api.Load()
	a.again, a.jobs = again, &jobs{ctx: ctx}
	s.guard.posts["/api/again"], s.guard.posts["/api/cancel"] = true, true
}

// Possible is whether a profile's program may be run again from the page.
type Possible struct {
	Allowed bool   `json:"allowed"`
	Command string `json:"command,omitempty"`
	Why     string `json:"why,omitempty"`
}

func answerPossible(a *API, _ *Run, q *query) (any, error) {
	p := q.whole("p", 0, len(a.runs)-1, 0)
	if a.again == nil {
		return &Possible{Why: "lime view was started without --allow-run"}, nil
	}
	command, err := a.again.Possible(p)
	if err != nil {
		return &Possible{Why: err.Error()}, nil
	}
	return &Possible{Allowed: true, Command: command}, nil
}

// answerAgain begins a run: without cause c of section s, or with row r of its account evened out.
func answerAgain(a *API, r *Run, q *query) (any, error) {
	if a.again == nil {
		return nil, refuse("lime view was started without --allow-run")
	}
	p, s := q.whole("p", 0, len(a.runs)-1, 0), q.section(r)
	cause, row := q.whole("c", 0, 1<<20, 0), q.whole("r", -1, 1<<20, -1)
	if q.err != nil {
		return nil, q.err
	}
	rep, err := r.report()
	if err != nil {
		return nil, err
	}
	page := report.NewSectionPage(rep, s)
	switch {
	case page == nil:
		return nil, missing("section %d is no parallel section", s)
	case cause > 0:
		for i := range page.Pages {
			if c := &page.Pages[i]; c.Rank == cause {
				return a.jobs.start("without the "+c.Title+" at "+c.Place, func(ctx context.Context) (*Outcome, error) {
					return a.again.Without(ctx, p, s, cause)
				})
			}
		}
		return nil, missing("section %d has no cause %d", s, cause)
	case page.Account == nil || row < 0 || row >= len(page.Account.Rows) || page.Account.Rows[row].Line == 0:
		return nil, missing("section %d has no line in row %s of its account", s, strconv.Itoa(row))
	}
	at := &page.Account.Rows[row]
	return a.jobs.start("with "+at.Place+" evened out", func(ctx context.Context) (*Outcome, error) {
		return a.again.Even(ctx, p, s, at.File, at.Line)
	})
}

func answerJob(a *API, _ *Run, q *query) (any, error) {
	b, err := a.job(q)
	if err != nil {
		return nil, err
	}
	return b.state(), nil
}

func answerCancel(a *API, _ *Run, q *query) (any, error) {
	b, err := a.job(q)
	if err != nil {
		return nil, err
	}
	b.cancel()
	return b.state(), nil
}

func (a *API) job(q *query) (*job, error) {
	id := q.whole("id", 0, 1<<20, 0)
	if q.err != nil {
		return nil, q.err
	}
	if a.jobs == nil {
		return nil, missing("there is no run %d", id)
	}
	return a.jobs.find(id)
}
