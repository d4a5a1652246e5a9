package view

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"time"

	"lime/internal/report"
	"lime/internal/scale"
)

// API answers questions on profiles. Its methods may be called from several goroutines.
type API struct {
	*means
	runs []*Run
	live Live
	mu   sync.Mutex
	kept map[string]*Answer
	size int
}

// Answer is the body of an answer.
type Answer struct {
	Type string
	Body []byte
}

// Media types of answers.
const (
	typeJSON   = "application/json"
	typeBinary = "application/octet-stream"
)

// NewAPI returns the API on these profiles.
func NewAPI(runs []*Run) *API { return &API{means: &means{}, runs: runs, kept: map[string]*Answer{}} }

// keeping says whether an answer may be kept for the next start.
type keeping int

const (
	keepNone   keeping = iota // it hangs on other profiles, or changes
	keepAnswer                // if it took long
	keepReport                // if the report that it is taken from took long
)

// endpoint answers one kind of question: with an object for JSON, or bytes.
type endpoint struct {
	fixed  bool // the answer never changes
	keep   keeping
	answer func(*API, *Run, *query) (any, error)
}

func endpoints() map[string]endpoint {
	return map[string]endpoint{
		"runs":     {true, keepNone, func(a *API, _ *Run, _ *query) (any, error) { return a.info(), nil }},
		"state":    {false, keepNone, func(_ *API, r *Run, _ *query) (any, error) { return r.state(), nil }},
		"head":     {true, keepReport, answerHead},
		"section":  {true, keepReport, answerSection},
		"instance": {true, keepAnswer, answerInstance},
		"cells":    {true, keepAnswer, answerCells},
		"threads":  {true, keepAnswer, answerThreads},
		"files":    {true, keepAnswer, func(_ *API, r *Run, q *query) (any, error) { return checked(q, r.files)(q.sectionOrAll(r)) }},
		"source":   {true, keepAnswer, answerSource},
		"asm":      {true, keepNone, answerAsm},
		"span":     {true, keepAnswer, answerSpan},
		"sketch":   {false, keepNone, answerSketch},
		"sketched": {false, keepNone, answerSketched},
		"window":   {true, keepAnswer, answerWindow},
		"parts":    {true, keepAnswer, answerParts},
		"critical": {true, keepAnswer, answerCritical},
		"paths":    {true, keepAnswer, answerPaths},
		"ran":      {true, keepAnswer, answerRan},
		"rannames": {true, keepAnswer, answerRanNames},
		"moment":   {true, keepNone, answerMoment},
		"calls":    {true, keepAnswer, func(_ *API, r *Run, q *query) (any, error) { return checked(q, r.calls)(q.sectionOrAll(r)) }},
		"possible": {false, keepNone, answerPossible},
		"again":    {false, keepNone, answerAgain},
		"job":      {false, keepNone, answerJob},
		"cancel":   {false, keepNone, answerCancel},
		"live":     {false, keepNone, answerLive},
		"stop":     {false, keepNone, answerStop},
		"scaling":  {true, keepNone, answerScaling},
		"compare":  {true, keepNone, answerCompare},
	}
}

// checked calls f unless a parameter was wrong.
func checked[T any](q *query, f func(int) (*T, error)) func(int) (any, error) {
	return func(x int) (any, error) {
		if q.err != nil {
			return nil, q.err
		}
		return f(x)
	}
}

// keptBytes is how much of the answers is kept.
const keptBytes = 64 << 20

// Answer answers a question. An error that is no *Problem is the profile's: it is damaged.
func (a *API) Answer(name string, values url.Values) (out *Answer, err error) {
	defer caught("the answer to "+strconv.Quote(name), &err)
	e, ok := endpoints()[name]
	if !ok {
		return nil, missing("there is no such question")
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // an index that is mapped may be cut short by somebody
	key := name + "?" + values.Encode()
	if e.fixed {
		if known := a.find(key); known != nil {
			return known, nil
		}
	}
	q := &query{values: values}
	if len(a.runs) == 0 {
		what, err := a.nothing(name, q)
		if err != nil {
			return nil, err
		}
		body, err := encode(what)
		return &Answer{typeJSON, body}, err
	}
	n := q.whole("p", 0, len(a.runs)-1, 0)
	if q.err != nil {
		return nil, q.err
	}
	if out, err = a.make(e, a.runs[n], name, q); err != nil {
		return nil, err
	}
	if e.fixed {
		a.keep(key, out)
	}
	return out, nil
}

// make finds an answer among those that were kept, or makes it.
func (a *API) make(e endpoint, r *Run, name string, q *query) (*Answer, error) {
	question, keep := keptQuestion(name, q.values), e.keep
	if q.values.Has("q") { // of two profiles
		keep = keepNone
	}
	if keep != keepNone {
		if out := r.kept.find(question); out != nil {
			return out, nil
		}
	}
	began := time.Now()
	what, err := e.answer(a, r, q)
	if err = errors.Join(q.err, err); err != nil {
		return nil, err
	}
	out := &Answer{typeBinary, nil}
	if bytes, raw := what.([]byte); raw {
		out.Body = bytes
	} else if out.Body, err = encode(what); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	} else {
		out.Type = typeJSON
	}
	took := time.Since(began)
	if keep == keepReport {
		took = max(took, time.Duration(r.took.Load()))
	}
	if keep != keepNone && r.changed() == "" {
		r.kept.keep(question, out, took)
	}
	return out, nil
}

// keptQuestion is a question by itself: the number that the profile has this time is no part of it.
func keptQuestion(name string, values url.Values) string {
	alone := maps.Clone(values)
	alone.Del("p")
	return name + "?" + alone.Encode()
}

// Prepare makes what every view needs, in the background. What the page shows of the report is
// kept, so that the next start does without the report.
func (a *API) Prepare() {
	go func() {
		for p, r := range a.runs {
			if _, err := r.index(); err != nil {
				continue
			}
			a.prepare(p, r)
		}
	}()
}

func (a *API) prepare(p int, r *Run) {
	if r.kept.find("head?") != nil {
		r.ready.Store(true)
		return
	}
	rep, err := r.report()
	if err != nil || r.kept == nil {
		return
	}
	values := func(pairs ...string) url.Values {
		v := url.Values{"p": {strconv.Itoa(p)}}
		for i := 0; i < len(pairs); i += 2 {
			v.Set(pairs[i], pairs[i+1])
		}
		return v
	}
	for i := range rep.Sections {
		_, _ = a.Answer("section", values("s", strconv.Itoa(rep.Sections[i].ID))) // who asks is told what is wrong
	}
	_, _ = a.Answer("head", values())
	debug.FreeOSMemory() // the analysis took more than all that follows
}

func (a *API) find(key string) *Answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.kept[key]
}

// keep remembers an answer; when there are too many all are forgotten, which costs a moment and no
// bookkeeping.
func (a *API) keep(key string, out *Answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.size += len(key) + len(out.Body); a.size > keptBytes {
		clear(a.kept)
		a.size = len(key) + len(out.Body)
	}
	a.kept[key] = out
}

// encode writes an answer as JSON that is safe to show.
func encode(what any) ([]byte, error) {
	b, err := json.Marshal(what)
	if err != nil {
		return nil, err
	}
	return tidy(b)
}

func (a *API) info() []*Info {
	out := make([]*Info, len(a.runs))
	for i, r := range a.runs {
		out[i] = r.info()
	}
	return out
}

func (q *query) section(r *Run) int {
	n := len(r.tables().Sections)
	if n == 0 {
		q.fail(missing("the profile has no sections"))
		return 0
	}
	return q.whole("s", 0, n-1, 0)
}

func (q *query) sectionOrAll(r *Run) int { return q.whole("s", -1, len(r.tables().Sections)-1, -1) }

func (q *query) band(r *Run) int { return q.whole("b", 0, len(r.tables().Threads)/bandRows, 0) }

func answerHead(_ *API, r *Run, _ *query) (any, error) {
	rep, err := r.report()
	if err != nil {
		return nil, err
	}
	return report.NewHead(rep), nil
}

func answerSection(_ *API, r *Run, q *query) (any, error) {
	s := q.section(r)
	if q.err != nil {
		return nil, q.err
	}
	rep, err := r.report()
	if err != nil {
		return nil, err
	}
	page := report.NewSectionPage(rep, s)
	if page == nil {
		return nil, missing("section %d is no parallel section: one thread works alone in it, or it never ran", s)
	}
	return page, nil
}

func answerInstance(_ *API, r *Run, q *query) (any, error) {
	s := q.section(r)
	i, t := q.whole("i", 0, 1<<30, 0), q.whole("t", -1, len(r.tables().Threads)-1, -1)
	if q.err != nil {
		return nil, q.err
	}
	if i >= r.src.InstanceCount(sectionID(s)) {
		return nil, missing("section %d has no instance %d", s, i)
	}
	in, err := r.src.Instance(sectionID(s), i)
	if err != nil {
		return nil, err
	}
	return newInstance(r.tables(), in, t), nil
}

func answerCells(_ *API, r *Run, q *query) (any, error) {
	s, z, x, b := q.section(r), q.whole("z", 0, cellsDeep, 0), q.whole("x", 0, 1<<30, 0), q.band(r)
	m, err := newMetric(r.tables(), q.text("m", "time"))
	if err = errors.Join(q.err, err); err != nil {
		return nil, err
	}
	index, err := r.index()
	if err != nil {
		return nil, err
	}
	return r.cells(index, s, m, z, x, b)
}

func answerThreads(_ *API, r *Run, q *query) (any, error) {
	s := q.sectionOrAll(r)
	m, err := newMetric(r.tables(), q.text("m", "time"))
	if err = errors.Join(q.err, err); err != nil {
		return nil, err
	}
	index, err := r.index()
	if err != nil {
		return nil, err
	}
	return r.threadValues(index, s, m)
}

func answerSource(_ *API, r *Run, q *query) (any, error) {
	if len(r.tables().Files) == 0 {
		return nil, missing("the profile names no source file")
	}
	f := q.whole("f", 0, len(r.tables().Files)-1, 0)
	return checked(q, func(s int) (*SourceFile, error) { return r.source(f, s) })(q.sectionOrAll(r))
}

func answerSpan(_ *API, r *Run, q *query) (any, error) {
	z, x, b := q.whole("z", 0, spanDeep, 0), q.whole("x", 0, 1<<spanDeep, 0), q.band(r)
	if q.err != nil {
		return nil, q.err
	}
	index, err := r.index()
	if err != nil {
		return nil, err
	}
	return index.spanTile(z, x, b)
}

// stretch reads a stretch of time; left out, it is the whole run.
func (q *query) stretch(x *index) (from, to uint64) {
	from, to = q.clock("from", x.from), q.clock("to", x.to)
	if from >= to {
		q.fail(bad("from must be before to"))
	}
	return from, to
}

func answerWindow(_ *API, r *Run, q *query) (any, error) {
	index, err := r.index()
	if err != nil {
		return nil, err
	}
	from, to := q.stretch(index)
	rank := q.rank(r)
	if q.err != nil {
		return nil, q.err
	}
	w := index.window(max(from, index.from), min(to, index.to), r.ofRank(rank))
	w.Origin, w.End = index.from, index.to
	return w, nil
}

func answerParts(_ *API, r *Run, q *query) (any, error) {
	index, err := r.index()
	if err != nil {
		return nil, err
	}
	from, to := q.stretch(index)
	b := q.band(r)
	if q.err != nil {
		return nil, q.err
	}
	return index.partsIn(from, to, b), nil
}

func answerCritical(_ *API, r *Run, q *query) (any, error) {
	index, err := r.index()
	if err != nil {
		return nil, err
	}
	from, to := q.stretch(index)
	if q.err != nil {
		return nil, q.err
	}
	return criticalIn(r.critical(), max(from, index.from), min(to, index.to)), nil
}

func answerPaths(a *API, r *Run, q *query) (any, error) {
	k := pathKey{view: q.text("v", "tree"), section: q.sectionOrAll(r), thread: q.whole("t", -1, len(r.tables().Threads)-1, -1),
		rank: q.rank(r), from: q.clock("from", 0), to: q.clock("to", 0)}
	if k.windowed() && k.from >= k.to {
		q.fail(bad("from must be before to"))
	}
	if q.err != nil {
		return nil, q.err
	}
	if k.view != "tree" && k.view != "bottom-up" && k.view != "flat" {
		return nil, bad("v must be tree, bottom-up or flat")
	}
	if other := q.whole("q", -1, len(a.runs)-1, -1); other >= 0 && q.err == nil {
		if k.windowed() {
			return nil, bad("stretches of time of two runs are not the same: q goes without from and to")
		}
		if k.rank >= 0 && !slices.Contains(a.runs[other].ranks, k.rank) {
			return nil, missing("the other profile has no rank %d", k.rank)
		}
		return r.beside(a.runs[other], k, q.text("at", ""))
	}
	var when *ran
	if k.windowed() {
		var err error
		if when, err = r.ran(); err != nil {
			return nil, err
		}
	}
	return r.paths.table(k, when, q.text("at", ""))
}

func answerCompare(a *API, r *Run, q *query) (any, error) {
	other := q.whole("q", 0, len(a.runs)-1, min(1, len(a.runs)-1))
	if q.err != nil {
		return nil, q.err
	}
	before, err := r.report()
	if err != nil {
		return nil, err
	}
	after, err := a.runs[other].report()
	if err != nil {
		return nil, err
	}
	return report.Compare(before, after), nil
}

// answerScaling puts all profiles beside the one on the fewest cores.
func answerScaling(a *API, _ *Run, _ *query) (any, error) {
	var runs []*scale.Run
	for _, r := range a.runs {
		if _, err := r.report(); err != nil {
			return nil, err
		}
		if r.unfit != nil {
			return nil, missing("no scaling study: %v", r.unfit)
		}
		runs = append(runs, r.study)
	}
	s, err := scale.Compare(runs, "")
	if err != nil {
		return nil, missing("no scaling study: %v", err)
	}
	return s, nil
}

// Status is the HTTP status of an error.
func Status(err error) int {
	var p *Problem
	if errors.As(err, &p) {
		return p.Code
	}
	return http.StatusInternalServerError
}
