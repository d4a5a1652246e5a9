package view

import (
	"iter"
	"slices"
	"sync"

	"lime/internal/origin"
	"lime/internal/profile"
	"lime/internal/report"
)

// lineReads is how many instances of a section the source view reads: at even steps, if there are
// more.
const lineReads = 256

// lineCache keeps the last sums by line; one is made for each section, or for all.
type lineCache struct {
	src     Source
	mu      sync.Mutex
	section int
	sums    *lineSums
}

// lineSums are the sums by line of a section, or of all.
type lineSums struct {
	note     *report.Annotation
	read, of int
}

// of returns the sums of a section; -1 is all.
func (c *lineCache) of(section int) (*lineSums, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sums != nil && c.section == section {
		return c.sums, nil
	}
	p := &picked{Source: c.src, section: section}
	note, err := report.AnnotateAll(p, func(string) []string { return nil })
	if err != nil {
		return nil, err
	}
	c.section, c.sums = section, &lineSums{note, p.read, p.of}
	return c.sums, nil
}

// picked is a profile of which one section is seen, and of every section at most lineReads
// instances.
type picked struct {
	Source
	section  int
	read, of int
}

// Instances yields some of a section's instances.
func (p *picked) Instances(s profile.SectionID) iter.Seq2[*profile.Instance, error] {
	return func(yield func(*profile.Instance, error) bool) {
		if p.section >= 0 && int(s) != p.section {
			return
		}
		all := p.InstanceCount(s)
		n := min(all, lineReads)
		p.read, p.of = p.read+n, p.of+all
		for k := range n {
			in, err := p.Instance(s, k*all/n)
			if !yield(in, err) || err != nil {
				return
			}
		}
	}
}

// FileRow is a file in the list of files.
type FileRow struct {
	File    int     `json:"file"` // its number
	Path    string  `json:"path"`
	Share   float64 `json:"share"` // of the time of all lines
	Lines   int     `json:"lines"` // with text
	Library bool    `json:"library"`
}

// Files is the list of files.
type Files struct {
	Files []FileRow `json:"files"`
	Read  int       `json:"read"`
	Of    int       `json:"of"`
}

// files lists the files in which something ran, those of the program first.
func (r *Run) files(section int) (*Files, error) {
	sums, err := r.lines.of(section)
	if err != nil {
		return nil, err
	}
	out := &Files{Files: []FileRow{}, Read: sums.read, Of: sums.of}
	ids := r.fileIDs()
	for i := range sums.note.Files {
		f := &sums.note.Files[i]
		time := 0.0
		for k := range f.Lines {
			time += f.Lines[k].Time
		}
		id := ids[f.Path]
		out.Files = append(out.Files, FileRow{id, f.Path, ratio(time, sums.note.Time),
			len(r.tables().Files[id].Lines), origin.LibraryFile(f.Path)})
	}
	slices.SortStableFunc(out.Files, func(a, b FileRow) int {
		switch {
		case a.Library != b.Library && b.Library:
			return -1
		case a.Library != b.Library:
			return 1
		case a.Share != b.Share && a.Share > b.Share:
			return -1
		case a.Share != b.Share:
			return 1
		}
		return 0
	})
	return out, nil
}

// fileIDs finds a file's number by its path; the first counts, as in the report.
func (r *Run) fileIDs() map[string]int {
	ids := map[string]int{}
	for i := len(r.tables().Files) - 1; i >= 0; i-- {
		ids[r.tables().Files[i].Path] = i
	}
	return ids
}

// SourceFile is a file with what ran on its lines.
type SourceFile struct {
	File  int          `json:"file"`
	Path  string       `json:"path"`
	Lines []SourceLine `json:"lines"`
	More  int          `json:"more,omitempty"` // lines that are left out
	Read  int          `json:"read"`
	Of    int          `json:"of"`
}

// SourceLine is a line with its sums. Runs has a value for each thread, or for so many neighbours
// pooled (their mean).
type SourceLine struct {
	Line   int         `json:"line"`
	Text   *string     `json:"text"` // null if the profile does not carry it
	Share  float64     `json:"share,omitempty"`
	Min    float64     `json:"min"`
	Max    float64     `json:"max"`
	Runs   []float64   `json:"runs,omitempty"`
	Events []LineEvent `json:"events,omitempty"`
}

// LineEvent is a kind of event on a line.
type LineEvent struct {
	Kind string  `json:"kind"`
	Sum  float64 `json:"sum"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
}

// Most of a file's lines in an answer, and of the figures of one.
const (
	mostLines = 4000
	mostRuns  = 32
)

// source returns the lines of a file.
func (r *Run) source(file, section int) (*SourceFile, error) {
	sums, err := r.lines.of(section)
	if err != nil {
		return nil, err
	}
	path := r.tables().Files[file].Path
	out := &SourceFile{File: file, Path: path, Lines: []SourceLine{}, Read: sums.read, Of: sums.of}
	text := r.tables().Files[file].Lines
	have := map[int32]bool{}
	for i := range sums.note.Files {
		f := &sums.note.Files[i]
		if f.Path != path {
			continue
		}
		for k := range f.Lines {
			have[int32(f.Lines[k].Line)] = true
			out.Lines = append(out.Lines, sourceLine(&f.Lines[k], sums.note))
		}
	}
	for n, words := range text { // lines that the profile carries for another section's sake
		if !have[n] {
			out.Lines = append(out.Lines, SourceLine{Line: int(n), Text: &words})
		}
	}
	slices.SortFunc(out.Lines, func(a, b SourceLine) int { return a.Line - b.Line })
	if n := len(out.Lines); n > mostLines {
		out.Lines, out.More = out.Lines[:mostLines], n-mostLines
	}
	return out, nil
}

func sourceLine(l *report.AnnotatedLine, note *report.Annotation) SourceLine {
	out := SourceLine{Line: l.Line, Share: ratio(l.Time, note.Time)}
	if l.Known {
		out.Text = &l.Text
	}
	runs := pick(l.Visits, note.Threads)
	if len(runs) > 0 && slices.Max(runs) > 0 {
		out.Min, out.Max, out.Runs = slices.Min(runs), slices.Max(runs), pool(runs, mostRuns)
	}
	for _, e := range l.Events {
		if v := pick(e.Counts, note.Threads); len(v) > 0 && slices.Max(v) > 0 {
			sum := 0.0
			for _, x := range v {
				sum += x
			}
			out.Events = append(out.Events, LineEvent{e.Kind, sum, slices.Min(v), slices.Max(v)})
		}
	}
	return out
}

// pick returns the values of the threads that are of interest.
func pick(values []float64, threads []int) []float64 {
	if len(values) == 0 {
		return nil
	}
	out := make([]float64, len(threads))
	for i, t := range threads {
		out[i] = values[t]
	}
	return out
}

// pool makes at most n values: means of neighbours.
func pool(values []float64, n int) []float64 {
	if len(values) <= n {
		return values
	}
	out := make([]float64, n)
	for i := range out {
		group := values[i*len(values)/n : (i+1)*len(values)/n]
		for _, v := range group {
			out[i] += v / float64(len(group))
		}
	}
	return out
}

func ratio(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return a / b
}
