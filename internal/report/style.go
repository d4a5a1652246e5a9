package report

import (
	"regexp"
	"strings"
	"unicode"

	"lime/internal/safe"
)

// Width is the number of columns that the text report fits into.
const Width = 80

// style paints text for a terminal, or leaves it alone.
type style struct{ color bool }

func (s style) paint(code, text string) string {
	if !s.color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + plain
}

// plain ends what a style began.
const plain = "\x1b[0m"

// Styles are the sequences that colour a report: all that may steer a terminal.
func Styles() []string {
	out := []string{plain}
	for _, code := range []string{"1", "2", "1;31", "1;33", "31", "32", "33", "34", "36"} {
		out = append(out, "\x1b["+code+"m")
	}
	return out
}

func (s style) bold(text string) string   { return s.paint("1", text) }
func (s style) dim(text string) string    { return s.paint("2", text) }
func (s style) loud(text string) string   { return s.paint("1;31", text) }
func (s style) warn(text string) string   { return s.paint("1;33", text) }
func (s style) good(text string) string   { return s.paint("32", text) }
func (s style) place(text string) string  { return s.paint("36", text) }
func (s style) accent(text string) string { return s.paint("34", text) }

// clean makes text from a profile safe to print: tabs become blanks, and
// whatever could steer a terminal becomes a visible stand-in.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if safe.Steers(r) || r == '\n' {
			return '·'
		}
		return r
	}, expandTabs(text))
}

func expandTabs(text string) string {
	if !strings.Contains(text, "\t") {
		return text
	}
	var b strings.Builder
	column := 0
	for _, r := range text {
		if r != '\t' {
			b.WriteRune(r)
			column++
			continue
		}
		for again := true; again; again = column%8 != 0 {
			b.WriteByte(' ')
			column++
		}
	}
	return b.String()
}

// columns counts the columns that text takes on a terminal.
func columns(text string) int {
	n := 0
	for _, r := range text {
		n += runeColumns(r)
	}
	return n
}

// wide holds the scripts whose characters take two columns.
var wide = []*unicode.RangeTable{unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana}

func runeColumns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.Is(unicode.Mn, r):
		return 0
	case unicode.In(r, wide...) || r >= 0x1f300 && r < 0x1fb00 || r >= 0xff01 && r <= 0xff60:
		return 2
	}
	return 1
}

// cut shortens text to at most n columns, with an ellipsis.
func cut(text string, n int) string {
	if columns(text) <= n {
		return text
	}
	used := 0
	for i, r := range text {
		if used+runeColumns(r) > n-1 {
			return text[:i] + "…"
		}
		used += runeColumns(r)
	}
	return text
}

// fit cuts or fills text to exactly n columns.
func fit(text string, n int) string {
	text = cut(text, n)
	return text + strings.Repeat(" ", max(0, n-columns(text)))
}

// right puts text at the right end of n columns.
func right(text string, n int) string {
	return strings.Repeat(" ", max(0, n-columns(text))) + text
}

// figure finds a number and its unit.
var figure = regexp.MustCompile(`([0-9]) (%|[kMGT]\b|[mun]?s\b)`)

// hardSpace stands between what belongs on one line.
const hardSpace = "\u00a0"

// together keeps numbers and their units on one line.
func together(text string) string { return figure.ReplaceAllString(text, "$1"+hardSpace+"$2") }

// words splits text at blanks, but not between a number and its unit.
func words(text string) []string {
	return strings.FieldsFunc(together(text), func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' })
}

// wrap breaks text at blanks into lines of at most n columns.
func wrap(text string, n int) []string {
	var lines []string
	line, used := "", 0
	for _, word := range words(text) {
		w := columns(word)
		if used > 0 && used+1+w > n {
			lines = append(lines, line)
			line, used = "", 0
		}
		if used > 0 {
			line += " "
			used++
		}
		word = cut(word, n)
		line += word
		used += columns(word)
	}
	if used > 0 {
		lines = append(lines, line)
	}
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], hardSpace, " ")
	}
	return lines
}
