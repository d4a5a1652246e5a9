// Command bigprofile writes a large profile of a program that never was, to measure 'lime view'
// with: teams of threads that pass barriers, with uneven times, a few counts for each part, and
// call paths.
package main

import (
	"flag"
	"fmt"
	"log"

	"lime/internal/profile"
)

func main() {
	threads := flag.Int("threads", 1000, "threads")
	team := flag.Int("team", 10, "threads of an instance")
	instances := flag.Int("instances", 1_000_000, "instances, of all teams together")
	samples := flag.Int("samples", 500, "samples of the call path of each thread")
	out := flag.String("o", "big.lime", "the profile's file")
	flag.Parse()
	if *team < 2 || *threads < *team || *threads%*team != 0 || *instances < 1 {
		log.Fatal("the threads must be a multiple of the team, which is two or more")
	}
	if err := write(*out, *threads, *team, *instances, *samples); err != nil {
		log.Fatal(err)
	}
}

// Sections, and lines of the work in each.
const (
	sections = 8
	lines    = 6
)

func write(path string, threads, team, instances, samples int) error {
	w, err := profile.Create(path, profile.Meta{Tool: "bigprofile", Collector: "simulate", Model: "count",
		Command: []string{"./big"}, Cores: threads, ClockUnit: "instructions", NodeTime: "visits"})
	if err != nil {
		return err
	}
	tables(w, threads)
	clock := make([]uint64, threads/team)
	end := uint64(0)
	for i := range instances {
		t := i % len(clock)
		in := instance(t*team, team, i, clock[t])
		clock[t] = in.Parts[0].Release
		end = max(end, clock[t])
		if err := w.WriteInstance(in); err != nil {
			return err
		}
	}
	traces(w, threads, samples, end)
	m := profile.Meta{Tool: "bigprofile", Collector: "simulate", Model: "count", Command: []string{"./big"},
		Cores: threads, ClockUnit: "instructions", NodeTime: "visits",
		RunTime: end, EndState: "exited", Complete: true, Resolved: true}
	if err := w.UpdateMeta(m); err != nil {
		return err
	}
	return w.Close()
}

// tables makes the program: a loop of several lines before each of the barriers.
func tables(w profile.Sink, threads int) {
	file := w.AddFile(profile.File{Path: "big.c", Lines: map[int32]string{}})
	fn := w.AddFunction(profile.Function{Image: profile.None, Name: "worker", File: file, Line: 1})
	step := make([]profile.FunctionID, lines)
	for l := range step {
		step[l] = w.AddFunction(profile.Function{Image: profile.None, Name: fmt.Sprintf("step_%d", l), File: file, Line: int32(l + 1)})
	}
	var last profile.PathID = profile.None
	for s := range sections {
		for l := range lines {
			at := []profile.Frame{{File: file, Line: int32(10*s + l + 1), Function: "worker"}}
			n := w.AddNode(profile.Node{Image: profile.None, Addr: uint64(4096 + 64*s + 8*l),
				LastAddr: uint64(4096 + 64*s + 8*l), Instrs: 10, Kind: profile.EndCond, Function: fn, Frames: at, First: at})
			w.AddEdge(profile.Edge{From: n, To: n, Kind: profile.EdgeTaken})
			inner := []profile.Frame{{File: file, Line: int32(10*s + l + 1), Function: fmt.Sprintf("step_%d", l)}}
			called := w.AddNode(profile.Node{Image: profile.None, Addr: uint64(1<<20 + 64*s + 8*l),
				LastAddr: uint64(1<<20 + 64*s + 8*l), Instrs: 1, Kind: profile.EndRet, Function: step[l], Frames: inner, First: inner})
			outer := w.AddPath(profile.PathNode{Parent: profile.None, Node: n})
			last = w.AddPath(profile.PathNode{Parent: outer, Node: called})
		}
		w.AddSection(profile.Section{Kind: profile.SectionBarrier, EndAddr: uint64(8192 + s), EndNode: profile.None,
			Frames: []profile.Frame{{File: file, Line: int32(10*s + 9), Function: "worker"}}})
	}
	for t := range threads {
		w.AddThread(profile.Thread{Name: fmt.Sprintf("worker %d", t), Parent: profile.None, TID: int32(t), Entry: fn})
		w.AddPathSample(profile.PathSample{Path: last, Thread: profile.ThreadID(t), Section: 0, Metric: "time", Value: float64(1000 + t)})
	}
}

// traces says what ran when: a thread goes through the call paths one after the other.
func traces(w profile.Sink, threads, samples int, end uint64) {
	for t := range threads {
		tr := profile.Trace{Thread: profile.ThreadID(t), Every: 1}
		for i := range samples {
			tr.Samples = append(tr.Samples, profile.TraceSample{At: end / uint64(samples) * uint64(i+1), Length: end / uint64(samples),
				Path: profile.PathID((i/5 + t) % (sections * lines))})
		}
		w.AddTrace(tr)
	}
}

// instance makes one: a thread's time depends on its place in the team and on the line that it runs
// more often.
func instance(first, team, i int, start uint64) *profile.Instance {
	s := i / 7 % sections
	in := &profile.Instance{Section: profile.SectionID(s)}
	end := uint64(0)
	for k := range team {
		n := uint64(20 + (k*k+i/1000)%23*9)
		time := 10 * (n + lines - 1)
		end = max(end, start+time)
		in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(first + k), Start: start,
			Arrive: start + time, LockWait: time * uint64(k%3) / 20, Entry: 0, Exit: 0})
		for l := range lines {
			c := uint64(1)
			if l == i/7%lines {
				c = n
			}
			in.Edges = append(in.Edges, profile.Count{Row: int32(s*lines + l), Part: int32(k), N: c})
		}
	}
	for k := range in.Parts {
		in.Parts[k].Release = end
	}
	return in
}
