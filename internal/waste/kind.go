package waste

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is a kind of waste.
type Kind uint8

// The kinds.
const (
	DeadStore Kind = iota
	SilentStore
	SilentLoad
	FalseSharing
	Kinds // how many there are
)

// kindRow describes a kind. Of tells which bytes the fraction is of.
type kindRow struct{ option, name, title, first, second, of string }

func kindRows() [Kinds]kindRow {
	return [Kinds]kindRow{
		DeadStore:    {"dead", "dead-store", "dead stores", "stored", "overwritten", "stored"},
		SilentStore:  {"silent", "silent-store", "silent stores", "stored", "stored again", "stored"},
		SilentLoad:   {"loads", "silent-load", "silent loads", "loaded", "loaded again", "loaded"},
		FalseSharing: {"sharing", "false-sharing", "false sharing", "touched", "touched beside it", "touched"},
	}
}

// String is the kind's name in profiles and reports: "dead-store".
func (k Kind) String() string { return kindRows()[k].name }

// Title is the name for people: "dead stores".
func (k Kind) Title() string { return kindRows()[k].title }

// Set is a set of kinds.
type Set uint8

// All are all kinds.
const All Set = 1<<Kinds - 1

// Has reports whether a kind is in the set.
func (s Set) Has(k Kind) bool { return s>>k&1 != 0 }

// Of is the set of some kinds.
func Of(kinds ...Kind) (s Set) {
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

// ParseSet reads a list as users write it, "dead,loads"; "" and "all" are all kinds.
func ParseSet(list string) (s Set, err error) {
	if list == "" || list == "all" {
		return All, nil
	}
	rows := kindRows()
	for _, word := range strings.Split(list, ",") {
		i := slices.IndexFunc(rows[:], func(r kindRow) bool { return r.option == word || r.name == word })
		if i < 0 {
			return 0, fmt.Errorf("no kind of waste is called %q: choose from %s", word, strings.Join(Options(All), ", "))
		}
		s |= 1 << i
	}
	return s, nil
}

// Options are the words of ParseSet for the kinds of a set.
func Options(of Set) (words []string) {
	for k, r := range kindRows() {
		if of.Has(Kind(k)) {
			words = append(words, r.option)
		}
	}
	return words
}
