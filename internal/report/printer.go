package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// printer writes lines and keeps the first error.
type printer struct {
	w  *bufio.Writer
	st style
}

func newPrinter(w io.Writer, color bool) *printer {
	return &printer{w: bufio.NewWriter(w), st: style{color}}
}

// line writes one line; blanks at its end are dropped.
func (p *printer) line(format string, args ...any) {
	fmt.Fprintln(p.w, strings.TrimRight(fmt.Sprintf(format, args...), " "))
}

func (p *printer) blank() { fmt.Fprintln(p.w) }

// para writes text, wrapped and indented.
func (p *printer) para(indent int, text string) {
	for _, line := range wrap(clean(text), Width-indent) {
		p.line("%s%s", strings.Repeat(" ", indent), line)
	}
}

// item writes text behind a label; further lines align with the first.
func (p *printer) item(indent int, label, text string) { p.labelled(indent, label, text, p.st.bold) }

// labelled is item with a paint for the label.
func (p *printer) labelled(indent int, label, text string, paint func(string) string) {
	lead := strings.Repeat(" ", indent)
	for i, line := range wrap(clean(text), Width-indent-columns(label)) {
		if i == 0 {
			p.line("%s%s%s", lead, paint(label), line)
			continue
		}
		p.line("%s%s%s", lead, strings.Repeat(" ", columns(label)), line)
	}
}

// rule writes a heading across the page.
func (p *printer) rule(title string) {
	title = cut(title, Width-6)
	rest := Width - 4 - columns(title)
	p.line("%s %s %s", p.st.dim("━━"), p.st.bold(title), p.st.dim(strings.Repeat("━", max(0, rest))))
}

func (p *printer) done() error { return p.w.Flush() }

// emphasised is a paragraph that stands out.
func (p *printer) emphasised(text string) {
	for _, line := range wrap(clean(text), Width) {
		p.line("%s", p.st.bold(line))
	}
}
