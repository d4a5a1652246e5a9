package report

import (
	"fmt"

	"lime/internal/analysis"
	"lime/internal/ledger"
	"lime/internal/profile"
)

// luSource is what the sample's profile carries of its source.
var luSource = map[int32]string{
	532: "\tfor (J = K + 1; J < nblocks; J++)",
	533: "\t    for (I = K + 1; I < nblocks; I++) {",
	534: "\t\tstrI = edge(I);",
	535: "\t\tif (BlockOwner(I, J) == MyNum) {  /* parcel out blocks */",
	536: "\t\t    A = &(a[K * bs + I * bs * n]);",
	537: "\t\t    bmod(A, B, C, strI, strJ, strK, n);",
	538: "\t\t}",
}

// sampleTimes gives n threads uneven times: every eighth has twice the blocks.
func sampleTimes(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 520e3 + float64(i*i%7)*11e3
		if i%8 == 0 {
			out[i] = 812e3 - float64(i)*1e3
		}
	}
	return out
}

func longest(times []float64) float64 {
	most := 0.0
	for _, t := range times {
		most = max(most, t)
	}
	return most
}

// sample is a result as the analysis of a blocked LU would give it.
func sample(n int) (*analysis.Result, *profile.Tables) {
	times := sampleTimes(n)
	top := longest(times)
	section := analysis.Section{
		ID: 0, Kind: "barrier", EndsAt: analysis.Place{File: "src/lu.c", Line: 598, Function: "lu"},
		Starts:    analysis.Place{File: "src/lu.c", Line: 520, Function: "lu"},
		Imbalance: 0.3127, Matters: true, ParallelShare: 0.25, LostShare: 0.203, LostTime: 24.1e6, InstanceCount: 24, AnalysedCount: 24,
		Time: 19.5e6, TimeToWin: 6.3e6, WinShare: 0.187, Speedup: 1.47, HasLedger: true,
		ThreadsMin: n, ThreadsMax: n,
		Explained:  analysis.Interval{Value: 0.962, Lo: 0.91, Hi: 0.98},
		Course:     sampleCourse(24),
		Causes:     sampleCauses(times),
		Candidates: sampleCandidates(),
		Ledger:     sampleAccount(n),
		Events:     analysis.EventStats{Total: 412, Constant: 230, Kept: 182, Distinct: 40, Clusters: 7, Control: 7, Predictors: 2},
	}
	for i, t := range times {
		section.Threads = append(section.Threads, analysis.ThreadTotal{
			Thread: profile.ThreadID(i), Name: fmt.Sprintf("worker %d", i), Instances: 24, Time: t * 24, Wait: (top - t) * 24})
		section.Worst.Threads = append(section.Worst.Threads, profile.ThreadID(i))
		section.Worst.Times = append(section.Worst.Times, t)
		section.Worst.Waits = append(section.Worst.Waits, top-t)
	}
	res := &analysis.Result{
		Run: analysis.RunInfo{Tool: "lime 0.1", Collector: "simulate", Model: "count", Cores: n,
			Command: []string{"./lu", "-n", "512", fmt.Sprintf("-p%d", n)}, ClockUnit: "instructions",
			TimeLabel: "measured", CountLabel: "measured", EndState: "exited", Complete: true, Resolved: true,
			Notes: []profile.Note{{Code: "no-debug-info", Text: "/usr/lib/libm.so.6", N: 1}}},
		Whole: analysis.Whole{RunTime: 33.7e6, Threads: n + 1, Width: n, ParallelEfficiency: 0.634,
			LoadBalance: 0.681, CommunicationEfficiency: 0.931, SerialShare: 0.068, LostTime: 33e6, LostShare: 0.267},
		Sections: []analysis.Section{section, unexplainedSection(n), balancedSection(n)},
		Serial: []analysis.Section{{Kind: "serial", EndsAt: analysis.Place{File: "src/lu.c", Line: 311, Function: "main"},
			Time: 2.1e6, TimeShare: 0.062, InstanceCount: 1}},
	}
	res.Loss = sampleLoss(n, res.Whole.RunTime)
	for i, share := range []float64{0.203, 0.063, 0.001} {
		res.Sections[i].Loss, res.Sections[i].AllLost = analysis.LossShares{analysis.TermImbalance: share}, share
	}
	tables := &profile.Tables{Files: []profile.File{{Path: "src/lu.c", Lines: luSource}}}
	return res, tables
}

// sampleLoss is an account with most terms, one of them with a place that is not known.
func sampleLoss(n int, run float64) *analysis.Loss {
	l := &analysis.Loss{Cores: n, CoreTime: float64(n) * run,
		Efficiency: analysis.LossEfficiency{Parallel: 0.634, LoadBalance: 0.681, Serialisation: 0.94, Transfer: 0.99}}
	at := func(line int, f string, share float64) analysis.LossPlace {
		return analysis.LossPlace{Place: analysis.Place{File: "src/lu.c", Line: line, Function: f},
			Section: profile.None, Share: share, Time: share * l.CoreTime}
	}
	locks := at(402, "lu", 0.03)
	locks.Event, locks.Data, locks.Held, locks.Count, locks.Among = profile.KindLockWait, "globals+0x18", "lu.c:410", 42, 1
	locks.Threads = []analysis.ThreadShare{{Thread: 0, Name: "worker 0", Time: locks.Time}}
	unseen := analysis.LossPlace{Section: profile.None, Share: 0.001, Time: 0.001 * l.CoreTime, Why: "the collector did not see where"}
	for _, t := range []analysis.LossTerm{
		{Name: analysis.TermUseful, Title: "useful work", Places: []analysis.LossPlace{at(598, "lu", 0.634)}},
		{Name: analysis.TermImbalance, Title: "imbalance",
			Places: []analysis.LossPlace{at(598, "lu", 0.203), at(600, "worker", 0.063), at(311, "main", 0.001)}},
		{Name: analysis.TermSerial, Title: "too few threads", Places: []analysis.LossPlace{at(311, "main", 0.068)}},
		{Name: analysis.TermLock, Title: "waiting for locks", Places: []analysis.LossPlace{locks, unseen}},
		{Name: analysis.TermWait, Title: "waiting for others' work"}, {Name: analysis.TermOffCore, Title: "off the core"},
		{Name: analysis.TermOverhead, Title: "runtime overhead"}, {Name: analysis.TermMemory, Title: "stalls of the core"},
	} {
		for _, p := range t.Places {
			t.Share, t.Time = t.Share+p.Share, t.Time+p.Time
		}
		l.Terms = append(l.Terms, t)
	}
	return l
}

func sampleCourse(n int) analysis.Course {
	c := analysis.Course{Shape: "shrinking", Text: "The loss shrinks from instance to instance: the first half has 81 % of it."}
	for i := range n {
		c.Points = append(c.Points, analysis.Point{Seq: i, Count: 1, Imbalance: 0.4 - 0.01*float64(i), LostTime: 2e6 - 8e4*float64(i), Time: 1e6})
	}
	return c
}

func sampleCauses(times []float64) []analysis.Cause {
	share := 0.931
	cause := analysis.Cause{Rank: 1, Family: "control-flow", Event: "branch", Title: "branch",
		Place: analysis.Place{File: "src/lu.c", Line: 535, Function: "lu", Address: "0x401a3c", Text: luSource[535]},
		Score: 0.972, Important: true, Share: &share, LedgerTime: 5.9e6, Beta: 0.98, P: 1e-9, PFamily: 1e-7,
		R2: analysis.Interval{Value: 0.94, Lo: 0.88, Hi: 0.97}, Correlation: 0.97, Stability: 0.9, StableThreads: 1, StableInstances: 0.9,
		TimeToWin: 5.9e6, WinShare: 0.175, Seq: 0,
		Sentence: "In instance 1 thread 0 takes this branch 15 times, thread 1 8 times; threads that do so more " +
			"often take longer: thread 0 takes 1.58 times as long as thread 1.",
		Members: []analysis.Member{
			{Place: analysis.Place{File: "src/lu.c", Line: 540, Function: "bmod"}, Family: "control-flow", Kinds: []string{"loop"}, Events: 3},
			{Place: analysis.Place{File: "src/lu.c", Line: 557, Function: "daxpy"}, Family: "control-flow",
				Kinds: []string{"loop", "call"}, Events: 2}},
		Rivals: []analysis.Rival{{Place: analysis.Place{File: "src/lu.c", Line: 530, Function: "lu"}, Event: "loop",
			R2: 0.93, Correlation: 0.999}},
		Paths: [][]analysis.Frame{{{File: "src/lu.c", Line: 311, Function: "main"}, {File: "src/lu.c", Line: 480, Function: "SlaveStart"}}},
	}
	minor := analysis.Cause{Rank: 2, Family: "hardware", Event: "l1d-miss", Title: "L1 data miss",
		Place: analysis.Place{File: "src/lu.c", Line: 612, Function: "daxpy"}, Score: 0.06, R2: analysis.Interval{Value: 0.02}}
	for i, t := range times {
		n := uint64(8)
		if i%8 == 0 {
			n = 15
		}
		cause.Threads = append(cause.Threads, analysis.ThreadCount{Thread: profile.ThreadID(i), Count: n, Time: t})
	}
	for i := range 24 {
		cause.Instances = append(cause.Instances, analysis.InstanceScore{Seq: i, Weight: 1.0 / 24, Imbalance: 0.3, Score: 0.97, R2: 0.94})
	}
	return []analysis.Cause{cause, minor}
}

func sampleCandidates() []analysis.Cause {
	small, place := 0.0004, func(line int, f string) analysis.Place {
		return analysis.Place{File: "src/lu.c", Line: line, Function: f}
	}
	return []analysis.Cause{
		{Family: "control-flow", Event: "loop", Title: "loop iterations", Place: place(557, "daxpy"), Score: 0.31,
			Share: &small, PFamily: 1e-4, Correlation: 0.9},
		{Family: "control-flow", Event: "call", Title: "calls", Place: place(540, "bmod"), Callee: "daxpy",
			Score: 0.12, PFamily: 0.4, Correlation: 0.5},
	}
}

func balancedSection(n int) analysis.Section {
	s := analysis.Section{ID: 1, Kind: "join", EndsAt: analysis.Place{File: "src/lu.c", Line: 311, Function: "main"},
		Imbalance: 0.004, LostShare: 0.001, LostTime: 3e4, InstanceCount: 1, ThreadsMin: n, ThreadsMax: n, Time: 1e6,
		TimeToWin: 120, Speedup: 1.004, Balanced: true,
		Course: analysis.Course{Shape: "single"}}
	for i := range n {
		s.Threads = append(s.Threads, analysis.ThreadTotal{Thread: profile.ThreadID(i), Instances: 1, Time: 1e6 - float64(i), Wait: float64(i)})
	}
	return s
}

func unexplainedSection(n int) analysis.Section {
	s := analysis.Section{ID: 2, Kind: "region-end", EndsAt: analysis.Place{Function: "worker+0x44", Address: "0x401244", Image: "lu"},
		Imbalance: 0.12, Matters: true, LostShare: 0.063, LostTime: 3e6, InstanceCount: 2, ThreadsMin: n - 1,
		ThreadsMax: n, Time: 4e6, TimeToWin: 4e5, Speedup: 1.14,
		Course: analysis.Course{Shape: "even", Text: "Both instances lose about the same."},
		Verdicts: []analysis.Verdict{{Code: "few-threads", Severity: "warn",
			Text: "With so few threads almost any event fits the times: run it with 16 or more."}}}
	for i := range n {
		s.Threads = append(s.Threads, analysis.ThreadTotal{Thread: profile.ThreadID(i),
			Time: 1.8e6 + float64(i%3)*2e5, Wait: 4e5 - float64(i%3)*2e5})
	}
	return s
}

func sampleAccount(n int) *ledger.Account {
	per := make([]float64, n)
	dev := make([]float64, n)
	threads := make([]profile.ThreadID, n)
	counts := make([]uint64, n)
	for i := range n {
		per[i], counts[i], threads[i] = -8e5, 8*24, profile.ThreadID(i)
		if i%8 == 0 {
			per[i], counts[i] = 5.6e6, 15*24
		}
		dev[i] = per[i] * 1.05
	}
	at := func(line int32, f string) ledger.Place {
		return ledger.Place{File: "src/lu.c", Line: line, Function: f, Addr: 0x401a3c}
	}
	return &ledger.Account{Section: 0, Threads: threads, Deviation: dev, Total: 6.3e6, TMax: 19.5e6, Mean: 13.2e6, Exact: true,
		Rows: []ledger.Row{
			{Kind: ledger.Branch, Place: at(535, "lu"), Cycles: 5.865e6, Share: 0.931, Threads: per,
				Edges: []ledger.EdgeCount{{Way: "taken", Counts: counts}}},
			{Kind: ledger.Loop, Place: at(543, "lu"), Cycles: 3.3e5, Share: 0.052, Threads: per},
			{Kind: ledger.Price, Event: "l1d-miss", Place: at(612, "daxpy"), Cycles: -0.7e5, Share: -0.011, Threads: per},
		},
		Rest:     ledger.Rest{Rows: 12, Cycles: 1.75e5, Share: 0.028, Positive: 2.205e5, Negative: -0.455e5},
		Positive: 6.4e6, Negative: -1e5}
}
