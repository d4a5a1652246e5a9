// A run that goes on while it is shown: what has finished of it so far.

package view

import (
	"net/http"
	"time"
)

// means are what a server may do besides showing.
type means struct {
	again Again // nil: nothing may be run
	jobs  *jobs
	asm   Assembler // nil: no binary may be read
	stop  func()    // ends the run that goes on; nil: there is none to end
}

// Live is whether there is more to come.
type Live struct {
	Generation int  `json:"generation"` // the answers of another one are out of date
	Running    bool `json:"running"`
	Stop       bool `json:"stop"` // the page may end the run
}

// Show shows profiles instead of those that were shown; running says that more is to come. Answers
// that are under way still look into the old ones.
func (s *Server) Show(runs []*Run, running bool) {
	before := s.api.Load()
	next := NewAPI(runs)
	next.means, next.live = before.means, Live{Generation: before.live.Generation + 1, Running: running}
	s.api.Store(next)
	next.Prepare()
}

// Expect has the page wait for a run that goes on, and lets it end that.
func (s *Server) Expect(stop func()) {
	a := s.api.Load()
	a.live.Running = true
	a.stop = stop
	s.guard.posts["/api/stop"] = true
}

// Watched tells whether somebody looked at the page a moment ago.
func (s *Server) Watched(within time.Duration) bool {
	return time.Since(time.Unix(0, s.asked.Load())) < within
}

func answerLive(a *API, _ *Run, _ *query) (any, error) {
	out := a.live
	out.Stop = out.Running && a.stop != nil
	return &out, nil
}

func answerStop(a *API, _ *Run, _ *query) (any, error) {
	if a.stop == nil || !a.live.Running {
		return nil, &Problem{http.StatusConflict, "Nothing runs that could be ended."}
	}
	a.stop()
	return answerLive(a, nil, nil)
}

// nothing answers while no profile is there.
func (a *API) nothing(name string, q *query) (any, error) {
	switch name {
	case "runs":
		return []*Info{}, nil
	case "live":
		return answerLive(a, nil, q)
	case "stop":
		return answerStop(a, nil, q)
	}
	return nil, &Problem{http.StatusServiceUnavailable, "Nothing has finished yet."}
}

// Growing prepares a profile that is still being written.
func (r *Run) Growing() *Run {
	r.found = nil
	return r
}
