package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lime/internal/unit"
)

// verbs say what a thread does, for each event; %s takes "15 times" or an amount.
var verbs = map[string]string{
	EventBranch: "takes this branch %s",
	EventLoop:   "runs this loop for %s",
	EventCall:   "makes this call %s",
	EventTask:   "runs the tasks made here %s",
	EventReturn: "returns here %s",
	EventJump:   "passes here %s",
	EventVisit:  "is seen here %s",
	EventChunk:  "is given %s of the work here",
	EventEntry:  "does the work here %s",
}

// sentence explains a cause of a section with so many instances to someone who knows nothing of the
// method.
func (r *runner) sentence(c *Cause, f finding, instances int) string {
	if len(c.Threads) == 0 {
		return ""
	}
	hi, lo, two := extremes(c.Threads)
	does, callee := fmt.Sprintf(r.verb(c, f), r.amount(c, f, hi.Count)), ""
	if first, last := r.loopLines(c); first < c.Line {
		does = strings.Replace(does, "this loop", fmt.Sprintf("this loop, lines %d to %d,", first, last), 1)
	}
	if c.Callee != "" && c.Event == EventCall {
		callee = fmt.Sprintf(" (of %s%s)", c.Callee, map[bool]string{true: ", a recursion"}[c.Recursive])
	}
	if !two {
		return c.in(instances, fmt.Sprintf("Thread %s %s%s.", numbered(hi, c.Threads), does, callee))
	}
	if !slices.ContainsFunc(c.Threads, func(t ThreadCount) bool { return t.Count != hi.Count }) {
		return c.in(instances, fmt.Sprintf("Every thread %s%s: %s.", does, callee, alike(c.Threads)))
	}
	s := c.in(instances, fmt.Sprintf("Thread %s %s, thread %s %s%s", numbered(hi, c.Threads), does, numbered(lo, c.Threads), shortAmount(r.amount(c, f, lo.Count)), callee))
	if how := consequence(c, f, hi, lo); how != "" {
		return s + "; " + how
	}
	return s + "."
}

// in says of which instances a sentence speaks, where a section has several.
func (c *Cause) in(instances int, sentence string) string {
	switch {
	case instances < 2:
		return sentence
	case c.Summed:
		return "Over all instances " + decapitalised(sentence)
	}
	return fmt.Sprintf("In instance %d %s", c.Seq+1, decapitalised(sentence))
}

func decapitalised(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// numbered is a thread's number, with its name if the threads have names of their own.
func numbered(t ThreadCount, among []ThreadCount) string {
	if t.Name == "" || !slices.ContainsFunc(among, func(o ThreadCount) bool { return o.Name != t.Name }) {
		return fmt.Sprint(t.Thread)
	}
	return fmt.Sprintf("%d (%s)", t.Thread, t.Name)
}

// alike goes on where all threads have done the same, as far as is counted: what begins there is
// different, and not how often it does.
func alike(ts []ThreadCount) string {
	byTime := func(a, b ThreadCount) int { return cmp.Compare(a.Time, b.Time) }
	s, late, soon := "how often is not what differs", slices.MaxFunc(ts, byTime), slices.MinFunc(ts, byTime)
	if late.Time > soon.Time && soon.Time > 0 {
		s += fmt.Sprintf(", but thread %d takes %s as long as thread %d", late.Thread, timesWords(late.Time/soon.Time), soon.Thread)
	}
	return s
}

// loopLines are the lines of the function that the cause's loop covers. Compilers put a loop's test
// on the last line of its body as well as on the first.
func (r *runner) loopLines(c *Cause) (first, last int) {
	first, last = c.Line, c.Line
	file, known := r.files[c.File]
	if c.Event != EventLoop || len(c.Nodes) == 0 || !known || c.Line == 0 {
		return first, last
	}
	for _, v := range r.prog.s.TestedLoop(int32(c.Nodes[0])) {
		n := &r.tab.Nodes[v]
		for _, f := range slices.Concat(n.First, n.Frames) {
			if f.File == file && f.Function == c.Function && f.Line > 0 {
				first, last = min(first, int(f.Line)), max(last, int(f.Line))
			}
		}
	}
	return first, last
}

func shortAmount(a string) string {
	if strings.HasPrefix(a, "0 ") {
		return "never"
	}
	return a
}

func (r *runner) verb(c *Cause, f finding) string {
	switch v := verbs[c.Event]; {
	case v != "" && c.Family == FamilyControl:
		return v
	case f.timed:
		return "waits here for %s (" + c.Title + ")"
	}
	return "has the event \"" + c.Title + "\" here %s"
}

func (r *runner) amount(c *Cause, f finding, n uint64) string {
	switch {
	case f.timed:
		return r.duration(float64(n))
	case c.Event == EventLoop:
		return plural(n, "iteration")
	case c.Event == EventChunk:
		return plural(n, "chunk")
	}
	return plural(n, "time")
}

func plural(n uint64, word string) string {
	switch {
	case n == 1 && word == "time":
		return "once"
	case n == 1:
		return "1 " + word
	}
	return strconv.FormatUint(n, 10) + " " + word + "s"
}

// extremes are the threads with the highest and the lowest count, of those that took part in as
// many instances as the first of them: who was there more often has more of everything. two is
// false if that is nobody else.
func extremes(ts []ThreadCount) (hi, lo ThreadCount, two bool) {
	byCount := func(a, b ThreadCount) int {
		return cmp.Or(cmp.Compare(a.Count, b.Count), cmp.Compare(a.Time, b.Time))
	}
	hi = slices.MaxFunc(ts, byCount)
	alike := slices.DeleteFunc(slices.Clone(ts), func(t ThreadCount) bool { return t.instances != hi.instances })
	lo = slices.MinFunc(alike, byCount)
	return hi, lo, len(alike) > 1
}

// consequence says how the time goes with the count, as the threads that are shown have it; nothing
// if they are an exception.
func consequence(c *Cause, f finding, hi, lo ThreadCount) string {
	how, less := "threads that do so more often take longer", "threads that do so less often take longer"
	if f.timed {
		how, less = "threads that wait longer here take longer", "threads that wait less here take longer"
	}
	late, soon := hi, lo
	if falls(c) {
		how, late, soon = less, lo, hi
	}
	switch {
	case late.Time < soon.Time || hi.Count == lo.Count:
		return ""
	case late.Time > soon.Time && soon.Time > 0:
		return fmt.Sprintf("%s: thread %d takes %s as long as thread %d.", how, late.Thread, timesWords(late.Time/soon.Time), soon.Thread)
	}
	return how + "."
}

// falls says whether the threads with more are the earlier ones: a test has two ways, and the one
// that is told may be the other threads'.
func falls(c *Cause) bool {
	if corr := correlation(c.Threads); corr != 0 {
		return corr < 0
	}
	return c.Correlation < 0
}

// duration prints a time of the profile.
func (r *runner) duration(t float64) string {
	if r.meta.ClockUnit == "ns" {
		return unit.Nanos(t).String()
	}
	return unit.SI(t) + " " + r.meta.ClockUnit
}

// timesWords prints how many times one time is another.
func timesWords(ratio float64) string {
	switch {
	case ratio < 100:
		return fmt.Sprintf("%.2f times", ratio)
	case ratio < 1000:
		return fmt.Sprintf("%.0f times", ratio)
	}
	return "more than 1,000 times"
}
