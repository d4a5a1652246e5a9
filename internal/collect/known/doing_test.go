package known

import "testing"

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

// Functions that make a task, and those that wait for some, or do them.
func TestMakesTask(t *testing.T) {
	for _, c := range []struct {
		name string
		want bool
	}{
		{"__kmpc_omp_task_alloc", true}, {"__kmpc_omp_task", true}, {"__kmpc_omp_task_parts", true},
		{"__kmpc_omp_target_task_alloc", true}, {"GOMP_task", true},
		{"__kmpc_omp_taskwait", false}, {"__kmpc_taskloop", false}, {"__kmpc_omp_task_with_deps", false},
		{"__kmpc_omp_taskyield", false}, {"GOMP_taskwait", false}, {"GOMP_taskloop", false}, {"", false},
	} {
		if got := MakesTask(c.name); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// Functions that never return since the program has failed, and those whose names are like theirs.
func TestFails(t *testing.T) {
	for _, c := range []struct {
		name string
		want bool
	}{
		{"runtime.panicIndex", true}, {"runtime.gopanic", true}, {"__assert_fail", true}, {"_ZSt20__throw_length_errorPKc", true},
		{"_ZN4core9panicking18panic_bounds_check17h0123456789abcdefE", true}, {"_RNvNtCs1_4core9panicking18panic_bounds_check", true},
		{"_ZN4core5slice5index26slice_start_index_len_fail17h0123456789abcdefE", true},
		{"abort", true}, {"abort_transaction", false}, {"MPI_Abort", false}, {"exit", false}, {"os.Exit", false}, {"main.check_len_fail", false},
		{"_RNvNtNtCs1_4core9panicking11panic_const23panic_const_div_by_zero", true},
		{"_ZN3std9panicking11begin_panic17h0123456789abcdefE", true},
		{"_ZN3std9panicking11panic_count17is_zero_slow_path17h0123456789abcdefE", false},
		{"_RNvNtNtCs1_3std9panicking11panic_count17is_zero_slow_path", false}, {"_ZN3std9panicking3try17h0123456789abcdefE", false},
		{"_ZN6parser9unwrapped17h0123456789abcdefE", false},
	} {
		if got := Fails(c.name); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
