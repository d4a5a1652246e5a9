package known

// What a thread does that stands in a function of a runtime that is no row of the table: it waits,
// for whom.

import (
	"slices"
	"strings"
)

// waiting are the functions in which a thread of a runtime spins while it waits, by the start of
// the symbol.
func waiting() []string {
	return []string{"gomp_team_barrier_wait", "gomp_barrier_wait", "gomp_team_end", "gomp_thread_start",
		"gomp_simple_barrier", "gomp_mutex_lock_slow",
		"gomp_sem_wait", "do_spin", "do_wait", "futex_wait",
		"__kmp_hyper_barrier", "__kmp_fork_barrier", "__kmp_join_barrier", "__kmp_wait", "kmp_flag_64", "_ZN11kmp_flag", "__kmp_launch_worker",
		"sched_yield", "__sched_yield", "__GI_sched_yield", "__lll_lock_wait", "pthread_spin_lock", "__pthread_spin_lock",
		"runtime.procyield", "runtime.osyield", "runtime.futex", "runtime.findRunnable", "runtime.stealWork", "runtime.usleep"}
}

// Waiting reports whether a function, by its symbol, is one in which a runtime spins while it
// waits.
func Waiting(symbol string) bool {
	return slices.ContainsFunc(waiting(), func(p string) bool { return strings.HasPrefix(symbol, p) })
}

// makers are functions by which a program makes a task that others may do, by the whole symbol: of
// libomp (kmp_tasking.cpp) and libgomp (task.c). By their contract they wait for nobody's work: who
// gives its core away in one waits for a lock of the runtime's own. (A loop of tasks waits for all of
// them at its end.)
func makers() []string {
	return []string{"__kmpc_omp_task_alloc", "__kmpc_omp_task", "__kmpc_omp_task_parts", "__kmpc_omp_target_task_alloc", "GOMP_task"}
}

// MakesTask reports whether a function, by its symbol, makes a task and waits for nobody's work.
func MakesTask(symbol string) bool { return slices.Contains(makers(), symbol) }

// goOutside are functions of Go's in which a goroutine waits for something else than other
// goroutines' work (Go's runtime, proc.go, mgc.go, netpoll.go and time.go).
func goOutside() []string {
	return slices.Concat([]string{"runtime.gcAssist", "runtime.gcStart", "runtime.GC"}, goFiles(), goSleeps())
}

func goFiles() []string  { return []string{"runtime.netpollblock", "internal/poll"} }
func goSleeps() []string { return []string{"timeSleep", "time.Sleep"} }

// GoSleeps reports whether a goroutine that stands back in a function sleeps.
func GoSleeps(function string) bool { return contains(goSleeps(), function) }

// GoWaitsForFile reports whether one waits for a file or the network there.
func GoWaitsForFile(function string) bool { return contains(goFiles(), function) }

func contains(parts []string, function string) bool {
	return slices.ContainsFunc(parts, func(w string) bool { return strings.Contains(function, w) })
}

// GoWaitsOutside reports whether a goroutine that stands back in a function waits for something
// else than other goroutines' work.
func GoWaitsOutside(function string) bool {
	return contains(goOutside(), function)
}

// GoMonitors reports whether a thread that stands back in a function is the one of Go's runtime that
// looks after the others and has no goroutines (runtime/proc.go).
func GoMonitors(function string) bool { return function == "runtime.sysmon" }

// GoRuntimes reports whether a goroutine is one of Go's runtime, by the function that it begins in:
// it collects garbage and the like.
func GoRuntimes(function string) bool {
	return strings.HasPrefix(function, "runtime.") && function != "runtime.main"
}

// failures are functions that never return, as the program has failed, of C, of C++, Go (runtime/panic.go)
// and Fortran by how their symbols begin, and of Rust (core::panicking, the cold halves of unwrap, expect
// and of slices' operations) by parts of them. Those that end a program as it should end are none, and
// most of std::panicking returns: who gives a mutex back asks there whether a panic is under way.
func failures() (whole, begins, rust []string) {
	return []string{"abort", "__assert_fail", "__stack_chk_fail", "__chk_fail", "__fortify_fail", "_ZSt9terminatev"},
		[]string{"__cxa_throw", "__cxa_rethrow", "__cxa_bad_", "_gfortran_runtime_error", "_gfortran_os_error",
			"runtime.panic", "runtime.goPanic", "runtime.gopanic", "runtime.throw", "runtime.fatal"},
		[]string{"4core9panicking", "3std9panicking11begin_panic", "13unwrap_failed", "13expect_failed", "_len_fail", "_order_fail", "_overflow_fail",
			"17capacity_overflow", "18handle_alloc_error"}
}

// Fails reports whether a function, by its symbol, never returns, as the program has failed.
func Fails(symbol string) bool {
	whole, begins, rust := failures()
	switch {
	case strings.HasPrefix(symbol, "_ZSt") && strings.Contains(symbol, "__throw_"): // of libstdc++
		return true
	case strings.HasPrefix(symbol, "_ZN") || strings.HasPrefix(symbol, "_R"):
		return contains(rust, symbol)
	}
	return slices.Contains(whole, symbol) ||
		slices.ContainsFunc(begins, func(b string) bool { return strings.HasPrefix(symbol, b) })
}

// Locking reports whether a function, by its symbol, is one in which a thread waits for a lock that
// another one has, or gives it back to who waits.
func Locking(symbol string) bool {
	symbol = strings.ToLower(symbol)
	return slices.ContainsFunc([]string{"mutex", "rwlock", "lock_contended", "lock_slow", "lll_lock"},
		func(s string) bool { return strings.Contains(symbol, s) })
}

// LibraryLock reports whether a function, by its symbol, sleeps until a lock of the C library's own is
// free, as of the allocator's arenas and of streams, and for nothing else (nptl/lowlevellock.c of
// glibc).
func LibraryLock(symbol string) bool { return strings.HasPrefix(symbol, "__lll_lock_wait") }

// Semaphore reports whether a function, by its symbol, waits for a permit of one of C++20's semaphores
// (bits/semaphore_base.h of libstdc++, <semaphore> of libc++), whatever it waits by.
func Semaphore(symbol string) bool { return strings.Contains(symbol, "__atomic_semaphore") }

// FutexCall reports whether a function, by its symbol, merely makes the system call futex(2) for
// those that call it (library/std/src/sys of Rust), which alone know what for.
func FutexCall(symbol string) bool {
	return strings.Contains(symbol, "futex_wait") || strings.Contains(symbol, "futex_wake")
}
