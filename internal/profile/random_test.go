package profile

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// fill puts a random, valid profile into a sink.
func fill(t testing.TB, s Sink, seed uint64, instances int) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	s.AddImage(Image{Path: "/bin/app", BuildID: "ab12", Base: 0x555500000000, Lo: 0x555500000000, Hi: 0xffffffffff601000})
	s.AddFile(File{Path: "lu.c", Lines: map[int32]string{3: "if (me == owner) {\t\"x\" = 1;", 4: "", 12: "ünïcode  "}})
	s.AddFile(File{Path: "dir with space/b \"q\".c"})
	s.AddFunction(Function{Image: 0, Name: "lu(int, std::vector<int>&)", Link: "_Z2lui", Entry: 0x555500000010, File: 0, Line: 2})
	for _, k := range []string{"exec", "l1d-miss"} {
		s.AddKind(EventKind{Name: k, Title: "T " + k, Superior: "", Unit: "times", Label: Modelled})
	}
	s.AddSection(Section{Kind: SectionBarrier, EndAddr: 0x5555, EndNode: None, Frames: randomFrames(r), Starts: randomFrames(r)})
	s.AddSection(Section{Kind: SectionJoin, EndNode: None})
	threads := 1 + r.IntN(9)
	for i := range threads {
		s.AddThread(Thread{Name: fmt.Sprint("worker ", i), Parent: ThreadID(i - 1), TID: int32(100 + i), Start: uint64(i), Entry: None})
	}
	s.SetThread(0, Thread{Name: "main", Parent: None, TID: 100, End: 1 << 63, Entry: 0})
	nodes, edges, events := 0, 0, 0
	for range instances {
		for range 1 + r.IntN(5) {
			s.AddNode(Node{Image: ImageID(r.IntN(2) - 1), Addr: r.Uint64(), Size: r.Uint32(), Instrs: r.Uint32N(100), LastAddr: r.Uint64(),
				Kind: NodeKind(r.IntN(int(NodePseudo) + 1)), Function: FunctionID(r.IntN(2) - 1), Frames: randomFrames(r), First: randomFrames(r)})
			nodes++
			s.AddEdge(Edge{From: NodeID(r.IntN(nodes)), To: NodeID(r.IntN(nodes+1) - 1), Kind: EdgeKind(r.IntN(int(EdgeOdd) + 1))})
			edges++
			s.AddEvent(Event{Kind: int32(r.IntN(2)), Node: NodeID(r.IntN(nodes)), Addr: r.Uint64(),
				Frames: randomFrames(r), Detail: []string{"", "lock 7"}[r.IntN(2)]})
			events++
			if r.IntN(4) == 0 {
				s.SetEventDetail(EventID(r.IntN(events)), fmt.Sprint("on x+", events))
			}
		}
		in := randomInstance(r, threads, nodes, edges, events)
		if err := s.WriteInstance(in); err != nil {
			t.Fatal(err)
		}
	}
	fillRest(t, s, r, threads, nodes)
}

func fillRest(t testing.TB, s Sink, r *rand.Rand, threads, nodes int) {
	t.Helper()
	paths := r.IntN(6)
	for i := range paths {
		id := s.AddPath(PathNode{Parent: PathID(r.IntN(i+1) - 1), Node: NodeID(r.IntN(nodes+1) - 1), Addr: r.Uint64()})
		s.AddPathSample(PathSample{Path: id, Thread: ThreadID(r.IntN(threads)), Section: SectionID(r.IntN(3) - 1),
			Metric: "idleness", Value: r.Float64() * 1e6})
	}
	if paths > 0 {
		s.AddTrace(randomTrace(r, ThreadID(r.IntN(threads)), paths))
	}
	s.AddWasteTotal(WasteTotal{Thread: ThreadID(r.IntN(threads)), Kind: "dead-store", Bytes: 7, Of: 70, Low: 0.05, High: 0.25, Label: Sampled})
	s.AddWastePair(WastePair{Kind: "dead-store", Thread: ThreadID(r.IntN(threads)),
		First:  WasteSide{Path: None, Node: NodeID(r.IntN(nodes+1) - 1), Addr: r.Uint64(), Frames: randomFrames(r)},
		Second: WasteSide{Path: None, Node: None, Frames: randomFrames(r)}, Bytes: r.Uint64(), Count: 3, Data: "a+0x8", Why: "spill"})
	lock := s.AddLock(Lock{Name: "m+0x8", Kind: "pthread_mutex_lock", Addr: r.Uint64(), First: r.Uint64(), Objects: 3, Taken: Label(r.IntN(4))})
	spot := WasteSide{Path: PathID(r.IntN(paths+1) - 1), Node: NodeID(r.IntN(nodes+1) - 1), Addr: r.Uint64(), Frames: randomFrames(r)}
	s.AddLockWait(LockWait{Lock: lock, Thread: ThreadID(r.IntN(threads)), At: spot, Count: r.Uint64(), Time: 1 << 40, Longest: r.Uint64N(1 << 40)})
	s.AddLockHold(LockHold{Lock: lock, Thread: None, At: spot, Count: 2, Time: 1 << 63, Longest: r.Uint64N(1 << 63), Waited: r.Uint64()})
	m := Meta{FormatVersion: FormatVersion, Tool: "lime 0.1", Collector: "simulate", Model: "count",
		Machine: "[core]\nn = 4\n", Command: []string{"./app", "-x", "a \"b\"<c>"},
		Cores: 4, ClockUnit: "instructions", ClockHz: 2.5e9, TimeLabel: Modelled, CountLabel: Sampled, NodeTime: "visits",
		EndState: "exited", ExitStatus: -3, RunTime: 1 << 63, CoreTime: 77, Complete: true, Resolved: true,
		Notes:    []Note{{"unsupported-syscall", "io_uring_setup\nline", 3}, {"x", "", 0}},
		RankInfo: RankInfo{Launcher: "Open MPI", Rank: 3, Ranks: 64, Host: "node 7", Job: "12.0"}}
	if err := s.UpdateMeta(m); err != nil {
		t.Fatal(err)
	}
}

func randomTrace(r *rand.Rand, thread ThreadID, paths int) Trace {
	out := Trace{Thread: thread, Every: 1 + r.Uint64N(8)}
	at := uint64(0)
	for range 1 + r.IntN(200) {
		at += r.Uint64N(1 << r.IntN(40))
		out.Samples = append(out.Samples, TraceSample{At: at, Length: r.Uint64N(at + 1), Path: PathID(r.IntN(paths))})
	}
	return out
}

func randomFrames(r *rand.Rand) []Frame {
	var fs []Frame
	for range r.IntN(3) {
		fs = append(fs, Frame{File: FileID(r.IntN(3) - 1), Line: r.Int32N(5), Column: r.Int32N(3), Offset: r.Uint32N(3),
			Function: []string{"main", "f<int>(a b)", ""}[r.IntN(3)]})
	}
	return fs
}

func randomInstance(r *rand.Rand, threads, nodes, edges, events int) *Instance {
	in := &Instance{Section: SectionID(r.IntN(2))}
	for _, t := range r.Perm(threads)[:1+r.IntN(threads)] {
		start := r.Uint64N(1 << 62)
		arrive := start + r.Uint64N(1000)
		in.Parts = append(in.Parts, Part{Thread: ThreadID(t), Start: start, Arrive: arrive, Release: arrive + r.Uint64N(1000),
			LockWait: r.Uint64N(10), OffCPU: r.Uint64N(10), Entry: NodeID(r.IntN(nodes+1) - 1), Exit: NodeID(r.IntN(nodes+1) - 1),
			EntryStack: randomStack(r, nodes), ExitStack: randomStack(r, nodes)})
	}
	if r.IntN(2) == 0 {
		in.Meeting = &Meeting{[]string{"world", "", "world/2:1"}[r.IntN(3)], r.Uint64()}
	}
	if r.IntN(2) == 0 {
		in.Chance = r.Uint64N(1 << 62)
		for i := range in.Parts {
			in.Parts[i].Host = HostTime{r.Uint64N(1 << 62), r.Uint64N(1 << 62)}
		}
	}
	if in.Meeting != nil && r.IntN(2) == 0 {
		for i := range in.Parts {
			in.Parts[i].Meets, in.Parts[i].Early = MeetRole(r.IntN(3)), r.Uint64N(in.Parts[i].Arrive+1)
		}
	}
	for i, rows := range []int{edges, events, events, nodes} {
		*in.matrices()[i] = randomMatrix(r, rows, len(in.Parts))
	}
	return in
}

func randomStack(r *rand.Rand, nodes int) []NodeID {
	if r.IntN(3) == 0 {
		return nil
	}
	s := []NodeID{}
	for range r.IntN(4) {
		s = append(s, NodeID(r.IntN(nodes)))
	}
	return s
}

// randomMatrix is unsorted and has no cell twice.
func randomMatrix(r *rand.Rand, rows, parts int) []Count {
	var m []Count
	density := r.IntN(4)
	for row := range rows {
		for part := range parts {
			if r.IntN(4) < density {
				m = append(m, Count{Row: int32(row), Part: int32(part), N: r.Uint64() >> r.UintN(64)})
			}
		}
	}
	r.Shuffle(len(m), func(i, j int) { m[i], m[j] = m[j], m[i] })
	return m
}
