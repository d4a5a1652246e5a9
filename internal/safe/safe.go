// Package safe is where lime meets bytes of strangers: text on its way to a terminal or another
// tool, and files that a profile or a command line names; and where it makes files for a while, which
// do not add up if it is killed. It must not import any package of ours.
package safe

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Steers reports whether a character could steer a terminal, or turn the order in which a line is
// read: all controls but line feed and tab, the bidirectional ones, the separators of lines and
// paragraphs, and what is no character at all.
func Steers(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) ||
		r == '\u2028' || r == '\u2029' || r == utf8.RuneError
}

// Dot is the stand-in on a terminal: it takes one column, as tables expect.
func Dot(rune) string { return "·" }

// Escape is the stand-in in data: valid within JSON, and readable elsewhere.
func Escape(r rune) string { return fmt.Sprintf(`\u%04x`, r) }

// Visible returns text with stand-ins for what steers.
func Visible(text string, standIn func(rune) string) string {
	if strings.IndexFunc(text, Steers) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if Steers(r) {
			b.WriteString(standIn(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Writer is the gate before a terminal or a text file: what steers leaves it as stand-ins.
type Writer struct {
	w       io.Writer
	standIn func(rune) string
	own     []string // sequences that pass
	rest    []byte   // the begin of a character or of a sequence, whose end has yet to come
}

// NewWriter returns a gate before w.
func NewWriter(w io.Writer, standIn func(rune) string) *Writer {
	return &Writer{w: w, standIn: standIn}
}

// Unwrap returns the writer behind the gate.
func (g *Writer) Unwrap() io.Writer { return g.w }

// Pass lets these sequences, which are lime's own, through; they begin with the escape character.
func (g *Writer) Pass(own []string) { g.own = own }

// Write implements io.Writer.
func (g *Writer) Write(p []byte) (int, error) {
	in := append(g.rest, p...)
	var out bytes.Buffer
	for len(in) > 0 {
		n, whole := g.step(&out, in)
		if !whole {
			break
		}
		in = in[n:]
	}
	g.rest = bytes.Clone(in)
	if _, err := g.w.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what waited for its end, and did not get it.
func (g *Writer) Flush() error {
	rest := g.rest
	g.rest = nil
	_, err := io.WriteString(g.w, Visible(string(rest), g.standIn))
	return err
}

// step writes one character or one sequence and returns its length, unless more must come to tell.
func (g *Writer) step(out *bytes.Buffer, in []byte) (n int, whole bool) {
	if in[0] == '\x1b' {
		for _, s := range g.own {
			if bytes.HasPrefix(in, []byte(s)) {
				out.WriteString(s)
				return len(s), true
			}
			if strings.HasPrefix(s, string(in)) {
				return 0, false
			}
		}
	}
	if !utf8.FullRune(in) {
		return 0, false
	}
	r, n := utf8.DecodeRune(in)
	if Steers(r) {
		out.WriteString(g.standIn(r))
	} else {
		out.Write(in[:n])
	}
	return n, true
}
