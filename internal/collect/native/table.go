package native

import (
	"lime/internal/collect/known"
	"lime/internal/collect/native/hook"
)

// How the functions with a meaning (package known) are hooked.

// slowLock is how many cycles a lock may take without being a wait worth a word.
const slowLock = 3000

// goCalls is what is recorded of functions of Go's.
func goCalls() map[known.Role]*hook.GoCall {
	frames := &hook.GoCall{Frames: true}
	return map[known.Role]*hook.GoCall{
		known.GoIn: {Extra: hook.GoResumes}, known.GoOut: {}, known.GoReady: {}, known.GoEnd: {},
		known.GoPark: frames, known.GoLock: frames, known.GoUnlock: frames, known.GoCondList: frames, known.GoCondWakeAll: frames,
		known.GoCount: {Frames: true, Extra: hook.GoSecond}, known.GoAwait: {Frames: true, Extra: hook.GoPointed},
	}
}

// hooks turns rows of the table into what hook wants.
func hooks(rows []known.Func) []hook.Func {
	out, golang := make([]hook.Func, len(rows)), goCalls()
	for i := range rows {
		out[i] = hooked(&rows[i], golang[rows[i].Role])
	}
	return out
}

func hooked(row *known.Func, golang *hook.GoCall) hook.Func {
	p := &row.Pass
	f := hook.Func{Name: row.Name, Go: golang, Inner: p.Inner, Same: p.Same, StackArgs: p.Stack}
	switch {
	case golang != nil:
	case row.Hook == known.AtBoth:
		f.Return, f.Only = true, p.Only
	case row.Hook == known.IfSlow:
		f.Slow, f.Try, f.Refused = slowLock, p.Try, p.Taken
	case row.Hook == known.IfContended:
		f.Contended = true
	}
	switch row.Role {
	case known.Task, known.TaskObject:
		f.Task, f.Body, f.Slow = true, row.Object, slowTask
	case known.Fork:
		f.Work, f.Body, f.Variadic = true, row.Object, p.Variadic
	case known.Create:
		f.Fetch = true
	case known.MeetNew, known.MeetDup, known.MeetSplit, known.MeetGrid, known.MeetRows, known.MeetAsk:
		f.Fetch, f.Of = true, row.Second
	case known.FinishOne:
		f.Fetch, f.Of = true, row.Object+1
	case known.SemInit:
		f.Pick = [3]hook.Pick{hook.Pick(row.Object + 1), hook.Pick(row.Second + 1), hook.Pick(row.Second)}
	}
	if mpiRole(row.Role) {
		f.Pick = picked(row)
	}
	return f
}

// watchedFunctions are the rows whose functions are hooked, by each name that a program may call
// them by.
func watchedFunctions() (rows []known.Func) {
	for _, f := range known.Hooked() {
		rows = append(rows, f)
		if f.Also == known.Profiled {
			f.Name = f.Names()[1]
			rows = append(rows, f)
		}
	}
	return rows
}

// lockOf is the lock that a record's call is about.
func (p *program) lockOf(h *hook.Record) uint64 {
	if f := &p.table[h.Func]; f.Object == known.None {
		return f.Constant
	}
	return h.Arg0
}
