// How the table of functions with a meaning (package known) is used: probes stand where one of them
// begins.

package sim

import (
	"lime/internal/collect/known"
)

// fn is a function with a meaning: a row of the table, or what was found while the program runs.
type fn = known.Func

// none is the number of no argument: the object is fn.Constant.
const none = known.None

// byName indexes the table, with the names that the user declares added: functions at which
// sections end, or, of one of several processes, in which these meet.
func byName(sectionEnds []string, role known.Role) map[string]*fn {
	table := map[string]*fn{}
	rows := known.Probed()
	for i := range rows {
		for _, name := range rows[i].Names() {
			table[name] = &rows[i]
		}
	}
	for i, name := range sectionEnds {
		table[name] = &fn{Name: name, Role: role, Object: none, Second: none, Constant: uint64(i + 1),
			Source: "--section-end"}
	}
	return table
}

// mangled are the rows that are known by a part of their symbols.
func mangled() (list []*fn) {
	for _, f := range known.Probed() {
		if f.Also == known.Mangled {
			list = append(list, &f)
		}
	}
	return list
}
