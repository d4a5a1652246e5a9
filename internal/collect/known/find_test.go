package known

import "testing"

func TestFind(t *testing.T) {
	b := NewBook()
	for _, row := range []struct {
		symbol string
		role   Role
		ok     bool
	}{
		{"sem_wait", SemWait, true}, {"__new_sem_wait", SemWait, true}, {"__new_sem_wait_slow64", SemWait, true},
		{"sem_wait@GLIBC_2.34", SemWait, true}, {"___pthread_cond_wait", CondWait, true}, {"__pthread_cond_wait_common", CondWait, true},
		{"__GI___pthread_mutex_lock", Lock, true}, {"pthread_barrier_wait@@GLIBC_2.34", Barrier, true}, {"GOMP_taskwait", TaskWait, true},
		{"GOMP_barrier_cancel", TeamBarrier, true}, {"GOMP_ordered_start", Turn, true}, {"PMPI_Barrier", Meet, true},
		{"_RNvMNtNtCsjrHSEGnQ3l9_3std6thread6scopedNtB2_9ScopeData29decrement_num_running_threads", Through, true},
		{"_RNvMs0_NtNtCsjrHSEGnQ3l9_3std4sync7barrierNtB5_7Barrier4wait", Barrier, true},
		{"_ZN3std4sync7barrier7Barrier4wait17h0123456789abcdefE", Barrier, true},
		{"_ZN4mine7Barrier4wait17h0123456789abcdefE", 0, false}, {"_RNvMNtCs1_4mine7Barrier4wait", 0, false},
		{"sem", 0, false}, {"pthread", 0, false}, {"", 0, false}, {"__", 0, false}, {"sem_waiting", 0, false}, {"work", 0, false},
		{"pthread_mutex", 0, false},
	} {
		if f, ok := b.Find(row.symbol); ok != row.ok || ok && f.Role != row.role {
			t.Errorf("%q: role %d, %t; want %d, %t", row.symbol, f.Role, ok, row.role, row.ok)
		}
	}
}

// Each row is found by each of its names.
func TestFindEachRow(t *testing.T) {
	b := NewBook()
	for _, f := range Functions() {
		for _, name := range f.Names() {
			if got, ok := b.Find(name); !ok || got.Role != f.Role {
				t.Errorf("%s: role %d, %t; want %d", name, got.Role, ok, f.Role)
			}
		}
	}
}
