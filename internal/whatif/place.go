package whatif

// The events at a place that a person names: a line, a function, a data object.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lime/internal/analysis"
	"lime/internal/profile"
)

// onData begins the name of a data object.
const onData = "on:"

// forms lists how a place may be written.
const forms = "top, important, all, or [KIND@]PLACE, where PLACE is FILE:LINE, a function, or on:DATA; for example " +
	"file.c:12, l1d-miss@file.c:12, llc@step, on:table"

// place takes [KIND@]PLACE. KIND may be written as people do: L1miss, l1d-miss, llc. Without one,
// all events of the machine's at the place are taken: an access that misses has neighbours that
// would miss in its stead, and levels below.
func (c *chooser) place(spec string) error {
	word, where, ok := strings.Cut(spec, "@")
	if !ok {
		word, where = "", spec
	}
	if where == "" {
		return fmt.Errorf("--erase %q: write %s", spec, forms)
	}
	kind := ""
	if ok {
		var err error
		if kind, err = c.findKind(word); err != nil {
			return fmt.Errorf("--erase %q: %w", spec, err)
		}
		if why := cannotErase(kind); why != "" {
			return fmt.Errorf("--erase %q: %s; change the program, and compare the two with 'lime diff'", spec, why)
		}
	} else if len(c.tab.Kinds) == 0 {
		return fmt.Errorf("--erase %q: the profile has no hardware events: simulate with --machine", spec)
	}
	at, err := c.eventsAt(where)
	if err != nil {
		return fmt.Errorf("--erase %q: %w", spec, err)
	}
	for i := range c.tab.Events {
		e := &c.tab.Events[i]
		if name := c.kindName(e.Kind); at(e) && (kind == "" && cannotErase(name) == "" || kind != "" && c.follows(name, kind)) {
			if kind != "" {
				c.add(e.Addr, kind)
			}
			c.add(e.Addr, name)
		}
	}
	what := "event of the machine's"
	if kind != "" {
		what = c.title(kind)
	}
	if len(c.kinds) == 0 {
		return fmt.Errorf("--erase %q: the profile has no %s there; write %s", spec, what, forms)
	}
	c.words = append(c.words, what+" "+placeWords(where))
	return nil
}

func placeWords(where string) string {
	if data, ok := strings.CutPrefix(where, onData); ok {
		return "on " + data
	}
	if isLine(where) {
		return "at " + where[strings.LastIndexByte(where, '/')+1:]
	}
	return "in " + where
}

// isLine tells FILE:LINE from a function, whose name may hold two colons.
func isLine(where string) bool {
	i := strings.LastIndexByte(where, ':')
	return i > 0 && where[i-1] != ':'
}

// eventsAt returns the test that tells whether an event is at a place.
func (c *chooser) eventsAt(where string) (func(*profile.Event) bool, error) {
	if data, ok := strings.CutPrefix(where, onData); ok {
		return func(e *profile.Event) bool { return analysis.SameData(e.Detail, data) }, nil
	}
	if isLine(where) {
		i := strings.LastIndexByte(where, ':')
		line, err := strconv.Atoi(where[i+1:])
		if err != nil || line <= 0 {
			return nil, fmt.Errorf("%q is no line number", where[i+1:])
		}
		return func(e *profile.Event) bool { return c.on(e, where[:i], line) }, nil
	}
	return func(e *profile.Event) bool { return c.within(e, where) }, nil
}

// within reports whether an event is in the code of a function, what is inlined into it included.
func (c *chooser) within(e *profile.Event, function string) bool {
	if slices.ContainsFunc(e.Frames, func(f profile.Frame) bool { return profile.SameFunction(f.Function, function) }) {
		return true
	}
	if e.Node < 0 || int(e.Node) >= len(c.tab.Nodes) {
		return false
	}
	f := c.tab.Nodes[e.Node].Function
	return f >= 0 && int(f) < len(c.tab.Functions) && profile.SameFunction(c.tab.Functions[f].Name, function)
}
