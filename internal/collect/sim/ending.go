// How a run ends, and what is said of it.

package sim

import (
	"fmt"

	"lime/internal/guest"
)

// end is how the run ended.
type end struct {
	over   bool
	by     *thread // who ended the program
	state  string
	err    error
	exec   *guest.ExecRequest
	words  []string // for the user
	status int
	signal int
	asked  bool // interrupted as the options say
}

// ending is how the run ends.
type ending struct {
	memory *memory
	places *places
	roster *roster
	cfg    *Config
	end    *end
}

// stop ends the run.
func (e *ending) stop(state string, err error) {
	if !e.end.over {
		e.end.over, e.end.state, e.end.err = true, state, err
	}
}

func (e *ending) exited(s guest.Status) {
	state := "exited"
	if s.Signal != 0 {
		state = "signalled"
		e.end.words = append(e.end.words, e.deathWords(s))
		if e.cfg.interrupted != nil && e.cfg.interrupted() {
			state = "interrupted"
		}
	}
	e.end.status, e.end.signal = s.Code, s.Signal
	e.stop(state, nil)
}

// deathWords says which thread got the signal that ended the program, and where.
func (e *ending) deathWords(s guest.Status) string {
	t := e.roster.byGuest[s.Thread]
	if t == nil {
		return s.Text
	}
	return fmt.Sprintf("thread %d (%s) %s %s", t.id, t.g.Name, s.What, e.places.waitPlace(t))
}

// deadlock ends a run in which nobody can ever run again, and says who waits where.
func (e *ending) deadlock() {
	e.end.words = append(e.end.words, "deadlock: every thread waits, and nothing can wake any of them")
	texts := map[*guest.Thread]string{}
	for _, w := range e.memory.proc.Waits() {
		texts[w.Thread] = w.Text
	}
	for _, t := range e.roster.threads {
		if t.gone {
			continue
		}
		e.end.words = append(e.end.words, fmt.Sprintf("  thread %d (%s) waits %s: %s", t.id, t.g.Name,
			e.places.waitPlace(t), e.waitWhat(t, texts[t.g])))
	}
	e.stop("deadlock", nil)
}

func (e *ending) waitWhat(t *thread, text string) string {
	if n := len(t.frames); n > 0 {
		return fmt.Sprintf("%s(%#x)", t.frames[n-1].fn.Name, t.frames[n-1].object)
	}
	if t.spin != nil {
		return "spins until memory changes"
	}
	return text
}
