package sim

// role is what calling a function means for the sections.
type role uint8

const (
	roleBarrier    role = iota // arrival at barrier arg; the return is the leave
	roleTeam                   // barrier of the region that the thread works in
	roleReduce                 // the same in a large team if arg is set; else an atomic or critical reduction
	roleJoin                   // waits for the end of thread arg
	roleCreate                 // creates a thread
	roleFork                   // parallel region: body = arg, its data = arg2
	roleLock                   // takes lock arg
	roleUnlock                 // gives lock arg back
	roleTryLock                // takes lock arg if that needs no waiting (returns 0)
	roleReadLock               // takes lock arg with other readers
	roleTurn                   // waits for the thread's turn
	roleCondWait               // waits on arg, lock arg2 given back meanwhile
	roleCondWake               // wakes who waits on arg
	roleSemWait                // waits until arg is positive
	roleSectionEnd             // named by the user
	roleGate                   // a barrier that the program built: found while it runs
	roleTask                   // makes a task of the function arg
	roleTaskWait               // waits for tasks, and runs some meanwhile
	roleTaskBody               // such a function: set when a task is made
	roleRegionBody             // body of a parallel region: set when a region is forked
	rolePoolTask               // makes a task, an object that arg points to
	rolePoolRun                // waits for tasks; runs the one that arg points to, if there is an arg
	roleGoMade                 // makes a goroutine, and returns it
	roleGoIn                   // a goroutine goes on, on this thread
	roleGoOut                  // a goroutine leaves its thread, if there is one on it
	roleGoEnd                  // the goroutine ends
	roleGoC                    // a goroutine calls code in C
	roleGoLock                 // waits for a lock of Go's
	roleGoCondWait             // waits for a condition of Go's
	roleGoCondList             // puts itself on its list
	roleGoCondWake             // wakes all who wait for it
	roleCount                  // counts an object down that others wait for
	roleAwait                  // waits until all have counted it down
	roles
)

// fn is one row of the table of functions with a meaning.
type fn struct {
	name      string
	role      role
	arg, arg2 int // numbers of the arguments that matter (0 = first)
	constant  uint64
	source    string // where the meaning is laid down
}

// none is the number of no argument: the object is fn.constant.
const none = -1

const (
	posix = "POSIX.1-2017, System Interfaces"
	glibc = "glibc manual, Threads; Non-POSIX Extensions"
	gomp  = "libgomp ABI (GCC manual of libgomp, chapter The libgomp ABI)"
	kmp   = "LLVM OpenMP runtime, kmp.h and kmp_csupport.cpp"
	gorun = "Go's runtime, proc.go and asm_amd64.s"
	tbb   = "oneTBB, detail/_task.h"
	gosyn = "package sync of Go"
)

// functions is the table of what lime knows by name.
func functions() []fn {
	return []fn{
		{name: "pthread_barrier_wait", role: roleBarrier, source: posix},
		{name: "pthread_join", role: roleJoin, source: posix},
		{name: "pthread_timedjoin_np", role: roleJoin, source: glibc},
		{name: "pthread_clockjoin_np", role: roleJoin, source: glibc},
		{name: "thrd_join", role: roleJoin, source: "C17, 7.26.5.6"},
		{name: "pthread_create", role: roleCreate, source: posix},
		{name: "pthread_mutex_lock", role: roleLock, source: posix},
		{name: "pthread_mutex_timedlock", role: roleLock, source: posix},
		{name: "pthread_mutex_clocklock", role: roleLock, source: glibc},
		{name: "pthread_mutex_trylock", role: roleTryLock, source: posix},
		{name: "pthread_mutex_unlock", role: roleUnlock, source: posix},
		{name: "pthread_spin_lock", role: roleLock, source: posix},
		{name: "pthread_spin_trylock", role: roleTryLock, source: posix},
		{name: "pthread_spin_unlock", role: roleUnlock, source: posix},
		{name: "pthread_rwlock_wrlock", role: roleLock, source: posix},
		{name: "pthread_rwlock_timedwrlock", role: roleLock, source: posix},
		{name: "pthread_rwlock_clockwrlock", role: roleLock, source: glibc},
		{name: "pthread_rwlock_trywrlock", role: roleTryLock, source: posix},
		{name: "pthread_rwlock_rdlock", role: roleReadLock, source: posix},
		{name: "pthread_rwlock_timedrdlock", role: roleReadLock, source: posix},
		{name: "pthread_rwlock_clockrdlock", role: roleReadLock, source: glibc},
		{name: "pthread_rwlock_unlock", role: roleUnlock, source: posix},
		{name: "mtx_lock", role: roleLock, source: "C17, 7.26.4.3"},
		{name: "mtx_unlock", role: roleUnlock, source: "C17, 7.26.4.6"},
		{name: "pthread_cond_wait", role: roleCondWait, arg2: 1, source: posix},
		{name: "pthread_cond_timedwait", role: roleCondWait, arg2: 1, source: posix},
		{name: "pthread_cond_clockwait", role: roleCondWait, arg2: 1, source: glibc},
		{name: "pthread_cond_signal", role: roleCondWake, source: posix},
		{name: "pthread_cond_broadcast", role: roleCondWake, source: posix},
		{name: "cnd_wait", role: roleCondWait, arg2: 1, source: "C17, 7.26.3.6"},
		{name: "cnd_signal", role: roleCondWake, source: "C17, 7.26.3.4"},
		{name: "cnd_broadcast", role: roleCondWake, source: "C17, 7.26.3.1"},
		{name: "sem_wait", role: roleSemWait, source: posix},
		{name: "sem_timedwait", role: roleSemWait, source: posix},
		{name: "sem_clockwait", role: roleSemWait, source: glibc},

		{name: "GOMP_parallel", role: roleFork, arg: 0, arg2: 1, source: gomp},
		{name: "GOMP_parallel_sections", role: roleFork, arg: 0, arg2: 1, source: gomp},
		{name: "GOMP_parallel_reductions", role: roleFork, arg: 0, arg2: 1, source: gomp},
		{name: "GOMP_parallel_loop_static", role: roleFork, arg: 0, arg2: 1, source: gomp},
		{name: "GOMP_parallel_loop_dynamic", role: roleFork, arg: 0, arg2: 1, source: gomp},
		{name: "GOMP_parallel_loop_guided", role: roleFork, arg: 0, arg2: 1, source: gomp},
		{name: "GOMP_parallel_loop_runtime", role: roleFork, arg: 0, arg2: 1, source: gomp},
		{name: "GOMP_parallel_loop_nonmonotonic_dynamic", role: roleFork, arg: 0, arg2: 1, source: gomp},
		{name: "GOMP_parallel_loop_nonmonotonic_guided", role: roleFork, arg: 0, arg2: 1, source: gomp},
		{name: "GOMP_parallel_loop_nonmonotonic_runtime", role: roleFork, arg: 0, arg2: 1, source: gomp},
		{name: "GOMP_parallel_loop_maybe_nonmonotonic_runtime", role: roleFork, arg: 0, arg2: 1, source: gomp},
		{name: "GOMP_barrier", role: roleTeam, source: gomp},
		{name: "GOMP_barrier_cancel", role: roleTeam, source: gomp},
		{name: "GOMP_loop_end", role: roleTeam, source: gomp},
		{name: "GOMP_loop_end_cancel", role: roleTeam, source: gomp},
		{name: "GOMP_sections_end", role: roleTeam, source: gomp},
		{name: "GOMP_sections_end_cancel", role: roleTeam, source: gomp},
		{name: "GOMP_critical_start", role: roleLock, arg: none, constant: 1, source: gomp},
		{name: "GOMP_critical_end", role: roleUnlock, arg: none, constant: 1, source: gomp},
		{name: "GOMP_critical_name_start", role: roleLock, source: gomp},
		{name: "GOMP_critical_name_end", role: roleUnlock, source: gomp},
		{name: "GOMP_atomic_start", role: roleLock, arg: none, constant: 2, source: gomp},
		{name: "GOMP_atomic_end", role: roleUnlock, arg: none, constant: 2, source: gomp},
		{name: "GOMP_ordered_start", role: roleTurn, source: gomp},
		{name: "GOMP_doacross_wait", role: roleTurn, source: gomp},
		{name: "GOMP_doacross_ull_wait", role: roleTurn, source: gomp},
		{name: "GOMP_task", role: roleTask, source: gomp},
		{name: "GOMP_taskloop", role: roleTask, source: gomp},
		{name: "GOMP_taskloop_ull", role: roleTask, source: gomp},
		{name: "GOMP_taskwait", role: roleTaskWait, source: gomp},
		{name: "GOMP_taskwait_depend", role: roleTaskWait, source: gomp},
		{name: "GOMP_taskgroup_end", role: roleTaskWait, source: gomp},
		{name: "omp_set_lock", role: roleLock, source: "OpenMP 5.1, 3.9.4"},
		{name: "omp_set_nest_lock", role: roleLock, source: "OpenMP 5.1, 3.9.4"},
		{name: "omp_unset_lock", role: roleUnlock, source: "OpenMP 5.1, 3.9.5"},
		{name: "omp_unset_nest_lock", role: roleUnlock, source: "OpenMP 5.1, 3.9.5"},

		{name: "__kmpc_fork_call", role: roleFork, arg: 2, arg2: none, source: kmp},
		{name: "__kmpc_barrier", role: roleTeam, source: kmp},
		{name: "__kmpc_cancel_barrier", role: roleTeam, source: kmp},
		{name: "__kmpc_reduce", role: roleReduce, arg: 5, source: kmp},
		{name: "__kmpc_reduce_nowait", role: roleReduce, arg: 5, source: kmp},
		{name: "__kmpc_omp_task_alloc", role: roleTask, arg: 5, source: kmp},
		{name: "__kmpc_omp_taskwait", role: roleTaskWait, source: kmp},
		{name: "__kmpc_omp_taskwait_deps_51", role: roleTaskWait, source: kmp},
		{name: "__kmpc_omp_wait_deps", role: roleTaskWait, source: kmp},
		{name: "__kmpc_omp_taskyield", role: roleTaskWait, source: kmp},
		{name: "__kmpc_end_taskgroup", role: roleTaskWait, source: kmp},
		{name: "__kmpc_critical", role: roleLock, arg: 2, source: kmp},
		{name: "__kmpc_critical_with_hint", role: roleLock, arg: 2, source: kmp},
		{name: "__kmpc_ordered", role: roleTurn, source: kmp},
		{name: "__kmpc_doacross_wait", role: roleTurn, source: kmp},
		{name: "__kmpc_end_critical", role: roleUnlock, arg: 2, source: kmp},

		{name: "_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE", role: rolePoolTask, source: tbb},
		{name: "_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextEt", role: rolePoolTask, source: tbb},
		{name: "_ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_", role: rolePoolRun, source: tbb},
		{name: "_ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE", role: rolePoolRun, arg: none, source: tbb},

		{name: "runtime.newproc", role: roleCreate, arg: none, source: gorun},
		{name: "runtime.newproc1", role: roleGoMade, arg: none, source: gorun},
		{name: "runtime.gogo", role: roleGoIn, arg: none, source: gorun},
		{name: "runtime.gogo.abi0", role: roleGoIn, arg: none, source: gorun},
		{name: "runtime.mcall", role: roleGoOut, arg: none, source: gorun},
		{name: "runtime.schedule", role: roleGoOut, arg: none, source: gorun},
		{name: "runtime.goexit1", role: roleGoEnd, arg: none, source: gorun},
		{name: "runtime.asmcgocall", role: roleGoC, arg: none, source: gorun},
		{name: "runtime.asmcgocall.abi0", role: roleGoC, arg: none, source: gorun},
		{name: "sync.(*Mutex).lockSlow", role: roleGoLock, arg: none, source: gosyn},
		{name: "internal/sync.(*Mutex).lockSlow", role: roleGoLock, arg: none, source: gosyn},
		{name: "sync.runtime_SemacquireRWMutex", role: roleGoLock, arg: none, source: gosyn},
		{name: "sync.runtime_SemacquireRWMutexR", role: roleGoLock, arg: none, source: gosyn},
		{name: "sync.(*Cond).Wait", role: roleGoCondWait, arg: none, source: gosyn},
		{name: "sync.runtime_notifyListWait", role: roleGoCondList, arg: none, source: gosyn},
		{name: "sync.runtime_notifyListNotifyAll", role: roleGoCondWake, arg: none, source: gosyn},
		{name: "sync.(*WaitGroup).Add", role: roleCount, arg: none, source: gosyn},
		{name: "sync.(*WaitGroup).Wait", role: roleAwait, arg: none, source: gosyn},
	}
}

// byName indexes the table, with the names that the user declares added.
func byName(sectionEnds []string) map[string]*fn {
	table := map[string]*fn{}
	rows := functions()
	for i := range rows {
		table[rows[i].name] = &rows[i]
		if rows[i].source == posix { // as they are called inside static programs
			table["__"+rows[i].name] = &rows[i]
		}
	}
	for i, name := range sectionEnds {
		table[name] = &fn{name: name, role: roleSectionEnd, arg: none, constant: uint64(i + 1), source: "--section-end"}
	}
	return table
}
