package collect

import (
	"strings"
	"testing"
)

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

func TestNotesAreOrdered(t *testing.T) {
	b := Notes{}
	b.Add("b", "x")
	b.Add("a", "y")
	b.Add("a", "x")
	b.Add("a", "x")
	var got []string
	for _, n := range b.List() {
		got = append(got, n.Code+n.Text)
	}
	if s := strings.Join(got, " "); s != "ax ay bx" || b.List()[0].N != 2 {
		t.Errorf("got %s", s)
	}
}

func TestGoWaitsOutside(t *testing.T) {
	for _, c := range []struct {
		name string
		want bool
	}{
		{"time.Sleep", true}, {"runtime.timeSleep", true}, {"runtime.netpollblock", true}, {"internal/poll.(*FD).Read", true},
		{"runtime.gcAssistAlloc", true}, {"runtime.GC", true}, {"runtime.gcStart", true},
		{"runtime.gopark", false}, {"runtime.chanrecv1", false}, {"sync.(*WaitGroup).Wait", false}, {"main.worker", false},
	} {
		if got := GoWaitsOutside(c.name); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
