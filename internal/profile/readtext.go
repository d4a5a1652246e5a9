package profile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const maxTextLine = 64 << 20

// ReadText reads what WriteText writes, or a person by hand, and validates it.
func ReadText(from io.Reader) (*Profile, error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxTextLine)
	r := &textReader{p: New(Meta{FormatVersion: FormatVersion})}
	n := 0
	for lines.Scan() {
		n++
		if err := r.line(n, lines.Text()); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", n+1, err)
	}
	if n == 0 {
		return nil, fmt.Errorf("empty: a profile in text starts with %q", textHeader)
	}
	if err := r.endInstance(); err != nil {
		return nil, err
	}
	return r.p, Validate(r.p)
}

// ParseText is ReadText of a string.
func ParseText(s string) (*Profile, error) { return ReadText(strings.NewReader(s)) }

type textReader struct {
	p    *Profile
	in   *Instance // being read
	from int       // line on which it starts
}

func (r *textReader) line(n int, s string) error {
	if n == 1 {
		if head := strings.TrimSpace(s); head != textHeader && head != textHeader1 {
			return fmt.Errorf("a profile in text starts with %q", textHeader)
		}
		return nil
	}
	if !utf8.ValidString(s) {
		return errors.New("not UTF-8")
	}
	words, err := splitWords(s)
	if err != nil || len(words) == 0 {
		return err
	}
	if words[0] == instanceText.word {
		err = r.endInstance()
		r.in, r.from = nil, n
	}
	if err == nil {
		err = r.words(words[0], words[1:])
	}
	if err != nil {
		return fmt.Errorf("%s: %w", words[0], err)
	}
	return nil
}

// splitWords splits at blanks outside of quotes; # starts a comment.
func splitWords(s string) (words []string, err error) {
	for {
		s = strings.TrimLeft(s, " \t\r")
		if s == "" || s[0] == '#' {
			return words, nil
		}
		n, err := wordLen(s)
		if err != nil {
			return nil, err
		}
		words, s = append(words, s[:n]), s[n:]
	}
}

func wordLen(s string) (int, error) {
	i := 0
	for i < len(s) && !strings.ContainsRune(" \t\r", rune(s[i])) {
		if s[i] != '"' {
			i++
			continue
		}
		q, err := strconv.QuotedPrefix(s[i:])
		if err != nil {
			return 0, fmt.Errorf("quote without end: %.40s", s[i:])
		}
		i += len(q)
	}
	return i, nil
}

// parseFields sets a row's fields from key=value words.
func parseFields(fields []textField, words []string) error {
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		i := slices.IndexFunc(fields, func(f textField) bool { return f.key == key })
		if !ok || i < 0 {
			return fmt.Errorf("%q is not a key=value of this line", w)
		}
		if err := fields[i].set(value); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// parseRow reads a row without id.
func parseRow[Row any](spec textRow[Row], words []string) (Row, error) {
	row := spec.blank
	err := parseFields(spec.fields(&row), words)
	return row, err
}

// parseNumbered reads a row whose first word is the next id.
func parseNumbered[Row any](spec textRow[Row], rows *[]Row, words []string) error {
	next := strconv.Itoa(len(*rows))
	if len(words) == 0 || words[0] != next {
		return fmt.Errorf("the next id is %s", next)
	}
	row, err := parseRow(spec, words[1:])
	if err != nil {
		return fmt.Errorf("%s: %w", next, err)
	}
	*rows = append(*rows, row)
	return nil
}

func (r *textReader) words(word string, words []string) error {
	t := &r.p.tables
	switch word {
	case metaText.word:
		return parseFields(metaText.fields(&r.p.meta), words)
	case noteText.word:
		return appendRow(noteText, &r.p.meta.Notes, words)
	case imageText.word:
		return parseNumbered(imageText, &t.Images, words)
	case fileText.word:
		return parseNumbered(fileText, &t.Files, words)
	case lineText.word:
		return r.sourceLine(words)
	case functionText.word:
		return parseNumbered(functionText, &t.Functions, words)
	case nodeText.word:
		return parseNumbered(nodeText, &t.Nodes, words)
	case edgeText.word:
		return parseNumbered(edgeText, &t.Edges, words)
	case kindText.word:
		return parseNumbered(kindText, &t.Kinds, words)
	case eventText.word:
		return parseNumbered(eventText, &t.Events, words)
	case sectionText.word:
		return parseNumbered(sectionText, &t.Sections, words)
	case threadText.word:
		return parseNumbered(threadText, &t.Threads, words)
	case pathText.word:
		return parseNumbered(pathText, &t.Paths, words)
	case sampleText.word:
		return appendRow(sampleText, &t.PathSamples, words)
	case wasteTotalText.word:
		return appendRow(wasteTotalText, &t.WasteTotals, words)
	case wastePairText.word:
		return appendRow(wastePairText, &t.WastePairs, words)
	case accountText.word:
		return appendRow(accountText, &t.Accounts, words)
	case traceText.word:
		return appendRow(traceText, &t.Traces, words)
	case lockText.word:
		return parseNumbered(lockText, &t.Locks, words)
	case lockWaitText.word:
		return appendRow(lockWaitText, &t.LockWaits, words)
	case lockHoldText.word:
		return appendRow(lockHoldText, &t.LockHolds, words)
	}
	return r.instanceWords(word, words)
}

func appendRow[Row any](spec textRow[Row], rows *[]Row, words []string) error {
	row, err := parseRow(spec, words)
	*rows = append(*rows, row)
	return err
}

func (r *textReader) sourceLine(words []string) error {
	l, err := parseRow(lineText, words)
	if err != nil {
		return err
	}
	if l.file < 0 || int(l.file) >= len(r.p.Files) || l.n < 0 {
		return fmt.Errorf("line %d of file %d cannot be: the file comes first", l.n, l.file)
	}
	f := &r.p.Files[l.file]
	if f.Lines == nil {
		f.Lines = map[int32]string{}
	}
	f.Lines[l.n] = l.text
	return nil
}

func (r *textReader) instanceWords(word string, words []string) error {
	if word == instanceText.word {
		in, err := parseRow(instanceText, words)
		r.in = &in
		return err
	}
	matrix := slices.Index(matrixNames[:], word)
	if word != partText.word && matrix < 0 {
		return errors.New("unknown word")
	}
	if r.in == nil {
		return errors.New("outside of an instance")
	}
	if word == partText.word {
		return appendRow(partText, &r.in.Parts, words)
	}
	return r.cells(r.in.matrices()[matrix], words)
}

// cells reads a row of a matrix: its id, then values by part, or part:value.
func (r *textReader) cells(m *[]Count, words []string) error {
	if len(words) == 0 {
		return errors.New("the row's id is missing")
	}
	var row int32
	if err := parseInt(words[0], &row); err != nil {
		return err
	}
	for i, w := range words[1:] {
		c := Count{Row: row, Part: int32(i)}
		part, value, ok := strings.Cut(w, ":")
		if !ok {
			value = w
		} else if err := parseInt(part, &c.Part); err != nil {
			return err
		}
		if err := parseInt(value, &c.N); err != nil {
			return err
		}
		if c.N != 0 || ok {
			*m = append(*m, c)
		}
	}
	return nil
}

// endInstance completes and stores the instance that was read.
func (r *textReader) endInstance() error {
	in := r.in
	if in == nil {
		return nil
	}
	last := uint64(0)
	for i := range in.Parts {
		last = max(last, in.Parts[i].Arrive)
	}
	for i := range in.Parts {
		if p := &in.Parts[i]; p.Release == unset {
			p.Release = last
		}
	}
	in.Sort()
	if err := in.Check(&r.p.tables); err != nil {
		return fmt.Errorf("instance of line %d: %w", r.from, err)
	}
	return r.p.WriteInstance(in)
}
