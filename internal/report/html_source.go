package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// pageSource is a file with the lines that are known of it.
type pageSource struct {
	Path  string
	Lines []pageLine
}

type pageLine struct {
	SourceLine
	Gap   bool   // lines are missing before it
	Share string // of the section's imbalance
	Link  string // to its cause
}

// at is a line of a file.
type at struct {
	file string
	line int
}

// lineMark is what a section says about a line.
type lineMark struct{ share, link string }

// pageSources puts the source lines of all causes together, file by file.
func pageSources(r *Report) []pageSource {
	text, marks := map[string]map[int]string{}, marks(r)
	for i := range r.Sections {
		for _, c := range slices.Concat(r.Sections[i].Causes, r.Sections[i].Minor) {
			collectLines(text, &c)
		}
	}
	var out []pageSource
	for _, file := range slices.Sorted(maps.Keys(text)) {
		out = append(out, pageSource{Path: file, Lines: fileLines(file, text[file], marks)})
	}
	return out
}

func collectLines(text map[string]map[int]string, c *Cause) {
	for _, l := range c.Source {
		if text[c.File] == nil {
			text[c.File] = map[int]string{}
		}
		text[c.File][l.Line] = l.Text
	}
}

func fileLines(file string, text map[int]string, marks map[at]lineMark) []pageLine {
	var out []pageLine
	previous := 0
	for _, n := range slices.Sorted(maps.Keys(text)) {
		m, hit := marks[at{file, n}]
		out = append(out, pageLine{SourceLine: SourceLine{Line: n, Text: text[n], Mark: hit},
			Gap: previous > 0 && n > previous+1, Share: m.share, Link: m.link})
		previous = n
	}
	return out
}

// marks finds the lines that causes and accounts name; the section that lost
// most speaks first.
func marks(r *Report) map[at]lineMark {
	out := map[at]lineMark{}
	put := func(file string, line int, m lineMark) {
		if _, taken := out[at{file, line}]; !taken && line > 0 {
			out[at{file, line}] = m
		}
	}
	for i := range r.Sections {
		s := &r.Sections[i]
		for k := range s.Causes {
			c := &s.Causes[k]
			put(c.File, c.Line, lineMark{c.shareShort(), fmt.Sprintf("s%d-c%d", i+1, c.Rank)})
		}
		if s.Ledger == nil {
			continue
		}
		for _, row := range s.Ledger.Rows {
			if math.Abs(s.Ledger.weight(&row)) >= ledgerShare {
				put(row.File, row.Line, lineMark{s.Ledger.percent(row.Time), fmt.Sprintf("s%d", i+1)})
			}
		}
	}
	return out
}
