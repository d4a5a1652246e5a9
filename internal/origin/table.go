package origin

// The table: who goes by which names.

import "sync"

// row is what is known of an owner, by the starts of names; a $ ends a name that is whole.
type row struct {
	owner   Owner
	files   []string // of files with code, without their directories
	symbols []string // of functions, as the linker has them; nil where what is compiled into the program counts as its own
	names   []string // of functions, as people read them
}

// table is made once, and is not changed.
var table = sync.OnceValue(rows)

// rows are searched from the first to the last.
func rows() []row {
	gnu, mpi := []string{"GOMP_", "gomp_", "omp_"}, []string{"MPI_", "PMPI_"}
	system := []string{"__libc_", "_start", "_dl_", "syscall$"}
	return []row{
		{GNUOpenMP, []string{"libgomp"}, gnu, gnu},
		{LLVMOpenMP, []string{"libomp.", "libiomp"}, []string{"__kmp"}, []string{"__kmp", "kmp_flag", "kmp_basic_flag"}},
		{TBB, []string{"libtbb"}, nil, []string{"tbb::"}}, // its templates are in headers: see language.go
		// Crates are compiled into the program with it: a join in one of them is the program's, as
		// far as sections are concerned.
		{Rayon, nil, nil, []string{"rayon_core::", "<rayon_core::", "crossbeam_deque::", "crossbeam_epoch::",
			"<crossbeam_epoch::", "crossbeam_utils::"}},
		{MPI, mpiFiles(), mpi, mpi},
		{GoScheduler, nil, nil, goScheduler()},
		{Threads, []string{"libpthread"},
			append(cThreads(), "_ZN3std4sync", "_ZN3std3sys4sync", "_ZN3std3sys3pal", "_ZN3std3sys6thread", "_ZN3std6thread4park",
				"_ZN3std6thread6Thread", "_ZN3std6thread9JoinInner", "_ZN3std6thread7current"),
			append(cThreads(), "std::thread::", "std::mutex::", "std::condition_variable", "std::sync::", "<std::sync::",
				"std::sys::sync::", "std::sys::thread", "std::sys::pal::unix::thread", "std::__detail::__")},
		{GoRuntime, nil, []string{"runtime.", "sync.", "internal/"}, []string{"runtime.", "runtime/", "internal/", "sync."}},
		{System, []string{"ld-", "libc.", "libc-", "libm.", "libm-", "libmvec", "libdl", "librt.", "librt-",
			"libgcc_s", "libatomic", "libhwloc"}, system, system},
		{Language, []string{"libstdc++", "libc++", "libgfortran", "libquadmath"},
			[]string{"_ZN9__gnu_cxx"}, []string{"std::", "<std::", "core::", "<core::", "alloc::", "<alloc::", "__gnu_cxx::", "__rust"}},
	}
}

// mpiFiles are MPI's libraries, and those by which they send.
func mpiFiles() []string {
	return []string{"libmpi", "libmca_", "mca_", "libopen-rte", "libopen-pal", "libpmi", "pmix_", "libuc",
		"libfabric", "libpsm", "libinfinipath", "libibverbs", "libevent_", "libnl-", "libmunge"}
}

// cThreads are C's functions by which threads are made and meet, and what stands behind them in
// glibc and musl.
func cThreads() []string {
	return []string{"pthread_", "__pthread", "___pthread", "start_thread", "allocate_stack", "__clone", "clone$", "clone3",
		"sem_wait", "sem_post", "sem_timedwait", "sem_clockwait", "sem_trywait", "__new_sem", "__sem", "__lll_", "__futex", "__nptl",
		"thrd_", "mtx_", "cnd_", "__timed_wait", "sched_yield", "__sched_yield", "usleep", "nanosleep"}
}

// goScheduler are the functions of Go's that make, switch and end goroutines, and have them wait
// for one another. Its memory management and the like is work like any other.
func goScheduler() []string {
	return []string{
		"runtime.newproc", "runtime.malg", "runtime.gfget", "runtime.gfput", "runtime.goexit", "runtime.gdestroy",
		"runtime.schedule", "runtime.findRunnable", "runtime.findrunnable", "runtime.stealWork", "runtime.execute",
		"runtime.runq", "runtime.globrunq",
		"runtime.injectglist", "runtime.resetspinning", "runtime.wakep", "runtime.startm", "runtime.stopm", "runtime.mPark", "runtime.handoffp",
		"runtime.pidle", "runtime.mcall", "runtime.gogo", "runtime.casgstatus", "runtime.castogscanstatus",
		"runtime.gopark", "runtime.goready", "runtime.ready", "runtime.park_m", "runtime.goparkunlock",
		"runtime.Gosched", "runtime.gosched", "runtime.goschedImpl",
		"runtime.chansend", "runtime.chanrecv", "runtime.send", "runtime.recv", "runtime.selectgo",
		"runtime.selectnb", "runtime.acquireSudog", "runtime.releaseSudog",
		"runtime.sem", "runtime.notesleep", "runtime.notewakeup", "runtime.notetsleep", "runtime.futex",
		"runtime.lock", "runtime.unlock", "runtime.procyield",
		"runtime.osyield", "sync.(*Mutex)", "sync.(*RWMutex)", "sync.(*WaitGroup)", "sync.(*Cond)", "sync.runtime_", "internal/sync.(*Mutex)"}
}
