package view

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

// Problem is an error that a request deserves, with its status.
type Problem struct {
	Code int
	Text string
}

func (p *Problem) Error() string { return p.Text }

func bad(format string, args ...any) *Problem {
	return &Problem{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

func missing(format string, args ...any) *Problem {
	return &Problem{http.StatusNotFound, fmt.Sprintf(format, args...)}
}

// query reads parameters; the first error stays.
type query struct {
	values url.Values
	err    error
}

// longest is how long a parameter may be.
const longest = 300

func (q *query) text(name, otherwise string) string {
	v := q.values.Get(name)
	if len(v) > longest {
		q.fail(bad("%s is longer than %d bytes", name, longest))
		return otherwise
	}
	if v == "" {
		return otherwise
	}
	return v
}

func (q *query) fail(err error) {
	if q.err == nil {
		q.err = err
	}
}

// whole reads a whole number from lo to hi.
func (q *query) whole(name string, lo, hi, otherwise int) int {
	v := q.text(name, "")
	if v == "" {
		return otherwise
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < lo || n > hi {
		q.fail(bad("%s must be a whole number from %d to %d", name, lo, hi))
		return otherwise
	}
	return n
}

// clock reads a point in time.
func (q *query) clock(name string, otherwise uint64) uint64 {
	v := q.text(name, "")
	if v == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		q.fail(bad("%s must be a point in time, a whole number", name))
		return otherwise
	}
	return n
}
