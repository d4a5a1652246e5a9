package collect

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// libraries are the runtimes of C, C++, Fortran, threads and OpenMP, by the
// start of the file name.
func libraries() []string {
	return []string{"ld-linux", "ld-musl", "libc.", "libc-", "libpthread", "libm.", "libm-", "libmvec", "libdl", "librt",
		"libgcc_s", "libstdc++", "libc++", "libgomp", "libomp", "libiomp", "libgfortran", "libquadmath", "libtbb", "libatomic"}
}

// RuntimeLibrary reports whether a file, by its path, is such a library.
func RuntimeLibrary(path string) bool {
	return hasPrefix(filepath.Base(path), libraries())
}

// runtimeFunctions are the names by which runtimes go when they are linked into
// the program or compiled from headers, by the start of the symbol; a $ ends a name that is whole.
func runtimeFunctions() []string {
	return []string{"pthread_", "__pthread", "___pthread", "start_thread", "__clone", "clone$", "clone3",
		"sem_wait", "sem_post", "sem_timedwait", "sem_clockwait", "sem_trywait", "__new_sem", "__sem", "__lll_", "__futex",
		"__libc_", "_start", "__nptl", "GOMP_", "gomp_", "omp_", "__kmp", "_dl_", "thrd_", "mtx_", "cnd_", "__timed_wait", "syscall$",
		"_ZN9__gnu_cxx", "_ZN3std4sync", "_ZN3std3sys4sync", "_ZN3std3sys3pal", "_ZN3std3sys6thread", "_ZN3std6thread4park",
		"_ZN3std6thread6Thread", "_ZN3std6thread9JoinInner", "_ZN3std6thread7current", "runtime.", "sync.", "internal/",
		"sched_yield", "__sched_yield", "usleep", "nanosleep"}
}

// standardClasses are the classes of the C++ library that threads meet in, as
// they are mangled. Other templates of the library may hold the program's own code, inlined.
func standardClasses() []string {
	return []string{"18condition_variable", "22condition_variable_any",
		"5mutex", "11timed_mutex", "12shared_mutex", "15recursive_mutex", "11unique_lock", "10lock_guard", "11scoped_lock",
		"8__detail", "13__atomic_base", "6atomic", "11atomic_flag", "18counting_semaphore", "16__semaphore_impl", "18__atomic_semaphore",
		"6thread4join", "6thread15_M_start_thread", "11this_thread", "4__12"}
}

// standardFunction reports whether a mangled C++ name is of one of these classes.
func standardFunction(name string) bool {
	for _, p := range []string{"_ZNSt", "_ZNKSt", "_ZNVSt", "_ZNVKSt", "_ZNSt3__1"} {
		rest, ok := strings.CutPrefix(name, p)
		if !ok {
			continue
		}
		if hasPrefix(rest, standardClasses()) {
			return true
		}
	}
	return strings.HasPrefix(name, "_ZSt") && strings.Contains(name, "atomic_wait")
}

// RuntimeFunction reports whether a function, by its symbol, belongs to such a runtime and not to the program.
func RuntimeFunction(name string) bool {
	if standardFunction(name) {
		return true
	}
	if hasPrefix(name+"$", runtimeFunctions()) {
		return true
	}
	if strings.HasPrefix(name, "_R") && (strings.Contains(name, "9JoinInner") || strings.Contains(name, "10JoinHandle")) {
		return true
	}
	if !strings.HasPrefix(name, "_RNv") { // _RINv: generic, may hold the program's own code, inlined
		return false
	}
	m := rustCrate.FindStringSubmatch(name)
	return m != nil && rustRuntime(m[1], m[2])
}

// rustCrate finds the first crate in a mangled Rust name (RFC 2603).
var rustCrate = regexp.MustCompile(`C(?:s[0-9A-Za-z]+_)?([0-9]+)([a-z_][a-z_0-9A-Z]*)`)

// rustRuntime reports whether a crate is of the language's own.
func rustRuntime(length, rest string) bool {
	switch length {
	case "3":
		return strings.HasPrefix(rest, "std")
	case "4":
		return strings.HasPrefix(rest, "core")
	case "5":
		return strings.HasPrefix(rest, "alloc")
	}
	return false
}

// waitingFunctions are those in which a thread of a runtime spins while it waits, by the start of the symbol.
func waitingFunctions() []string {
	return []string{"gomp_team_barrier_wait", "gomp_barrier_wait", "gomp_team_end", "gomp_thread_start", "gomp_simple_barrier", "gomp_mutex_lock_slow",
		"gomp_sem_wait", "do_spin", "do_wait", "futex_wait",
		"__kmp_hyper_barrier", "__kmp_fork_barrier", "__kmp_join_barrier", "__kmp_wait", "kmp_flag_64", "_ZN11kmp_flag", "__kmp_launch_worker",
		"sched_yield", "__sched_yield", "__GI_sched_yield", "__lll_lock_wait", "pthread_spin_lock", "__pthread_spin_lock",
		"runtime.procyield", "runtime.osyield", "runtime.futex", "runtime.findRunnable", "runtime.stealWork", "runtime.usleep"}
}

// WaitingFunction reports whether a function, by its symbol, is one in which a runtime spins while it waits.
func WaitingFunction(name string) bool { return hasPrefix(name, waitingFunctions()) }

// goOutside are functions of Go's in which a goroutine waits for something else than other goroutines' work (Go's runtime, proc.go,
// mgc.go, netpoll.go and time.go).
func goOutside() []string {
	return []string{"runtime.gcAssist", "runtime.gcStart", "runtime.GC", "runtime.netpollblock", "internal/poll", "timeSleep", "time.Sleep"}
}

// GoWaitsOutside reports whether a goroutine that stands back in a function waits for something else than other goroutines' work.
func GoWaitsOutside(function string) bool {
	return slices.ContainsFunc(goOutside(), func(w string) bool { return strings.Contains(function, w) })
}

// LockFunction reports whether a function, by its symbol, is one in which a thread waits for a lock that another one has, or gives it back to who waits.
func LockFunction(name string) bool {
	name = strings.ToLower(name)
	for _, s := range []string{"mutex", "lock_contended", "lock_slow", "lll_lock"} {
		if strings.Contains(name, s) {
			return true
		}
	}
	return false
}

func hasPrefix(s string, list []string) bool {
	for _, p := range list {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
