package known

// Functions of Rust's library, which is compiled into every program.

const rustBarrier = "library/std/src/sync/barrier.rs of Rust 1.30 and later"
const rustScope = "library/std/src/thread/scoped.rs of Rust 1.63 and later"

func rust() []Func {
	return []Func{
		{Name: "3std4sync7barrier 7Barrier4wait", Also: Mangled, Role: Barrier, Second: None, Probe: AtBoth, Hook: Unseen,
			Why: "hooks are found by whole names: natively it is found as a barrier of the program's own", Source: rustBarrier},
		{Name: "9ScopeData29decrement_num_running_threads", Also: Mangled, Role: Through, Second: None, Probe: AtCall, Hook: Unseen,
			Why: "hooks are found by whole names: natively the wake of its creator tells the same", Source: rustScope},
	}
}
