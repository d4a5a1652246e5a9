package native

import (
	"path/filepath"
	"strings"
)

// libraries are the runtimes of C, C++, Fortran, threads and OpenMP, by the start of the file name.
func libraries() []string {
	return []string{"ld-linux", "ld-musl", "libc.", "libc-", "libpthread", "libm.", "libm-", "libmvec", "libdl", "librt",
		"libgcc_s", "libstdc++", "libc++", "libgomp", "libomp", "libiomp", "libgfortran", "libquadmath", "libtbb", "libatomic"}
}

func runtimeLibrary(path string) bool {
	return hasPrefix(filepath.Base(path), libraries())
}

// runtimeFunctions are the names by which runtimes go when they are linked into the program or
// compiled from headers, by the start of the symbol.
func runtimeFunctions() []string {
	return []string{"pthread_", "__pthread", "___pthread", "start_thread", "__clone", "clone3", "sem_wait", "sem_post", "__new_sem", "__lll_", "__futex",
		"__libc_", "_start", "__nptl", "GOMP_", "gomp_", "omp_", "__kmp", "_dl_", "thrd_", "mtx_", "cnd_", "__timed_wait",
		"_ZN9__gnu_cxx", "_ZN3std", "_ZN4core", "_ZN5alloc", "__rust", "runtime.", "sync.", "internal/",
		"_ZNSt6thread", "_ZNSt7barrier", "_ZNSt5latch", "_ZNSt18condition_variable", "_ZNSt5mutex", "_ZNSt8__detail", "_ZNSt13__atomic_base",
		"sched_yield", "__sched_yield", "usleep", "nanosleep"}
}

func runtimeFunction(name string) bool { return hasPrefix(name, runtimeFunctions()) }

// waitingFunctions are those in which a thread of a runtime spins while it waits, by the start of the symbol.
func waitingFunctions() []string {
	return []string{"gomp_team_barrier_wait", "gomp_barrier_wait", "gomp_team_end", "gomp_thread_start", "gomp_simple_barrier", "gomp_mutex_lock_slow",
		"gomp_sem_wait", "do_spin", "do_wait", "futex_wait",
		"__kmp_hyper_barrier", "__kmp_fork_barrier", "__kmp_join_barrier", "__kmp_wait", "kmp_flag_64", "_ZN11kmp_flag", "__kmp_launch_worker",
		"sched_yield", "__sched_yield", "__GI_sched_yield", "__lll_lock_wait", "pthread_spin_lock", "__pthread_spin_lock",
		"runtime.procyield", "runtime.osyield", "runtime.futex", "runtime.findRunnable", "runtime.stealWork", "runtime.usleep"}
}

func waitingFunction(name string) bool { return hasPrefix(name, waitingFunctions()) }

func hasPrefix(s string, list []string) bool {
	for _, p := range list {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
