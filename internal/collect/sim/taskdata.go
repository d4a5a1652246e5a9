// Tasks of libgomp: which data each is given, and where it was given away.

package sim

import (
	"lime/internal/collect/known"
	"lime/internal/x86"
)

// A task is given a copy of the data that its maker names, or the data themselves where it runs at
// once. Who copies is memcpy, called by the function that makes the task, or a function of the
// program's (firstprivate objects of C++): so the copy's address is seen where that begins, or where
// memcpy returns to.

// enterTask notes a task in the making. Behind its data come the function that copies them, if there
// is one, and their size.
func (ts *tasks) enterTask(t *thread, f *fn) {
	ts.noteBody(t, f)
	x := handed{body: argument(t, f.Object), from: ts.lineages.of(t), kept: true}
	t.gives = x
	if copies := argument(t, f.Second+1); copies != 0 {
		ts.lineages.gives(x.body, x.from, 0)
		ts.copiedAt(copies, &fn{Name: "copies a task's data", Role: known.TaskCopy, Object: 0, Second: none, Source: f.Source})
		return
	}
	ts.lineages.object(argument(t, f.Second), x, 0)
	if entry := t.ctx.RIP; !ts.lineages.copying[entry] {
		ts.lineages.copying[entry] = true
		for _, ret := range ts.places.returnsFrom(entry, "memcpy") {
			ts.copiedAt(ret, &fn{Name: "has copied a task's data", Role: known.TaskCopy, Object: none, Second: none, Source: f.Source})
		}
	}
}

func (ts *tasks) copiedAt(at uint64, f *fn) {
	if ts.openCalls.entries[at] == nil {
		ts.openCalls.entries[at] = f
		ts.probes.setProbe(at)
	}
}

// enterTaskCopy: the copy is about to be made, or has been: memcpy returns where it is.
func (ts *tasks) enterTaskCopy(t *thread, f *fn) {
	at := t.ctx.GPR[rax]
	if f.Object != none {
		at = argument(t, f.Object)
	}
	if x := t.gives; x.body != 0 {
		x.kept = false // a copy is for one task
		ts.lineages.object(at, x, 0)
	}
}

// returnsFrom lists where calls of a function of another library return to that a function makes,
// by its code.
func (pl *places) returnsFrom(entry uint64, name string) (list []uint64) {
	_, s, ok := pl.images.Func(entry)
	for at, end := entry, entry+s.Size; ok && at < end; {
		in, valid := pl.decode(at)
		if !valid {
			break
		}
		next := at + uint64(in.Len)
		if in.Branch == x86.BranchCall {
			if called, _ := pl.images.function(in.Target(at)); called == name {
				list = append(list, next)
			}
		}
		at = next
	}
	return list
}
