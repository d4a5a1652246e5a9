package analysis

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"lime/internal/profile"
)

// FindSections finds the sections that a person names: by a number, from 1, in the order of the
// report, or by the place at which they end: FILE:LINE or a function. Several may end at one place.
// It returns their indices in res.Sections.
func (res *Result) FindSections(spec string) ([]int, error) {
	if n, err := strconv.Atoi(spec); err == nil {
		if n < 1 || n > len(res.Sections) {
			return nil, fmt.Errorf("--section %d: the report has sections 1 to %d", n, len(res.Sections))
		}
		return []int{n - 1}, nil
	}
	var out []int
	for i := range res.Sections {
		if res.Sections[i].EndsAt.Named(spec) {
			out = append(out, i)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("--section %q: no section ends there; write its number in the report, FILE:LINE or a function", spec)
	}
	return out, nil
}

// Named reports whether a person means the place: FILE:LINE, where the file may be the end of its
// path, or its function.
func (p *Place) Named(spec string) bool {
	if i := strings.LastIndexByte(spec, ':'); i > 0 {
		if line, err := strconv.Atoi(spec[i+1:]); err == nil {
			return line == p.Line && (profile.SameFile(p.File, spec[:i]) || path.Base(p.File) == spec[:i])
		}
	}
	return p.Function != "" && profile.SameFunction(p.Function, spec)
}
