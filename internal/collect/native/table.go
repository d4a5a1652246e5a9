package native

import (
	"golang.org/x/sys/unix"

	"lime/internal/collect/native/hook"
)

// role is what calling a function means for the sections.
type role uint8

const (
	roleBarrier    role = iota // arrival at the barrier that the first argument names; the return is the leave
	roleTeam                   // barrier of the region that the thread works in
	roleJoin                   // waits for the end of a thread
	roleCreate                 // creates a thread
	roleFork                   // parallel region: one argument is its body
	roleCondWait               // waits on the first argument; only the call is seen
	roleCondWake               // wakes one who waits on the first argument
	roleCondAll                // wakes all who wait on the first argument
	roleLock                   // takes the lock that the first argument names; only long waits are seen, when they are over
	roleUnlock                 // gives it back while others wait
	roleGoIn                   // a goroutine goes on on this thread
	roleGoOut                  // the thread has none any more
	roleGoPark                 // a goroutine stands back
	roleGoReady                // somebody lets it go on
	roleGoEnd                  // it ends
	roleGoLock                 // it waits for a lock, if that is not given back right now
	roleGoUnlock               // it lets one go on that waits for a lock
	roleGoCondWait             // it waits for a condition
	roleGoCondAll              // it wakes all who wait for one
	roleGoCount                // it counts down or up what others wait for
	roleGoAwait                // it waits until others have counted down
	roleFutex                  // system call: waits for a futex or wakes who waits
	roleGate                   // code of the program's own that turned out to be a barrier; no function of the table has it
	roles
)

// row is a function of the table.
type row struct {
	name   string
	role   role
	source string // where the meaning is laid down
}

const (
	posix = "POSIX.1-2017, System Interfaces"
	glibc = "glibc manual, Threads; Non-POSIX Extensions"
	gomp  = "libgomp ABI (GCC manual of libgomp, chapter The libgomp ABI)"
	gorun = "Go's runtime, proc.go"
	gosyn = "package sync of Go, and the runtime's sema.go"
	kmp   = "LLVM OpenMP runtime, reference (kmp.h)"
)

// table lists the functions that are hooked. The waits for condition variables are cancellation points at which
// threads are torn down through frames that must be known to the unwinder: of them only the calls are seen, never a
// return, so that no frame of lime's is on the stack.
func table() []row {
	return []row{
		{"pthread_barrier_wait", roleBarrier, posix},
		{"pthread_join", roleJoin, posix},
		{"pthread_timedjoin_np", roleJoin, glibc},
		{"pthread_clockjoin_np", roleJoin, glibc},
		{"thrd_join", roleJoin, "C17, 7.26.5.6"},
		{"pthread_create", roleCreate, posix},
		{"pthread_cond_wait", roleCondWait, posix},
		{"pthread_cond_timedwait", roleCondWait, posix},
		{"pthread_cond_clockwait", roleCondWait, glibc},
		{"pthread_cond_signal", roleCondWake, posix},
		{"pthread_cond_broadcast", roleCondAll, posix},
		{"thrd_create", roleCreate, "C17, 7.26.5.1"},
		{"cnd_wait", roleCondWait, "C17, 7.26.3.6"},
		{"cnd_timedwait", roleCondWait, "C17, 7.26.3.5"},
		{"cnd_signal", roleCondWake, "C17, 7.26.3.4"},
		{"cnd_broadcast", roleCondAll, "C17, 7.26.3.1"},
		{"syscall", roleFutex, "futex(2), syscall(2)"},
		{"pthread_mutex_lock", roleLock, posix},
		{"pthread_mutex_timedlock", roleLock, posix},
		{"pthread_mutex_clocklock", roleLock, glibc},
		{"pthread_rwlock_wrlock", roleLock, posix},
		{"pthread_rwlock_rdlock", roleLock, posix},
		{"pthread_spin_lock", roleLock, posix},
		{"pthread_mutex_unlock", roleUnlock, posix},
		{"mtx_lock", roleLock, "C17, 7.26.4.3"},
		{"mtx_unlock", roleUnlock, "C17, 7.26.4.6"},
		{"GOMP_critical_start", roleLock, gomp},
		{"GOMP_critical_name_start", roleLock, gomp},
		{"GOMP_atomic_start", roleLock, gomp},
		{"omp_set_lock", roleLock, "OpenMP 5.1, 3.9.4"},
		{"omp_set_nest_lock", roleLock, "OpenMP 5.1, 3.9.4"},

		{"GOMP_parallel", roleFork, gomp},
		{"GOMP_parallel_sections", roleFork, gomp},
		{"GOMP_parallel_loop_static", roleFork, gomp},
		{"GOMP_parallel_loop_dynamic", roleFork, gomp},
		{"GOMP_parallel_loop_guided", roleFork, gomp},
		{"GOMP_parallel_loop_runtime", roleFork, gomp},
		{"GOMP_parallel_loop_nonmonotonic_dynamic", roleFork, gomp},
		{"GOMP_parallel_loop_nonmonotonic_guided", roleFork, gomp},
		{"GOMP_parallel_loop_nonmonotonic_runtime", roleFork, gomp},
		{"GOMP_parallel_loop_maybe_nonmonotonic_runtime", roleFork, gomp},
		{"GOMP_parallel_reductions", roleFork, gomp},
		{"GOMP_barrier", roleTeam, gomp},
		{"GOMP_barrier_cancel", roleTeam, gomp},
		{"GOMP_loop_end", roleTeam, gomp},
		{"GOMP_loop_end_cancel", roleTeam, gomp},
		{"GOMP_sections_end", roleTeam, gomp},
		{"GOMP_sections_end_cancel", roleTeam, gomp},

		{"__kmpc_fork_call", roleFork, kmp},
		{"__kmpc_barrier", roleTeam, kmp},
		{"__kmpc_cancel_barrier", roleTeam, kmp},
		{"__kmpc_critical", roleLock, kmp},
		{"__kmpc_critical_with_hint", roleLock, kmp},

		{"runtime.execute", roleGoIn, gorun},
		{"runtime.schedule", roleGoOut, gorun},
		{"runtime.gopark", roleGoPark, gorun},
		{"runtime.ready", roleGoReady, gorun},
		{"runtime.goexit1", roleGoEnd, gorun},
		{"sync.runtime_SemacquireMutex", roleGoLock, gosyn},
		{"internal/sync.runtime_SemacquireMutex", roleGoLock, gosyn},
		{"sync.runtime_SemacquireRWMutex", roleGoLock, gosyn},
		{"sync.runtime_SemacquireRWMutexR", roleGoLock, gosyn},
		{"sync.runtime_Semrelease", roleGoUnlock, gosyn},
		{"internal/sync.runtime_Semrelease", roleGoUnlock, gosyn},
		{"sync.runtime_notifyListWait", roleGoCondWait, gosyn},
		{"sync.runtime_notifyListNotifyAll", roleGoCondAll, gosyn},
		{"sync.(*WaitGroup).Add", roleGoCount, gosyn},
		{"sync.(*WaitGroup).Wait", roleGoAwait, gosyn},
	}
}

// attempt is a function that takes a lock if it is free.
type attempt struct {
	name    string
	refused int32 // its result if the lock is taken
}

// attempts names them by the functions that wait.
func attempts() map[string]attempt {
	const busy, thrdBusy, no = 16, 1, 0 // EBUSY, thrd_busy, false
	return map[string]attempt{
		"pthread_mutex_lock":      {"pthread_mutex_trylock", busy},
		"pthread_mutex_timedlock": {"pthread_mutex_trylock", busy},
		"pthread_mutex_clocklock": {"pthread_mutex_trylock", busy},
		"pthread_rwlock_wrlock":   {"pthread_rwlock_trywrlock", busy},
		"pthread_rwlock_rdlock":   {"pthread_rwlock_tryrdlock", busy},
		"pthread_spin_lock":       {"pthread_spin_trylock", busy},
		"mtx_lock":                {"mtx_trylock", thrdBusy},
		"omp_set_lock":            {"omp_test_lock", no},
		"omp_set_nest_lock":       {"omp_test_nest_lock", no},
	}
}

// inside names the functions that are hooked inside, where they wait for a lock that is taken, or wake who waits, so that a free lock costs nothing.
func inside() map[string]bool {
	return map[string]bool{"pthread_mutex_lock": true, "pthread_mutex_unlock": true}
}

// others are the functions that do what another one does.
func others() map[string]string {
	return map[string]string{"mtx_lock": "pthread_mutex_lock", "mtx_unlock": "pthread_mutex_unlock"}
}

// region is how a function that runs a parallel region is called.
type region struct {
	body     int  // which argument is the function that its threads run
	variadic bool // the second argument counts those behind the function
	stack    int  // bytes of arguments that come by the stack
}

// bodies has those that differ from GOMP_parallel_loop_*(fn, data, ...), of whose arguments two at most come by the stack.
func bodies() map[string]region {
	const captured = 64 // variables of a region beyond the first three
	return map[string]region{"__kmpc_fork_call": {body: 2, variadic: true, stack: 8 * captured}}
}

// stackArguments are those of GOMP_parallel_loop_*.
const stackArguments = 16

// slowLock is how many cycles a lock may take without being a wait worth a word.
const slowLock = 3000

// goCalls is what is recorded of functions of Go's.
func goCalls() map[role]*hook.GoCall {
	frames := &hook.GoCall{Frames: true}
	return map[role]*hook.GoCall{
		roleGoIn: {Extra: hook.GoResumes}, roleGoOut: {}, roleGoReady: {}, roleGoEnd: {},
		roleGoPark: frames, roleGoLock: frames, roleGoUnlock: frames, roleGoCondWait: frames, roleGoCondAll: frames,
		roleGoCount: {Frames: true, Extra: hook.GoSecond}, roleGoAwait: {Frames: true, Extra: hook.GoPointed},
	}
}

// hooks turns the table into what hook wants.
func hooks(rows []row) []hook.Func {
	var out []hook.Func
	tries, wrapped, in, same, golang := attempts(), bodies(), inside(), others(), goCalls()
	for _, r := range rows {
		f := hook.Func{Name: r.name, Go: golang[r.role], Inner: in[r.name], Same: same[r.name]}
		switch r.role {
		case roleFork:
			f.Work, f.Return, f.StackArgs = true, true, stackArguments
			if b, ok := wrapped[r.name]; ok {
				f.Body, f.Variadic, f.StackArgs = b.body, b.variadic, b.stack
			}
		case roleCreate:
			f.Return, f.Fetch = true, true
		case roleLock:
			f.Slow, f.Try, f.Refused = slowLock, tries[r.name].name, tries[r.name].refused
		case roleUnlock:
			f.Contended = true
		case roleFutex:
			f.Return, f.Only, f.StackArgs = true, unix.SYS_FUTEX, 8
		case roleBarrier, roleTeam, roleJoin:
			f.Return = true
		}
		out = append(out, f)
	}
	return out
}
