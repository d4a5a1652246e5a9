package callgrind

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Options of Convert.
type Options struct {
	Threads []int // to take part; nil = those that ran the function that most threads share
	Parts   bool  // every part is an instance of its own; otherwise they are summed
	// Source returns the lines of a source file, none if it is not at hand; nil = no sources.
	Source func(path string) []string
}

// ParseThreads reads "2-9,12".
func ParseThreads(s string) ([]int, error) {
	var out []int
	for _, word := range strings.Split(s, ",") {
		from, to, isRange := strings.Cut(word, "-")
		lo, err := strconv.ParseUint(from, 10, 20)
		if err != nil {
			return nil, fmt.Errorf("threads %q: must look like 2-9,12", s)
		}
		hi := lo
		if isRange {
			if hi, err = strconv.ParseUint(to, 10, 20); err != nil || hi < lo || hi-lo > 1<<16 {
				return nil, fmt.Errorf("threads %q: must look like 2-9,12", s)
			}
		}
		for n := lo; n <= hi; n++ {
			out = append(out, int(n))
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// function names a function of an object.
type function struct{ object, name string }

// work sums up, by function, the instructions that each thread ran in it.
func work(dumps []*Dump) map[function]map[int]uint64 {
	out := map[function]map[int]uint64{}
	for _, d := range dumps {
		for _, in := range d.Instrs {
			f := function{in.Object, in.Function}
			if out[f] == nil {
				out[f] = map[int]uint64{}
			}
			out[f][d.Thread] += in.count()
		}
	}
	return out
}

// count is how often the instruction ran: its first cost, Ir.
func (in *Instr) count() uint64 {
	if len(in.Costs) == 0 {
		return 0
	}
	return in.Costs[0]
}

// shared returns the program's own function in which most threads worked; of
// several, the one with the most instructions.
func shared(dumps []*Dump) (function, map[int]uint64) {
	byFunction := work(dumps)
	program := programObject(dumps)
	names := slices.SortedFunc(maps.Keys(byFunction), func(a, b function) int {
		own := func(f function) int {
			if f.object == program {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(own(b), own(a)),
			cmp.Compare(len(byFunction[b]), len(byFunction[a])),
			cmp.Compare(total(byFunction[b]), total(byFunction[a])),
			cmp.Compare(a.object, b.object), cmp.Compare(a.name, b.name))
	})
	if len(names) == 0 {
		return function{}, nil
	}
	return names[0], byFunction[names[0]]
}

func total(counts map[int]uint64) uint64 {
	var sum uint64
	for _, n := range counts {
		sum = saturate(sum, n)
	}
	return sum
}

// programObject is the object that the command names: its path ends like the
// command's first word.
func programObject(dumps []*Dump) string {
	for _, d := range dumps {
		words := strings.Fields(d.Cmd)
		if len(words) == 0 {
			continue
		}
		base := words[0][strings.LastIndexByte(words[0], '/')+1:]
		for key := range d.Instrs {
			if key.Object == words[0] || strings.HasSuffix(key.Object, "/"+base) {
				return key.Object
			}
		}
	}
	return ""
}

// choose picks the threads that take part.
func choose(dumps []*Dump, o Options) []int {
	all := map[int]bool{}
	for _, d := range dumps {
		all[d.Thread] = true
	}
	if o.Threads != nil {
		return slices.DeleteFunc(slices.Clone(o.Threads), func(t int) bool { return !all[t] })
	}
	if _, who := shared(dumps); len(who) > 1 {
		return slices.Sorted(maps.Keys(who))
	}
	return slices.Sorted(maps.Keys(all))
}

// dropAlone removes from the first thread what no other one did: the work
// before and after the threads ran, of which callgrind does not tell the time.
func dropAlone(dumps []*Dump, threads []int) bool {
	first := threads[0]
	if first != 1 {
		return false
	}
	byFunction := work(slices.DeleteFunc(slices.Clone(dumps), func(d *Dump) bool { return !slices.Contains(threads, d.Thread) }))
	dropped := false
	for _, d := range dumps {
		if d.Thread != first {
			continue
		}
		maps.DeleteFunc(d.Instrs, func(_ Key, in *Instr) bool {
			alone := len(byFunction[function{in.Object, in.Function}]) == 1
			dropped = dropped || alone
			return alone
		})
	}
	return dropped
}
