// Package whatif answers "what would be if": it chooses the hardware events to erase from
// what the analysis of a profile has found, and compares the run with them to the run
// without. The run itself is the caller's. It imports analysis, ledger and profile only.
package whatif

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"lime/internal/analysis"
	"lime/internal/profile"
)

// Erasure is one instruction whose events of some kinds shall not happen.
type Erasure struct {
	PC    uint64
	Kinds []string
}

// The words that choose causes instead of places: the paper's three bars.
const (
	Top       = "top"       // the first cause that the report names: its line's events
	Important = "important" // all hardware causes with a score above the limit
	All       = "all"       // all significant hardware causes
)

// Choice is what was chosen to be erased.
type Choice struct {
	Erasures []Erasure
	Words    []string // for people: "L1 data miss at a.c:12"
}

// Choose finds the instructions that a specification names: one of the words above, which are about
// the causes of some sections (nil = all), or a place (place.go).
func Choose(res *analysis.Result, tab *profile.Tables, sections []int, spec string) (Choice, error) {
	c := chooser{tab: tab, kinds: map[uint64]map[string]bool{}}
	switch spec {
	case Top:
		if err := c.top(res, sections); err != nil {
			return Choice{}, fmt.Errorf("--erase top: %w", err)
		}
	case Important, All:
		c.causes(res, sections, spec)
	default:
		if err := c.place(spec); err != nil {
			return Choice{}, err
		}
	}
	if len(c.kinds) == 0 {
		return Choice{}, fmt.Errorf("--erase %s: the report names no hardware cause; name a line, as file.c:12", spec)
	}
	return c.choice(), nil
}

// chooser collects instructions.
type chooser struct {
	tab   *profile.Tables
	kinds map[uint64]map[string]bool // PC -> kinds
	words []string
}

// superior is the kind that must happen before another can; "" if there is none.
func (c *chooser) superior(kind string) string {
	for i := range c.tab.Kinds {
		if c.tab.Kinds[i].Name == kind {
			return c.tab.Kinds[i].Superior
		}
	}
	return ""
}

// root is the event that must happen before any of the superiors of a kind can.
func (c *chooser) root(kind string) string {
	for range c.tab.Kinds { // a cycle of superiors ends too
		up := c.superior(kind)
		if up == "" {
			break
		}
		kind = up
	}
	return kind
}

// follows reports whether a kind is another one, or can only happen where that happens.
func (c *chooser) follows(kind, from string) bool {
	for range c.tab.Kinds {
		if kind == from {
			return true
		}
		kind = c.superior(kind)
	}
	return kind == from
}

// causes takes the hardware causes of the sections, in the order of the report. A cause's misses
// become hits in the first level, at whatever level they were found.
func (c *chooser) causes(res *analysis.Result, sections []int, spec string) {
	for i := range res.Sections {
		if sections != nil && !slices.Contains(sections, i) {
			continue
		}
		for j := range res.Sections[i].Causes {
			cause := &res.Sections[i].Causes[j]
			if cause.Family != analysis.FamilyHardware || cannotErase(cause.Event) != "" || spec == Important && !cause.Important {
				continue
			}
			c.line(c.root(cause.Event), cause.File, cause.Line, cause.Address)
		}
	}
}

// top takes the first cause that the report names, of the sections or of all, or says why it cannot
// be taken away. The misses of one
// line at several levels are one cause to people, and are taken together.
func (c *chooser) top(res *analysis.Result, sections []int) error {
	for i := range res.Sections {
		if sections != nil && !slices.Contains(sections, i) {
			continue
		}
		list := res.Sections[i].Causes
		k := slices.IndexFunc(list, func(x analysis.Cause) bool { return x.Important })
		if k < 0 {
			continue
		}
		first := &list[k]
		at := placeOfCause(first)
		if first.Family != analysis.FamilyHardware {
			return fmt.Errorf("the report's first cause is the %s at %s, which is no hardware event; --even %s evens "+
				"it out, or name a line whose misses shall go", first.Title, at, at)
		}
		if why := cannotErase(first.Event); why != "" {
			return fmt.Errorf("the report's first cause is the %s at %s: %s%s; change the program, and compare the two "+
				"with 'lime diff'", first.Title, at, why, bound(first))
		}
		for j := range list {
			x := &list[j]
			if x.Family == analysis.FamilyHardware && cannotErase(x.Event) == "" &&
				(j == k || x.Line > 0 && x.File == first.File && x.Line == first.Line) {
				c.line(c.root(x.Event), x.File, x.Line, x.Address)
			}
		}
		return nil
	}
	return nil
}

// placeOfCause names a line as --erase and --even take it.
func placeOfCause(x *analysis.Cause) string {
	if x.Line > 0 {
		return fmt.Sprintf("%s:%d", filepath.Base(x.File), x.Line)
	}
	return cmp.Or(x.Function, x.Address)
}

// line takes all events of a kind on a source line, or at an address where there is no line, and what follows from them: an
// access that only takes the right to write has no miss of the first level before its coherence
// miss.
func (c *chooser) line(kind, file string, line int, address string) {
	found := false
	for i := range c.tab.Events {
		e := &c.tab.Events[i]
		if !c.follows(c.kindName(e.Kind), kind) {
			continue
		}
		if c.on(e, file, line) || line == 0 && fmt.Sprintf("%#x", e.Addr) == address {
			c.add(e.Addr, kind)
			c.add(e.Addr, c.kindName(e.Kind))
			found = true
		}
	}
	if found {
		where := address
		if line > 0 {
			where = fmt.Sprintf("%s:%d", filepath.Base(file), line)
		}
		if word := c.title(kind) + " at " + where; !slices.Contains(c.words, word) {
			c.words = append(c.words, word)
		}
	}
}

func (c *chooser) add(pc uint64, kind string) {
	if c.kinds[pc] == nil {
		c.kinds[pc] = map[string]bool{}
	}
	c.kinds[pc][kind] = true
}

// on reports whether an event is on a line, or in what is inlined there; file may be the end of its
// path.
func (c *chooser) on(e *profile.Event, file string, line int) bool {
	return line > 0 && slices.ContainsFunc(e.Frames, func(f profile.Frame) bool {
		return int(f.Line) == line && f.File >= 0 && int(f.File) < len(c.tab.Files) && profile.SameFile(c.tab.Files[f.File].Path, file)
	})
}

func (c *chooser) kindName(k int32) string {
	if k < 0 || int(k) >= len(c.tab.Kinds) {
		return ""
	}
	return c.tab.Kinds[k].Name
}

func (c *chooser) title(kind string) string {
	for i := range c.tab.Kinds {
		if c.tab.Kinds[i].Name == kind {
			return c.tab.Kinds[i].Title
		}
	}
	return kind
}

func (c *chooser) findKind(word string) (string, error) {
	plain := func(s string) string {
		return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(s))
	}
	var names []string
	for i := range c.tab.Kinds {
		name := c.tab.Kinds[i].Name
		names = append(names, name)
		if plain(name) == plain(word) || plain(name) == plain(word)+"miss" || name == "l1d-miss" && plain(word) == "l1miss" {
			return name, nil
		}
	}
	if len(names) == 0 {
		return "", fmt.Errorf("the profile has no hardware events: simulate with --machine")
	}
	return "", fmt.Errorf("no event %q; the profile has %s", word, strings.Join(names, ", "))
}

func (c *chooser) choice() Choice {
	out := Choice{Words: c.words}
	for pc, set := range c.kinds {
		e := Erasure{PC: pc}
		for k := range set {
			e.Kinds = append(e.Kinds, k)
		}
		slices.Sort(e.Kinds)
		out.Erasures = append(out.Erasures, e)
	}
	slices.SortFunc(out.Erasures, func(a, b Erasure) int { return cmp.Compare(a.PC, b.PC) })
	return out
}
