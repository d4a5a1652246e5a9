// Package cpu holds what the engine and the guest share about one guest
// thread's processor: its register context and the reasons for which generated
// code comes back. The assembly that enters and leaves generated code lives
// here, and nowhere else. It imports the standard
// library and the system-call package only.
package cpu

// Context is the fixed part at the start of a guest thread's context, in
// memory outside the Go heap. While generated code runs, GS points at it (the
// guest's own FS- and GS-relative accesses are rewritten), so generated code
// addresses every field as gs:[offset]. Counters of the thread follow at
// CountersOff, so that "inc qword gs:[CountersOff+8*edge]" counts an edge
// for exactly this thread: the same code can run on many threads.
type Context struct {
	GPR    [16]uint64 // guest registers by encoding number (rsp = 4)
	RIP    uint64     // guest PC: where to go on
	RFLAGS uint64
	FSBase uint64
	GSBase uint64

	Budget  int64  // instructions left of the slice; generated code counts it down at block heads
	Retired uint64 // instructions retired in all (maintained by the engine at exits)

	ExitReason ExitReason
	ExitInfo   uint64 // by reason, see Exit

	Scratch [30]uint64 // spill slots and host state of the entry code (layout: the Slot constants)

	TracePtr uint64 // next free byte of the trace buffer, when the mode traces
	Filter   uint64 // address of the running core's filter (machine), which says what need not be traced

	// XSave is the state of a thread that does not run. A component whose bit in XSTATE_BV (byte
	// 512) is clear is in its initial state, whatever its bytes hold; whoever writes a component
	// sets its bit.
	XSave [4096]byte // guest x87/SSE/AVX/AVX-512 state, XSAVE standard format; 64-byte aligned, as the context is

	Miss [MissCount]uint64 // what generated code and the code that traces an access tell each other (layout: the Miss constants)
}

// ExitReason says why generated code came back.
type ExitReason uint32

// The reasons.
const (
	ExitNone    ExitReason = iota
	ExitBudget             // slice used up; RIP = next instruction
	ExitSyscall            // at a syscall instruction; RIP = the instruction after it; RCX and R11 not yet set
	ExitProbe              // about to execute the instruction at RIP, which has a probe
	ExitFault              // synchronous fault: Signal, Code, Addr; RIP = faulting instruction, all registers exact
	// an instruction the guest emulates (cpuid, rdtsc, rdtscp, rdpid, xgetbv, rdrand, rdseed,
	// xsave, xrstor); RIP = the instruction, Inst length in Len
	ExitEmulate
	ExitUnsupported // an instruction that the engine cannot run (Err says which, and where)
	ExitTrace       // the trace buffer is full; RIP = where to go on
	ExitCode        // guest wrote to translated code: engine has invalidated; go on
	ExitRepeat      // about to execute the repeated string instruction, gather or scatter at RIP (mode Log)
)

// Exit is one return from generated code.
type Exit struct {
	Reason ExitReason
	Signal int    // ExitFault: SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP
	Code   int32  // ExitFault: si_code
	Addr   uint64 // ExitFault: si_addr
	Trapno uint64 // ExitFault: hardware trap number (14 page fault, ...)
	ErrNo  uint64 // ExitFault: hardware error code
	Len    int    // ExitEmulate: length of the instruction
	Err    error  // ExitUnsupported
}
