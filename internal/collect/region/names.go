package region

import (
	"cmp"
	"slices"
	"strings"
)

// Mark is what the calls of a function mean for what is measured.
type Mark uint8

// The marks.
const (
	None  Mark = iota
	Whole      // from the call until it returns
	Begin      // a phase begins; the first argument points to its name
	End        // the thread's last phase ends
)

// The functions of lime.h.
const (
	beginFunction = "lime_phase_begin"
	endFunction   = "lime_phase_end"
)

// Mark is that of a function, by its symbol and by the name that people write.
func (s *Spec) Mark(symbol, name string) Mark {
	if s.Phase != "" {
		switch symbol {
		case beginFunction:
			return Begin
		case endFunction:
			return End
		}
	}
	for _, f := range s.From {
		if is(f, symbol) || is(f, name) {
			return Whole
		}
	}
	return None
}

// clones are what compilers put behind the name of a function that they have made a copy of.
func clones() []string { return []string{".isra.", ".constprop.", ".llvm.", ".lto_priv."} }

// is reports whether a symbol, or a name with its arguments, is that of a function.
func is(function, name string) bool {
	if name == function {
		return true
	}
	at := strings.Index(name, function)
	for ; at >= 0; at = next(name, function, at) {
		before, rest := name[:at], name[at+len(function):]
		if before != "" && !strings.HasSuffix(before, " ") { // of a template, the type that it returns
			continue
		}
		if strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, "<") {
			return true
		}
		if before == "" && slices.ContainsFunc(clones(), func(c string) bool { return strings.HasPrefix(rest, c) }) {
			return true
		}
	}
	return false
}

func next(name, function string, at int) int {
	if i := strings.Index(name[at+1:], function); i >= 0 {
		return at + 1 + i
	}
	return -1
}

// nearNames is how many names are offered for one that does not exist: a line of them.
const nearNames = 5

// Near are the names most like that of a function that does not exist, the nearest first, and of
// those as near in the order in which they come.
func Near(function string, names []string) []string {
	type scored struct {
		name string
		far  int
	}
	var list []scored
	seen := map[string]bool{}
	for _, n := range names {
		short, _, _ := strings.Cut(n, "(")
		if short == "" || seen[short] {
			continue
		}
		seen[short] = true
		last := short
		if i := strings.LastIndexAny(short, ":."); i >= 0 {
			last = short[i+1:]
		}
		far := min(distance(function, short), distance(function, last))
		if far <= max(2, len(function)/3) || strings.EqualFold(last, function) {
			list = append(list, scored{short, far})
		}
	}
	slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(a.far, b.far) })
	var out []string
	for _, s := range list[:min(len(list), nearNames)] {
		out = append(out, s.name)
	}
	return out
}

// distance is Levenshtein's.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, corner+1)
		}
	}
	return row[len(b)]
}
