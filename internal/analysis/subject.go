package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lime/internal/profile"
)

// Subject is what a hardware cause is about: which data, and shared with whom.
type Subject struct {
	Sharing string `json:"sharing,omitempty"` // "false sharing with a.c:16"
	Data    string `json:"data,omitempty"`    // "counters+0x18", "memory allocated at a.c:9", "the stack of thread 3"
	Against string `json:"against,omitempty"` // data of the other side, if they are other data
	Held    string `json:"held,omitempty"`    // of a lock: the call, "a.c:9", that had taken it where threads waited for it longest
	// Luck says that most of it is misses of lines that had to leave a cache because their pages'
	// frames share sets: under another placement of pages they may not occur.
	Luck bool `json:"luck,omitempty"`
}

// Parts of the detail of an event, as collectors write them (docs/profile-format.md).
const (
	detailData    = "on "
	detailAgainst = "against "
	detailHeld    = "held at "
	detailBetween = "; "
)

func subject(detail string) (s Subject) {
	for part := range strings.SplitSeq(detail, detailBetween) {
		if part == profile.DetailConflict {
			s.Luck = true
		} else if data, ok := strings.CutPrefix(part, detailData); ok {
			s.Data = data
		} else if data, ok := strings.CutPrefix(part, detailAgainst); ok {
			s.Against = data
		} else if call, ok := strings.CutPrefix(part, detailHeld); ok {
			s.Held = call
		} else {
			s.Sharing = part
		}
	}
	if s.Against == s.Data {
		s.Against = ""
	}
	return s
}

// SameData reports whether an event, by its detail, is about the data that a person names: whole,
// or without an offset.
func SameData(detail, want string) bool {
	data := subject(detail).Data
	return want != "" && (data == want || strings.HasPrefix(data, want+"+"))
}

// subjectOf is that of a cause's events: of its line's instructions, the one that knows the other
// side, and has the event most often.
func (r *runner) subjectOf(c *Cause) Subject {
	if c.Family != FamilyHardware {
		return Subject{}
	}
	var rows []int
	for i := range r.tab.Events {
		e := &r.tab.Events[i]
		if e.Detail == "" || r.prog.kindName(e.Kind) != c.Event {
			continue
		}
		if at := r.prog.eventPlace(e); at.File == c.File && at.Line == c.Line && (c.Line > 0 || at.Address == c.Address) {
			rows = append(rows, i)
		}
	}
	return r.subjectAmong(rows, func(i int) float64 { return float64(r.weight(i)) })
}

// subjectAmong is that of the heaviest of some events, of one that knows the other side if there is
// one.
func (r *runner) subjectAmong(events []int, weight func(int) float64) Subject {
	if len(events) == 0 {
		return Subject{}
	}
	shared := func(i int) bool { return subject(r.tab.Events[i].Detail).Sharing != "" }
	best := slices.MaxFunc(events, func(a, b int) int {
		return cmp.Or(compareBool(shared(a), shared(b)), cmp.Compare(weight(a), weight(b)), cmp.Compare(b, a))
	})
	return subject(r.tab.Events[best].Detail)
}

// words are the sentence about it.
func (s Subject) words() string { return s.about() + s.luck() }

// luck says that placement has a part in it.
func (s Subject) luck() string {
	if !s.Luck {
		return ""
	}
	return " Most of the lines that are missed had to leave the cache because too many pages in use fell into the " +
		"same part of it, though it had room: that is luck of where pages lie in memory, at least in part."
}

func (s Subject) about() string {
	switch {
	case s.Held != "":
		return s.lockWords()
	case s.Sharing == "" && s.Data == "":
		return ""
	case s.Sharing == "":
		return " The data: " + s.Data + "."
	}
	out := " It is " + s.Sharing
	if s.Data != "" {
		out += ", of " + s.Data
	}
	if s.Against != "" {
		out += ", where the other side writes " + s.Against
	}
	return out + "."
}

// lockWords are those about a lock.
func (s Subject) lockWords() string {
	lock := "It"
	if s.Data != "" {
		lock = "The lock, " + s.Data + ","
	}
	return fmt.Sprintf(" %s had mostly been taken at %s by those who held it meanwhile.", lock, s.Held)
}

// weight is how often an event happened in the section's instances that were analysed.
func (r *runner) weight(event int) uint64 {
	if event < len(r.often) {
		return r.often[event]
	}
	return 0
}

// tally notes how often those events of an instance happened that tell what they are about.
func (r *runner) tally(in *profile.Instance) {
	for _, c := range in.Events {
		if c.Row < 0 || int(c.Row) >= len(r.tab.Events) || r.tab.Events[c.Row].Detail == "" {
			continue
		}
		if r.often == nil {
			r.often = make([]uint64, len(r.tab.Events))
		}
		r.often[c.Row] += c.N
	}
}
