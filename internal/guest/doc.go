// Package guest is a simulated Linux process: its address space, the loading of
// its program, its threads, futexes, signals, clock and system calls. It runs
// inside lime's engine child. It may import binfile, cpu and unit; it must not
// import engine or a collector: what it needs from outside is the interface Host.
//
// # How a collector drives it
//
//	guest.ReserveFDs()                       first thing in the child, before any file is opened
//	p, err := guest.New(cfg, host)           reserves addresses, loads the program; errors: *LoadError, ErrAddressTaken
//	t := p.Main()                            the first thread, runnable
//
// All calls but PostSignal come from one goroutine, locked to its OS thread, with
// debug.SetPanicOnFault(true) recommended. Then, in a loop, pick a runnable thread t:
//
//	out := p.Enter(t)                        before each slice: ends a blocked call, delivers signals
//	if out.Kind == guest.Continue { exit := engine.Run(t.Ctx, budget) }
//	switch exit.Reason {
//	case cpu.ExitSyscall: out = p.HandleSyscall(t)
//	case cpu.ExitFault:   out = p.HandleFault(t, exit)
//	case cpu.ExitEmulate: out = p.HandleEmulate(t, exit)
//	}
//
// and act on out.Kind:
//
//	Continue     t goes on (call Enter first again)
//	Yield        t goes on, after the other threads of its core (sched_yield)
//	Blocked      t does not run until Host.Ready(t); out.Wait says what for
//	ThreadExit   t is gone; its context has been freed
//	ProcessExit  the process is over; p.Status() says how
//	Replace      execve in the process itself: p.Exec() says what. Close the profile, then either
//	             p.DoExec() (natively) or start the collector's child again for that program
//	             by exec of /proc/self/exe (simulated; wrappers like env and #! shims need it)
//
// out.New is a thread that was created (its Host.Ready has NOT been called: it is
// runnable from now on). A call of Host.Ready may come from within any Handle
// call, Advance, PollHost or Enter, also for t itself.
//
// When no thread is runnable:
//
//	if p.HostWaiters() > 0 { p.PollHost(d) }  d: how long to wait in the host, see PollHost
//	else if at, ok := p.NextDeadline(); ok  { the clock jumps to at; p.Advance(at) }
//	else { deadlock: p.Waits() names what each thread waits for }
//
// p.Idle(now) does just this and answers the new time. While threads run, call
// p.Advance(now) whenever the clock of the next core to run passes NextDeadline,
// and p.PollHost(0) now and then (at points that depend on simulated time only) if
// HostWaiters > 0.
//
// # What else a collector must do
//
//   - Duplicate its standard error to a descriptor with close-on-exec before New (os.Stderr too):
//     many programs close descriptor 2 at exit. Keep the old os.Stderr alive, or the
//     garbage collector closes it. All descriptors with close-on-exec that are open
//     at New are lime's, and the guest cannot touch them.
//   - Forward signals: signal.Notify for RelayedSignals, each to PostSignal.
//   - Give the engine Mapping as its lookup.
//
// # Addresses
//
// Guest address = host address. Non-PIE images lie where they are linked, PIE and
// libraries below 0x70000000, everything else in one high region. All of them
// are chosen here (place.go), as Linux chooses them without randomisation: from the
// order of the calls alone, so they never vary, and native in their low 28 bits.
//
// # Child processes
//
// fork, vfork and posix_spawn make a real process, which goes on natively and unprofiled: guest
// address = host address, so it only needs the registers (cpu.Fork). Host.Note reports
// "child-process" once. Process ids are the host's, that of the guest too; thread ids but the first
// are virtual (from FirstTID on, above any id that the host gives out).
package guest
