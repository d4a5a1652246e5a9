package known

// Functions of the OpenMP runtimes, which compilers call: libgomp's and LLVM's; and of TBB.

const (
	gompABI = "libgomp ABI (GCC manual of libgomp, chapter The libgomp ABI)"
	kmpABI  = "LLVM OpenMP runtime, reference (kmp.h, kmp_csupport.cpp)"
	omp39   = "OpenMP 5.1, 3.9"

	// TBB is where TBB's rows come from.
	TBB = "oneTBB, detail/_task.h"
)

// Objects of locks that have no address. Those of ordered regions are a thread's turn.
const (
	theCritical = 1 + iota
	theAtomic
	theTurn
)

// LockName is what people tell a lock by that has no address, "" of one that has.
func LockName(object uint64) string {
	return map[uint64]string{theCritical: "the one of critical regions without a name", theAtomic: "the one of atomic operations",
		theTurn: "the one of ordered regions"}[object]
}

const (
	noLoops   = "natively, the tasks that it runs are seen by their function, which made the first of them"
	noIdle    = "its return is none of lime's business natively (tasks run inside): waiting for tasks within a part counts as work there"
	holder    = "the runtime's lock has no word at its argument that says that others wait: a wait for it is seen, who held it is not"
	arguments = "it has more arguments than a hook that takes the time passes on: waiting for a turn counts as work natively"
)

func gomp() []Func {
	rows := []Func{
		{Name: "GOMP_barrier", Role: TeamBarrier, Object: None, Second: None, Probe: AtBoth, Hook: AtBoth, Source: gompABI},
		{Name: "GOMP_barrier_cancel", Role: TeamBarrier, Object: None, Second: None, Probe: AtBoth, Hook: AtBoth, Source: gompABI},
		{Name: "GOMP_loop_end", Role: TeamBarrier, Object: None, Second: None, Probe: AtBoth, Hook: AtBoth, Source: gompABI},
		{Name: "GOMP_loop_end_cancel", Role: TeamBarrier, Object: None, Second: None, Probe: AtBoth, Hook: AtBoth, Source: gompABI},
		{Name: "GOMP_sections_end", Role: TeamBarrier, Object: None, Second: None, Probe: AtBoth, Hook: AtBoth, Source: gompABI},
		{Name: "GOMP_sections_end_cancel", Role: TeamBarrier, Object: None, Second: None, Probe: AtBoth, Hook: AtBoth, Source: gompABI},
		{Name: "GOMP_critical_start", Role: Lock, Object: None, Second: None, Constant: theCritical, Probe: AtBoth,
			Hook: IfSlow, Source: gompABI},
		{Name: "GOMP_critical_end", Role: Unlock, Object: None, Second: None, Constant: theCritical, Probe: AtCall,
			Hook: Unseen, Why: holder, Source: gompABI},
		{Name: "GOMP_critical_name_start", Role: Lock, Second: None, Probe: AtBoth, Hook: IfSlow, Source: gompABI},
		{Name: "GOMP_critical_name_end", Role: Unlock, Second: None, Probe: AtCall, Hook: Unseen, Why: holder, Source: gompABI},
		{Name: "GOMP_atomic_start", Role: Lock, Object: None, Second: None, Constant: theAtomic, Probe: AtBoth, Hook: IfSlow, Source: gompABI},
		{Name: "GOMP_atomic_end", Role: Unlock, Object: None, Second: None, Constant: theAtomic, Probe: AtCall,
			Hook: Unseen, Why: holder, Source: gompABI},
		{Name: "GOMP_ordered_start", Role: Turn, Object: None, Second: None, Constant: theTurn, Probe: AtBoth, Hook: IfSlow, Source: gompABI},
		{Name: "GOMP_doacross_wait", Role: After, Object: None, Second: None, Probe: AtBoth,
			Hook: Unseen, Why: arguments, Source: gompABI},
		{Name: "GOMP_doacross_ull_wait", Role: After, Object: None, Second: None, Probe: AtBoth,
			Hook: Unseen, Why: arguments, Source: gompABI},
		{Name: "GOMP_task", Role: Task, Second: 1, Probe: AtCall, Hook: IfSlow, Source: gompABI},
		{Name: "GOMP_taskloop", Role: Task, Second: 1, Probe: AtCall, Hook: IfSlow, Source: gompABI},
		{Name: "GOMP_taskloop_ull", Role: Task, Second: 1, Probe: AtCall, Hook: IfSlow, Source: gompABI},
		{Name: "GOMP_taskwait", Role: TaskWait, Object: None, Second: None, Probe: AtBoth, Hook: Unseen, Why: noIdle, Source: gompABI},
		{Name: "GOMP_taskwait_depend", Role: TaskWait, Object: None, Second: None, Probe: AtBoth, Hook: Unseen, Why: noIdle, Source: gompABI},
		{Name: "GOMP_taskgroup_end", Role: TaskWait, Object: None, Second: None, Probe: AtBoth, Hook: Unseen, Why: noIdle, Source: gompABI},
		{Name: "omp_set_lock", Role: Lock, Second: None, Probe: AtBoth, Hook: IfSlow, Pass: Pass{Try: "omp_test_lock"}, Source: omp39},
		{Name: "omp_set_nest_lock", Role: Lock, Second: None, Probe: AtBoth, Hook: IfSlow, Pass: Pass{Try: "omp_test_nest_lock"}, Source: omp39},
		{Name: "omp_unset_lock", Role: Unlock, Second: None, Probe: AtCall, Hook: Unseen, Why: holder, Source: omp39},
		{Name: "omp_unset_nest_lock", Role: Unlock, Second: None, Probe: AtCall, Hook: Unseen, Why: holder, Source: omp39},
	}
	// (fn, data, ...), of whose arguments two at most come by the stack.
	for _, name := range []string{"GOMP_parallel", "GOMP_parallel_sections", "GOMP_parallel_reductions",
		"GOMP_parallel_loop_static", "GOMP_parallel_loop_dynamic", "GOMP_parallel_loop_guided", "GOMP_parallel_loop_runtime",
		"GOMP_parallel_loop_nonmonotonic_dynamic", "GOMP_parallel_loop_nonmonotonic_guided", "GOMP_parallel_loop_nonmonotonic_runtime",
		"GOMP_parallel_loop_maybe_nonmonotonic_runtime"} {
		rows = append(rows, Func{Name: name, Role: Fork, Second: 1, Probe: AtBoth, Hook: AtBoth, Pass: Pass{Stack: 16}, Source: gompABI})
	}
	for _, name := range dealt() {
		rows = append(rows, deal(name, gompABI))
	}
	return rows
}

func deal(name, source string) Func {
	return Func{Name: name, Role: Deal, Object: None, Second: None, Probe: AtCall, Hook: Otherwise,
		Why: "natively threads come in the order in which they come", Source: source}
}

// dealt are the functions of libgomp by which threads get iterations and sections.
func dealt() []string {
	names := []string{"GOMP_sections_next"}
	for _, kind := range []string{"dynamic", "guided", "runtime", "nonmonotonic_dynamic", "nonmonotonic_guided",
		"nonmonotonic_runtime", "maybe_nonmonotonic_runtime"} {
		for _, unsigned := range []string{"", "ull_"} {
			names = append(names, "GOMP_loop_"+unsigned+kind+"_start", "GOMP_loop_"+unsigned+kind+"_next")
		}
	}
	return names
}

func kmp() []Func {
	const captured = 64 // variables of a region beyond the first three
	const team = "whether it is a barrier depends on the size of the team, which no record tells; the wait shows at the next barrier"
	return []Func{
		{Name: "__kmpc_fork_call", Role: Fork, Object: 2, Second: None, Probe: AtBoth, Hook: AtBoth,
			Pass: Pass{Variadic: true, Stack: 8 * captured}, Source: kmpABI},
		{Name: "__kmpc_barrier", Role: TeamBarrier, Object: None, Second: None, Probe: AtBoth, Hook: AtBoth, Source: kmpABI},
		{Name: "__kmpc_cancel_barrier", Role: TeamBarrier, Object: None, Second: None, Probe: AtBoth, Hook: AtBoth, Source: kmpABI},
		{Name: "__kmpc_reduce", Role: TeamReduce, Object: 5, Second: None, Probe: AtBoth, Hook: Unseen, Why: team, Source: kmpABI},
		{Name: "__kmpc_reduce_nowait", Role: TeamReduce, Object: 5, Second: None, Probe: AtBoth, Hook: Unseen, Why: team, Source: kmpABI},
		deal("__kmpc_dispatch_next_4", kmpABI), deal("__kmpc_dispatch_next_4u", kmpABI),
		deal("__kmpc_dispatch_next_8", kmpABI), deal("__kmpc_dispatch_next_8u", kmpABI),
		{Name: "__kmpc_omp_task_alloc", Role: TaskObject, Object: 5, Second: None, Probe: AtBoth, Hook: IfSlow, Source: kmpABI},
		{Name: "__kmpc_taskloop", Role: TaskLoop, Object: 2, Second: None, Probe: AtCall, Hook: Otherwise, Why: noLoops, Source: kmpABI},
		{Name: "__kmpc_taskloop_5", Role: TaskLoop, Object: 2, Second: None, Probe: AtCall, Hook: Otherwise, Why: noLoops, Source: kmpABI},
		{Name: "__kmpc_omp_taskwait", Role: TaskWait, Object: None, Second: None, Probe: AtBoth, Hook: Unseen, Why: noIdle, Source: kmpABI},
		{Name: "__kmpc_omp_taskwait_deps_51", Role: TaskWait, Object: None, Second: None, Probe: AtBoth, Hook: Unseen,
			Why: noIdle, Source: kmpABI},
		{Name: "__kmpc_omp_wait_deps", Role: TaskWait, Object: None, Second: None, Probe: AtBoth, Hook: Unseen, Why: noIdle, Source: kmpABI},
		{Name: "__kmpc_omp_taskyield", Role: TaskWait, Object: None, Second: None, Probe: AtBoth, Hook: Unseen, Why: noIdle, Source: kmpABI},
		{Name: "__kmpc_end_taskgroup", Role: TaskWait, Object: None, Second: None, Probe: AtBoth, Hook: Unseen, Why: noIdle, Source: kmpABI},
		{Name: "__kmpc_critical", Role: Lock, Object: 2, Second: None, Probe: AtBoth, Hook: IfSlow, Source: kmpABI},
		{Name: "__kmpc_critical_with_hint", Role: Lock, Object: 2, Second: None, Probe: AtBoth, Hook: IfSlow, Source: kmpABI},
		{Name: "__kmpc_end_critical", Role: Unlock, Object: 2, Second: None, Probe: AtCall, Hook: Unseen, Why: holder, Source: kmpABI},
		{Name: "__kmpc_ordered", Role: Turn, Object: None, Second: None, Constant: theTurn, Probe: AtBoth, Hook: IfSlow, Source: kmpABI},
		{Name: "__kmpc_doacross_wait", Role: After, Object: None, Second: None, Probe: AtBoth,
			Hook: Unseen, Why: arguments, Source: kmpABI},
	}
}

// pools are TBB's functions: spawn, with and without a hint of where; execute_and_wait; wait.
func pools() []Func {
	const why = "the function of a task stands in its table of virtual functions, which no record tells: natively, a " +
		"region of TBB's is part of what is around it"
	return []Func{
		{Name: "_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE", Role: PoolTask, Second: None,
			Probe: AtBoth, Hook: Unseen, Why: why, Source: TBB},
		{Name: "_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextEt", Role: PoolTask, Second: None,
			Probe: AtBoth, Hook: Unseen, Why: why, Source: TBB},
		{Name: "_ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_", Role: PoolRun, Second: None,
			Probe: AtBoth, Hook: Unseen, Why: why, Source: TBB},
		{Name: "_ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE", Role: PoolRun, Object: None, Second: None,
			Probe: AtBoth, Hook: Unseen, Why: why, Source: TBB},
	}
}
