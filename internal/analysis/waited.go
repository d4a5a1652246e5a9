// Late because of a wait: who does something else than the others is late for what it does there,
// and if that is to sleep, or to wait for a file or a lock, the line that decides says too little.

package analysis

import (
	"fmt"
	"strings"

	"lime/internal/profile"
	"lime/internal/unit"
)

// waited adds to the section's first cause, where that is a decision, the wait that it leads to: if
// most of what the last threads take longer is one.
func (r *runner) waited(sec *Section, s *summary) error {
	if len(sec.Causes) == 0 || sec.Causes[0].Family != FamilyControl || !sec.Causes[0].Important || s.win <= 0 {
		return nil
	}
	rows := make([]float64, len(r.tab.Events))
	for row, x := range s.loss.lateFor {
		rows[row] = max(0, x)
	}
	for _, at := range r.costRows(rows) {
		if wait := r.cost(at, rows, s.loss.late); wait.Share > littleFound {
			paid := []paidCost{{Cost: wait, events: at}}
			if err := r.paidBy(sec.ID, paid); err != nil {
				return err
			}
			sec.Causes[0].Sentence += " " + r.waitedWords(s, &wait, at) + r.withoutIt(paid[0].win)
			sec.Causes[0].Members = append([]Member{{Place: wait.Place, Family: FamilyHardware, Kinds: []string{wait.Event}, Events: len(at)}},
				sec.Causes[0].Members...)
		}
	}
	return nil
}

// withoutIt says what not to wait would win.
func (r *runner) withoutIt(win float64) string {
	if share := ratio(win, float64(r.meta.RunTime)); share > 0 {
		return fmt.Sprintf(" Without that the run were shorter by %s at most.", unit.Percent(min(1, share)))
	}
	return ""
}

func (r *runner) waitedWords(s *summary, wait *Cost, events []int) string {
	what, ok := contentions[wait.Event]
	if !ok {
		what = contention{do: "are", does: "is", what: "off the core"}
	}
	all, times, of := 0.0, uint64(0), map[profile.ThreadID]bool{}
	for _, e := range events {
		times += s.loss.times[int32(e)]
		for k, x := range s.loss.waits {
			if int(k.event) == e && x > 0 {
				of[k.thread] = true
				all += x
			}
		}
	}
	who, does := "threads", what.do
	if len(of) == 1 {
		for id := range of {
			who, does = fmt.Sprintf("thread %d", id), what.does
		}
	}
	does = strings.Join(strings.Fields(does+" "+strings.Replace(what.what, "here", "", 1)), " ")
	often := r.duration(all)
	if times > 1 {
		often = fmt.Sprintf("%s, %s each", plural(times, "time"), r.duration(all/float64(times)))
	}
	return fmt.Sprintf("Behind it %s %s at %s: %s.", who, does, wait.Place.short(), often)
}
