package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// printer writes lines and keeps the first error.
type printer struct {
	w     *bufio.Writer
	st    style
	width int // columns of text
	extra int // those beyond Width, for places and the like
	ascii bool
}

// leastWidth is the narrowest page that text is wrapped to; tables need Width.
const leastWidth = 40

func newPrinter(w io.Writer, o TextOptions) *printer {
	p := &printer{w: bufio.NewWriter(w), st: style{o.Color}, width: Width, ascii: o.ASCII}
	if o.Width > 0 {
		p.width = max(leastWidth, o.Width)
		p.extra = max(0, p.width-Width)
	}
	return p
}

// line writes one line; blanks at its end are dropped.
func (p *printer) line(format string, args ...any) {
	text := strings.TrimRight(fmt.Sprintf(format, args...), " ")
	if p.ascii {
		text = toASCII(text)
	}
	fmt.Fprintln(p.w, text)
}

func (p *printer) blank() { fmt.Fprintln(p.w) }

// para writes text, wrapped and indented.
func (p *printer) para(indent int, text string) {
	for _, line := range wrap(clean(text), p.width-indent) {
		p.line("%s%s", strings.Repeat(" ", indent), line)
	}
}

// item writes text behind a label; further lines align with the first.
func (p *printer) item(indent int, label, text string) { p.labelled(indent, label, text, p.st.bold) }

// labelled is item with a paint for the label.
func (p *printer) labelled(indent int, label, text string, paint func(string) string) {
	lead := strings.Repeat(" ", indent)
	for i, line := range wrap(clean(text), p.width-indent-columns(label)) {
		if i == 0 {
			p.line("%s%s%s", lead, paint(label), line)
			continue
		}
		p.line("%s%s%s", lead, strings.Repeat(" ", columns(label)), line)
	}
}

// rule writes a heading across the page.
func (p *printer) rule(title string) {
	title = cut(title, p.width-6)
	rest := p.width - 4 - columns(title)
	p.line("%s %s %s", p.st.dim("━━"), p.st.bold(title), p.st.dim(strings.Repeat("━", max(0, rest))))
}

func (p *printer) done() error { return p.w.Flush() }

// emphasised is a paragraph that stands out.
func (p *printer) emphasised(text string) {
	for _, line := range wrap(clean(text), p.width) {
		p.line("%s", p.st.bold(line))
	}
}

// wide is the width that tables can count on.
func (p *printer) wide() int { return max(Width, p.width) }

// cutSource cuts a line of source that stands behind so many columns, if the page has a width.
func (p *printer) cutSource(text string, lead int, o TextOptions) string {
	if o.Width == 0 {
		return text
	}
	return cut(text, max(20, p.wide()-lead))
}
