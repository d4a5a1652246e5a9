// Where threads wait for others' work within a section, and for what: such waits are idleness of
// the section, and the collectors tell of them by call paths.

package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"lime/internal/profile"
	"lime/internal/unit"
)

// Awaits is what a wait was for: where the work is done that threads wait for.
type Awaits struct {
	Place
	Share float64 `json:"share"` // of the waits
}

// idleWait is the waits at one line.
type idleWait struct {
	at      codeSite
	time    float64
	paths   map[profile.PathID]float64
	threads map[profile.ThreadID]float64
	what    *charges // what for
	known   float64  // the time for which that is known
	work    float64  // for how long it was done by those who ended the waits
}

// idleWaits are those of a section, by line.
type idleWaits map[lineKey]*idleWait

// idleReader reads the waits from the call paths.
type idleReader struct {
	r     *runner
	names *runtimes
	by    map[profile.SectionID]idleWaits
	at    map[profile.PathID]lineKey // paths that end in waits
}

func readIdleWaits(r *runner) map[profile.SectionID]idleWaits {
	d := idleReader{r, newRuntimes(r.tab), map[profile.SectionID]idleWaits{}, map[profile.PathID]lineKey{}}
	for i := range r.tab.PathSamples {
		if s := &r.tab.PathSamples[i]; s.Metric == profile.MetricIdleWait && s.Path >= 0 {
			d.wait(s)
		}
	}
	for i := range r.tab.PathSamples {
		if s := &r.tab.PathSamples[i]; s.Path >= 0 && (s.Metric == profile.MetricAwaited || s.Metric == profile.MetricAwaitedWork) {
			d.awaited(s)
		}
	}
	return d.by
}

func (d *idleReader) wait(s *profile.PathSample) {
	at := d.names.site(s.Path)
	key := lineKey{file: profile.None}
	if at.node >= 0 {
		n := &d.r.tab.Nodes[at.node]
		key = frameKey(n.Frames[min(at.frame, len(n.Frames)):], n.LastAddr)
	}
	d.at[s.Path] = key
	if d.by[s.Section] == nil {
		d.by[s.Section] = idleWaits{}
	}
	w := d.by[s.Section][key]
	if w == nil {
		w = &idleWait{at: at, paths: map[profile.PathID]float64{}, threads: map[profile.ThreadID]float64{},
			what: d.r.newCharges()}
		d.by[s.Section][key] = w
	}
	w.time += s.Value
	w.paths[s.Path] += s.Value
	w.threads[s.Thread] += s.Value
}

// awaited takes what a wait was for, whose path goes on from that of the wait.
func (d *idleReader) awaited(s *profile.PathSample) {
	for p := d.r.tab.Paths[s.Path].Parent; p >= 0; p = d.r.tab.Paths[p].Parent {
		key, ok := d.at[p]
		w := d.by[s.Section][key]
		if !ok || w == nil {
			continue
		}
		if s.Metric == profile.MetricAwaitedWork {
			w.work += s.Value
			return
		}
		w.what.add(d.names.site(s.Path), "", s.Path, s.Value)
		w.known += s.Value
		return
	}
}

// idle charges what the threads of a section lose at its end, while nobody has more to do, to where
// they waited for others' work within it, as far as they did. It returns how much that is.
func (b *lossBuilder) idle(s *summary, idle, away float64) (told float64) {
	waits := b.idles[s.id]
	sum, work := waits.sums()
	// where cores are fewer than threads, waiting costs less than its time
	told = min(away, sum*ratio(idle, s.loss.late+s.loss.away))
	for _, key := range slices.SortedFunc(maps.Keys(waits), compareLines) {
		w := waits[key]
		x := told * ratio(w.time, sum)
		b.of(s.id, TermWait, x)
		b.add(lossKey{term: TermWait, event: profile.MetricIdleWait, at: key, section: s.id}, x,
			func() LossPlace { return b.idlePlace(s, w, work) }, scaled(w.threads, ratio(x, w.time)))
	}
	return told
}

// sums are the time of all waits, and for how long those who ended them had worked for that.
func (waits idleWaits) sums() (time, work float64) {
	for _, key := range slices.SortedFunc(maps.Keys(waits), compareLines) {
		time, work = time+waits[key].time, work+waits[key].work
	}
	return time, work
}

func (b *lossBuilder) idlePlace(s *summary, w *idleWait, work float64) LossPlace {
	p := LossPlace{Section: s.id, Place: b.sitePlace(w.at), AtATime: ratio(work, s.length)}
	p.From = b.caller(w, &p.Place)
	for _, c := range w.what.list(w.known) {
		p.Awaits = append(p.Awaits, Awaits{c.Place, ratio(c.Time, w.time)})
	}
	return p
}

func (b *lossBuilder) sitePlace(at codeSite) Place {
	if at.node < 0 {
		return Place{}
	}
	n := &b.r.tab.Nodes[at.node]
	if at.frame > 0 && at.frame < len(n.Frames) {
		return b.r.prog.framesPlace(n.Frames[at.frame:])
	}
	return b.r.prog.nodePlace(at.node)
}

// caller is from where the function in which it is waited is called, where that is longest.
func (b *lossBuilder) caller(w *idleWait, at *Place) *Frame {
	if len(at.Inlined) > 0 {
		return &at.Inlined[0]
	}
	path := b.r.pathFrames(largest(w.paths, cmp.Compare[profile.PathID]))
	for i := len(path) - 1; i > 0; i-- {
		if path[i].File == at.File && path[i].Line == at.Line {
			return &path[i-1]
		}
	}
	return nil
}

// tellIdle says with a section where its threads wait for others' work, and for what.
func (b *lossBuilder) tellIdle(l *Loss, res *Result) {
	places := l.Term(TermWait).Places
	for i := range res.Sections {
		s := &res.Sections[i]
		k := slices.IndexFunc(places, func(p LossPlace) bool { return p.Section == s.ID && len(p.Awaits) > 0 })
		if k < 0 || places[k].Share < worthwhile {
			continue
		}
		p := &places[k]
		s.insteadOfBusy(Verdict{"waits-for", SeverityInfo, p.waitsFor()})
	}
}

// waitsFor says it in a sentence.
func (p *LossPlace) waitsFor() string {
	a := &p.Awaits[0]
	words := fmt.Sprintf("For %s of the core time its threads wait at %s", unit.Percent(p.Share), p.short())
	if p.From != nil {
		words += fmt.Sprintf(" (called from %s)", (&Place{File: p.From.File, Line: p.From.Line, Function: p.From.Function}).short())
	}
	words += fmt.Sprintf(", %s of it for what others do at %s.", unit.Percent(a.Share), a.short())
	return words + p.inTurn()
}

// inTurn says how many threads at a time do what others wait for, if some do all the while.
func (p *LossPlace) inTurn() string {
	switch x := p.AtATime; {
	case x < 1-HighShare:
		return ""
	case x <= 1+HighShare:
		return " One thread at a time does what others wait for, all the while: they do it in turn, and only less of it makes the section shorter."
	default:
		return fmt.Sprintf(" On average %.1f threads at a time do what others wait for.", x)
	}
}
