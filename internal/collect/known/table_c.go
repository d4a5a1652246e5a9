package known

// Functions of C's thread libraries: POSIX, C11, and what glibc has beside them.

const (
	posix  = "POSIX.1-2017, System Interfaces"
	glibc  = "glibc manual, Threads; Non-POSIX Extensions"
	c17    = "C17, 7.26"
	kernel = "futex(2), syscall(2)"
)

func threads() []Func {
	return []Func{
		{Name: "pthread_barrier_wait", Also: Internal, Role: Barrier, Second: None, Probe: AtBoth, Hook: AtBoth, Source: posix},
		{Name: "pthread_join", Also: Internal, Role: Join, Second: None, Probe: AtBoth, Hook: AtBoth, Source: posix},
		{Name: "pthread_timedjoin_np", Role: Join, Second: None, Probe: AtBoth, Hook: AtBoth, Source: glibc},
		{Name: "pthread_clockjoin_np", Role: Join, Second: None, Probe: AtBoth, Hook: AtBoth, Source: glibc},
		{Name: "thrd_join", Role: Join, Second: None, Probe: AtBoth, Hook: AtBoth, Source: c17},
		{Name: "pthread_create", Also: Internal, Role: Create, Second: 2, Probe: AtBoth, Hook: AtBoth, Source: posix},
		{Name: "thrd_create", Role: Create, Second: 1, Probe: Otherwise,
			Why:  "a probe sees the call of pthread_create in it, at the same function (glibc, musl)",
			Hook: AtBoth, Source: c17},
	}
}

// The waits for conditions are cancellation points at which threads are torn down through frames
// that must be known to the unwinder: hooks see the calls only, never a return, so that no frame of
// lime's is on the stack.
func conditions() []Func {
	const (
		mayFail = "its call does not tell whether it gets a permit, and its return is a cancellation point: " +
			"the wait shows where threads leave their cores"
		counted = "who runs the program sees the semaphore's word change"
	)
	return []Func{
		{Name: "pthread_cond_wait", Also: Internal, Role: CondWait, Second: 1, Probe: AtBoth, Hook: AtCall, Source: posix},
		{Name: "pthread_cond_timedwait", Also: Internal, Role: CondWait, Second: 1, Probe: AtBoth, Hook: AtCall, Source: posix},
		{Name: "pthread_cond_clockwait", Role: CondWait, Second: 1, Probe: AtBoth, Hook: AtCall, Source: glibc},
		{Name: "pthread_cond_signal", Also: Internal, Role: CondWake, Second: None, Probe: AtBoth, Hook: AtCall, Source: posix},
		{Name: "pthread_cond_broadcast", Also: Internal, Role: CondWakeAll, Second: None, Probe: AtBoth, Hook: AtCall, Source: posix},
		{Name: "cnd_wait", Role: CondWait, Second: 1, Probe: AtBoth, Hook: AtCall, Source: c17},
		{Name: "cnd_timedwait", Role: CondWait, Second: 1, Probe: AtBoth, Hook: AtCall, Source: c17},
		{Name: "cnd_signal", Role: CondWake, Second: None, Probe: AtBoth, Hook: AtCall, Source: c17},
		{Name: "cnd_broadcast", Role: CondWakeAll, Second: None, Probe: AtBoth, Hook: AtCall, Source: c17},
		{Name: "sem_init", Also: Internal, Role: SemInit, Second: 2, Probe: Otherwise, Why: counted, Hook: AtCall, Source: posix},
		{Name: "sem_wait", Also: Internal, Role: SemWait, Second: None, Probe: AtBoth, Hook: AtCall, Source: posix},
		{Name: "sem_timedwait", Also: Internal, Role: SemWait, Second: None, Probe: AtBoth, Hook: Unseen, Why: mayFail, Source: posix},
		{Name: "sem_clockwait", Role: SemWait, Second: None, Probe: AtBoth, Hook: Unseen, Why: mayFail, Source: glibc},
		{Name: "sem_post", Also: Internal, Role: SemPost, Second: None, Probe: Otherwise, Why: counted, Hook: AtCall, Source: posix},
		{Name: "syscall", Role: Futex, Object: 1, Second: 2, Probe: Otherwise, Why: "who runs the program handles its system calls", Hook: AtBoth,
			Pass: Pass{Only: sysFutex, Stack: 8}, Source: kernel},
	}
}

// sysFutex is the number of futex(2) on x86-64 (asm/unistd_64.h).
const sysFutex = 202

// What an attempt at a lock returns if the lock is taken.
const (
	busy     = 16 // EBUSY
	thrdBusy = 1  // thrd_busy of glibc and musl
)

func locks() []Func {
	const (
		never  = "an attempt never waits, so that nothing is to be seen of it natively"
		noWord = "no word at its argument says that others wait: a wait for it is seen, who held it is not"
	)
	mutex := Pass{Try: "pthread_mutex_trylock", Taken: busy}
	write := Pass{Try: "pthread_rwlock_trywrlock", Taken: busy}
	read := Pass{Try: "pthread_rwlock_tryrdlock", Taken: busy}
	mtx := Pass{Try: "mtx_trylock", Taken: thrdBusy}
	return []Func{
		{Name: "pthread_mutex_lock", Also: Internal, Role: Lock, Second: None, Probe: AtBoth, Hook: IfSlow,
			Pass: Pass{Try: mutex.Try, Taken: busy, Inner: true}, Source: posix},
		{Name: "pthread_mutex_timedlock", Also: Internal, Role: Lock, Second: None, Probe: AtBoth, Hook: IfSlow, Pass: mutex, Source: posix},
		{Name: "pthread_mutex_clocklock", Role: Lock, Second: None, Probe: AtBoth, Hook: IfSlow, Pass: mutex, Source: glibc},
		{Name: "pthread_mutex_trylock", Also: Internal, Role: TryLock, Second: None, Probe: AtBoth, Hook: Otherwise, Why: never, Source: posix},
		{Name: "pthread_mutex_unlock", Also: Internal, Role: Unlock, Second: None, Probe: AtCall, Hook: IfContended,
			Pass: Pass{Inner: true}, Source: posix},
		{Name: "pthread_spin_lock", Also: Internal, Role: Lock, Second: None, Probe: AtBoth, Hook: IfSlow,
			Pass: Pass{Try: "pthread_spin_trylock", Taken: busy}, Source: posix},
		{Name: "pthread_spin_trylock", Also: Internal, Role: TryLock, Second: None, Probe: AtBoth, Hook: Otherwise, Why: never, Source: posix},
		{Name: "pthread_spin_unlock", Also: Internal, Role: Unlock, Second: None, Probe: AtCall, Hook: Unseen, Why: noWord, Source: posix},
		{Name: "pthread_rwlock_wrlock", Also: Internal, Role: Lock, Second: None, Probe: AtBoth, Hook: IfSlow, Pass: write, Source: posix},
		{Name: "pthread_rwlock_timedwrlock", Also: Internal, Role: Lock, Second: None, Probe: AtBoth, Hook: IfSlow, Pass: write, Source: posix},
		{Name: "pthread_rwlock_clockwrlock", Role: Lock, Second: None, Probe: AtBoth, Hook: IfSlow, Pass: write, Source: glibc},
		{Name: "pthread_rwlock_trywrlock", Also: Internal, Role: TryLock, Second: None, Probe: AtBoth,
			Hook: Otherwise, Why: never, Source: posix},
		{Name: "pthread_rwlock_rdlock", Also: Internal, Role: ReadLock, Second: None, Probe: AtBoth, Hook: IfSlow, Pass: read, Source: posix},
		{Name: "pthread_rwlock_timedrdlock", Also: Internal, Role: ReadLock, Second: None, Probe: AtBoth,
			Hook: IfSlow, Pass: read, Source: posix},
		{Name: "pthread_rwlock_clockrdlock", Role: ReadLock, Second: None, Probe: AtBoth, Hook: IfSlow, Pass: read, Source: glibc},
		{Name: "pthread_rwlock_unlock", Also: Internal, Role: Unlock, Second: None, Probe: AtCall, Hook: Unseen, Why: noWord, Source: posix},
		{Name: "mtx_lock", Role: Lock, Second: None, Probe: AtBoth, Hook: IfSlow,
			Pass: Pass{Try: mtx.Try, Taken: thrdBusy, Same: "pthread_mutex_lock"}, Source: c17},
		{Name: "mtx_timedlock", Role: Lock, Second: None, Probe: AtBoth, Hook: IfSlow, Pass: mtx, Source: c17},
		{Name: "mtx_trylock", Role: TryLock, Second: None, Probe: AtBoth, Hook: Otherwise, Why: never, Source: c17},
		{Name: "mtx_unlock", Role: Unlock, Second: None, Probe: AtCall, Hook: IfContended, Pass: Pass{Same: "pthread_mutex_unlock"}, Source: c17},
	}
}
