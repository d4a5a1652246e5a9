package origin

import (
	"strings"
	"testing"
)

func TestOwnersOfNames(t *testing.T) {
	for name, want := range map[string]Owner{
		"main": Program, "gompertz": Program, "fib._omp_fn.0": Program, "semantics": Program, "synchronize": Program,
		"GOMP_task": GNUOpenMP, "gomp_team_barrier_wait_end": GNUOpenMP, "__kmpc_omp_task": LLVMOpenMP, "tbb::detail::d1::task_group::run": TBB,
		"rayon_core::registry::WorkerThread::wait_until_cold":                 Rayon,
		"<rayon_core::job::StackJob<L,F,R> as rayon_core::job::Job>::execute": Rayon,
		"runtime.newproc1": GoScheduler, "sync.(*WaitGroup).Wait": GoScheduler, "runtime.memmove": GoRuntime, "runtime.mallocgc": GoRuntime,
		"sync.(*Pool).Get": GoRuntime, "pthread_create": Threads, "std::thread::join": Threads, "clone": Threads,
		"clone_graph": Program, "kmp_search": Program, "std::vector<int>::push_back": Language,
		"void std::__introsort_loop<int*, long>(int*, int*, long)": Language, "std::ostream& std::operator<< <char>(std::ostream&)": Language,
		"std::vector<int> merge<std::less<int> >(std::vector<int>)": Program, "unsigned long std::hash<(anonymous namespace)::key>(int)": Language,
		"<app::Key as core::cmp::Ord>::cmp":  Program,
		"core::iter::traits::Iterator::fold": Language, "MPI_Allreduce": MPI, "_start": System,
	} {
		if got := OfName(name); got != want {
			t.Errorf("%s belongs to %s, want %s", name, got, want)
		}
	}
}

func TestOwnersOfFiles(t *testing.T) {
	for file, want := range map[string]Owner{
		"/usr/lib/x86_64-linux-gnu/libgomp.so.1.0.0": GNUOpenMP, "/usr/lib/llvm-19/lib/libomp.so.5": LLVMOpenMP, "/opt/tbb/libtbb.so.12": TBB,
		"/lib/x86_64-linux-gnu/libc.so.6": System, "/opt/glibc/lib/libc.so.6": System, "/lib64/ld-linux-x86-64.so.2": System, "[vdso]": System,
		"/usr/lib/libstdc++.so.6": Language, "/usr/lib/openmpi/lib/libmpi.so.40": MPI, "/home/u/app": Program, "/home/u/libfast.so": Program,
		"/usr/lib/x86_64-linux-gnu/liblzma.so.5.4.1": Other, "/usr/lib/libcrypto.so.3": Other,
	} {
		if got := OfFile(file); got != want {
			t.Errorf("%s belongs to %s, want %s", file, got, want)
		}
		if got := RuntimeLibrary(file); got != (want != Program && want != Other) {
			t.Errorf("%s: a library of runtimes %v", file, got)
		}
	}
}

// No row takes another one's names, and each runtime can be told.
func TestEveryRowIsReached(t *testing.T) {
	named := map[Owner]bool{}
	for _, r := range rows() {
		named[r.owner] = true
		if len(r.names) == 0 || strings.Contains(r.owner.String(), "unknown") {
			t.Errorf("%s: %+v", r.owner, r)
		}
		for _, name := range r.names {
			if got := OfName(strings.TrimSuffix(name, "$")); got != r.owner {
				t.Errorf("%s: %s is taken by %s", r.owner, name, got)
			}
		}
		for _, file := range r.files {
			if got := OfFile("/x/" + file); got != r.owner {
				t.Errorf("%s: %s is taken by %s", r.owner, file, got)
			}
		}
		for _, s := range r.symbols {
			if !RuntimeFunction(strings.TrimSuffix(s, "$")) {
				t.Errorf("%s: %s is the program's own", r.owner, s)
			}
		}
	}
	for o := Threads; o < owners; o++ {
		if !named[o] || !o.Runtime() {
			t.Errorf("nothing is known of %s", o)
		}
	}
}

// What collectors take for a runtime's, the analysis does not take for the program's own.
func TestSymbolsAndNamesAgree(t *testing.T) {
	for _, r := range rows() {
		for _, s := range r.symbols {
			if name := strings.TrimSuffix(s, "$"); !strings.HasPrefix(s, "_Z") && OfName(name) == Program {
				t.Errorf("%s is the runtime's by the linker's name, and the program's by the name that people read", name)
			}
		}
	}
}

func TestSourceFiles(t *testing.T) {
	for path, want := range map[string]bool{
		"": false, "/home/me/main.c": false, "main.go": false, "/usr/include/c++/12/vector": true,
		"/opt/gcc/include/c++/14/bits/stl_algo.h":    true,
		"/rustc/abc/library/std/src/sync/barrier.rs": true, "/home/me/.cargo/registry/src/x/lib.rs": true,
		"/usr/local/go/src/sync/mutex.go": true,
	} {
		if got := LibraryFile(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	for dir, want := range map[string]bool{"/lib": true, "/lib64": true, "/lib/x86_64-linux-gnu": true,
		"/usr/bin": true, "/library/app": false, "/home/lib": false,
		"usr/bin": false, "/opt": false} {
		if got := SystemDir(dir); got != want {
			t.Errorf("%s: %v", dir, got)
		}
	}
}

func TestOwnCode(t *testing.T) {
	for _, c := range []struct {
		name    string
		runtime bool
	}{
		{"main", false},
		{"worker", false},
		{"pthread_barrier_wait", true},
		{"__pthread_mutex_lock", true},
		{"GOMP_parallel", true},
		{"main._omp_fn.0", false},
		{"_ZNSt7barrierISt18__empty_completionE15arrive_and_waitEv", false},
		{"_ZNSt6thread4joinEv", true},
		{"_ZNSt6thread11_State_implINS_8_InvokerISt5tupleIJZ4mainEUlvE_EEEEE6_M_runEv", false},
		{"_ZSt21__atomic_wait_addressIiZNKSt5latch4waitEvEUlvE_EvPKT_T0_", true},
		{"_ZN3std4sync7barrier7Barrier4wait17h0123456789abcdefE", true},
		{"_ZN4main4main17h0123456789abcdefE", false},
		{"_RNvMs_NtNtCsjrHSEGnQ3l9_3std6thread6threadNtB4_6Thread4park", true},
		{"_RINvNtNtCsjrHSEGnQ3l9_3std3sys9backtrace28___rust_begin_short_backtraceNCNCNvCs1_4main4main00E", false},
		{"_RNvCs1234_4main4hash", false},
		{"clone", true},
		{"clone_graph", false},
		{"sem_wait", true},
		{"sem_analysis", false},
	} {
		if got := RuntimeFunction(c.name); got != c.runtime {
			t.Errorf("%s: runtime %v, want %v", c.name, got, c.runtime)
		}
	}
	for path, want := range map[string]bool{"/lib/x86_64-linux-gnu/libc.so.6": true, "/usr/lib/libgomp.so.1": true,
		"/usr/lib/libz.so.1": false, "/home/me/app": false} {
		if got := RuntimeLibrary(path); got != want {
			t.Errorf("%s: library %v, want %v", path, got, want)
		}
	}
}

func TestLanguageFunction(t *testing.T) {
	for name, want := range map[string]bool{
		"main": false,
		"_ZN3std6thread9lifecycle18JoinInner$LT$T$GT$4join17h13f642385308d6c8E":                             true,
		"_ZN3std6thread6scoped5scope17h97d5d8943c667cd2E":                                                   true,
		"_ZN9rust_pool4main17h0123456789abcdefE":                                                            false,
		"_ZN5prog28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE":                                        false,
		"_ZN98_$LT$core..iter..adapters..map..Map$LT$B$C$F$GT$$u20$as$u20$core..iter..Iterator$GT$4fold17h": true,
		"_ZN50_$LT$prog..Wait$u20$as$u20$core..ops..drop..Drop$GT$4drop17h0123456789abcdefE":                false,
		"_RNvMs0_NtNtNtCsjrHSEGnQ3l9_3std3sys6thread4unixNtB5_6Thread4join":                                 true,
		"_RNvCs1234_4prog4main":      false,
		"_ZL14__gthread_oncePiPFvvE": true,
		"_ZL5startPv":                false,
		"_ZNSt13__future_base21_Async_state_commonV217_M_complete_asyncEv": true,
		"_ZNSt6vectorISt7jthreadSaIS0_EED2Ev":                              true,
		"_ZN4Pool3runEv":                                                   false,
	} {
		if got := LanguageFunction(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestGoStandard(t *testing.T) {
	for symbol, want := range map[string]bool{
		"time.Sleep": true, "internal/poll.(*FD).Read": true, "net/http.(*conn).serve": true, "slices.SortFunc[go.shape.int]": true,
		"main.worker": false, "sort": false, "index": false, "github.com/x/time.Sleep": false,
		"example.com/internal/poll.Read": false, "timeless.Now": false, "": false,
		"_ZN4time5sleepEv": false,
	} {
		if got := GoStandard(symbol); got != want {
			t.Errorf("%s: %v", symbol, got)
		}
	}
}
