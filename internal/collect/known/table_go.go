package known

// Functions of Go's runtime and its package sync.

const (
	goRuntime = "Go's runtime, proc.go and asm_amd64.s"
	goSync    = "package sync of Go, and the runtime's sema.go"
)

// Where a goroutine goes on and stops, code that is run can be watched at the switch itself (gogo,
// mcall). A hook takes some of the goroutine's stack, so it stands further out, where the check of
// a function's beginning has left room for it.
func golang() []Func {
	rows := []Func{
		{Name: "runtime.newproc", Role: Create, Probe: AtBoth, Hook: Otherwise,
			Why: "a goroutine is known natively when it goes on first: runtime.execute", Source: goRuntime},
		{Name: "runtime.newproc1", Role: GoMade, Probe: AtCall, Hook: Otherwise,
			Why: "a goroutine is known natively when it goes on first: runtime.execute", Source: goRuntime},
		{Name: "runtime.gogo", Also: ABI0, Role: GoIn, Probe: AtCall, Hook: Otherwise, Why: "runtime.execute comes before it", Source: goRuntime},
		{Name: "runtime.execute", Role: GoIn, Probe: Otherwise,
			Why: "runtime.gogo comes behind it, and at other ways to a goroutine, too", Hook: AtCall, Source: goRuntime},
		{Name: "runtime.mcall", Role: GoOut, Probe: AtCall, Hook: Otherwise,
			Why: "runtime.gopark and runtime.schedule stand around it", Source: goRuntime},
		{Name: "runtime.schedule", Role: GoOut, Probe: AtCall, Hook: AtCall, Source: goRuntime},
		{Name: "runtime.gopark", Role: GoPark, Probe: Otherwise, Why: "it calls runtime.mcall, whose caller tells it",
			Hook: AtCall, Source: goRuntime},
		{Name: "runtime.ready", Role: GoReady, Probe: AtCall, Hook: AtCall, Source: goRuntime},
		{Name: "runtime.goexit1", Role: GoEnd, Probe: AtCall, Hook: AtCall, Source: goRuntime},
		{Name: "runtime.asmcgocall", Also: ABI0, Role: GoC, Probe: AtBoth, Hook: Otherwise,
			Why: "hooks of functions in C tell what their thread does", Source: goRuntime},

		{Name: "sync.(*Mutex).lockSlow", Role: GoLock, Probe: AtBoth, Hook: Otherwise,
			Why: "sync.runtime_SemacquireMutex is where it waits", Source: goSync},
		{Name: "internal/sync.(*Mutex).lockSlow", Role: GoLock, Probe: AtBoth, Hook: Otherwise,
			Why: "sync.runtime_SemacquireMutex is where it waits", Source: goSync},
		{Name: "sync.runtime_SemacquireMutex", Role: GoLock, Probe: Otherwise,
			Why: "the lock's slow path calls it, and is watched", Hook: AtCall, Source: goSync},
		{Name: "internal/sync.runtime_SemacquireMutex", Role: GoLock, Probe: Otherwise,
			Why: "the lock's slow path calls it, and is watched", Hook: AtCall, Source: goSync},
		{Name: "sync.runtime_SemacquireRWMutex", Role: GoLock, Probe: AtBoth, Hook: AtCall, Source: goSync},
		{Name: "sync.runtime_SemacquireRWMutexR", Role: GoLock, Probe: AtBoth, Hook: AtCall, Source: goSync},
		{Name: "sync.(*Mutex).unlockSlow", Role: GoUnlock, Probe: AtCall, Hook: Otherwise,
			Why: "sync.runtime_Semrelease lets the next one go on", Source: goSync},
		{Name: "internal/sync.(*Mutex).unlockSlow", Role: GoUnlock, Probe: AtCall, Hook: Otherwise,
			Why: "sync.runtime_Semrelease lets the next one go on", Source: goSync},
		{Name: "sync.runtime_Semrelease", Role: GoUnlock, Probe: AtCall, Hook: AtCall, Source: goSync},
		{Name: "internal/sync.runtime_Semrelease", Role: GoUnlock, Probe: AtCall, Hook: AtCall, Source: goSync},
		{Name: "sync.(*Cond).Wait", Role: GoCondWait, Probe: AtBoth, Hook: Otherwise,
			Why: "sync.runtime_notifyListWait is where it waits", Source: goSync},
		{Name: "sync.runtime_notifyListAdd", Role: GoCondList, Probe: AtCall, Hook: Otherwise,
			Why: "sync.runtime_notifyListWait follows", Source: goSync},
		{Name: "sync.runtime_notifyListWait", Role: GoCondList, Probe: AtCall, Hook: AtCall, Source: goSync},
		{Name: "sync.runtime_notifyListNotifyAll", Role: GoCondWakeAll, Probe: AtCall, Hook: AtCall, Source: goSync},
		{Name: "sync.(*WaitGroup).Add", Role: GoCount, Probe: AtCall, Hook: AtCall, Source: goSync},
		{Name: "sync.(*WaitGroup).Wait", Role: GoAwait, Probe: AtBoth, Hook: AtCall, Source: goSync},
		{Name: "time.Sleep", Role: GoSleep, Probe: AtCall, Hook: Otherwise,
			Why: "natively a sleep lasts until the goroutine goes on", Source: "Go's runtime, time.go"},
	}
	for i := range rows {
		rows[i].Object, rows[i].Second = None, None
	}
	return rows
}
