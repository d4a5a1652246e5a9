package cpu

import "unsafe"

// Offsets in Context, for generated code and the entry code.
const (
	OffGPR      = unsafe.Offsetof(Context{}.GPR)
	OffRIP      = unsafe.Offsetof(Context{}.RIP)
	OffRFLAGS   = unsafe.Offsetof(Context{}.RFLAGS)
	OffFSBase   = unsafe.Offsetof(Context{}.FSBase)
	OffGSBase   = unsafe.Offsetof(Context{}.GSBase)
	OffBudget   = unsafe.Offsetof(Context{}.Budget)
	OffReason   = unsafe.Offsetof(Context{}.ExitReason)
	OffInfo     = unsafe.Offsetof(Context{}.ExitInfo)
	OffScratch  = unsafe.Offsetof(Context{}.Scratch)
	OffTracePtr = unsafe.Offsetof(Context{}.TracePtr)
	OffFilter   = unsafe.Offsetof(Context{}.Filter)
	OffXSave    = unsafe.Offsetof(Context{}.XSave)
	OffMiss     = unsafe.Offsetof(Context{}.Miss)

	// CountersOff is the distance from a context to its first counter.
	CountersOff = 8192
)

// Slots of Context.Scratch. Generated code spills guest registers to the slots below SlotHost.
const (
	SlotHost      = 10              // first slot that is not for spilling
	SlotHostSP    = SlotHost + iota // Go's stack pointer
	SlotHostBP                      // Go's frame pointer
	SlotExit                        // address of the exit code
	SlotTarget                      // host address at which to enter
	SlotXMask                       // XSAVE component mask
	SlotHostMXCSR                   // Go's MXCSR
	SlotSig                         // the last fault: signal number
	SlotSigCode
	SlotSigAddr
	SlotSigTrap
	SlotSigErr
	SlotSigPC  // host address of the faulting instruction
	SlotSkip   // guest PC whose probe has been reported: step over it
	SlotBeside // threads in parallel: where this one is, see EnterBeside
	SlotFast   // not nil: the guest has SSE and AVX state only (no x87 instruction was ever translated), save it by moves
	SlotSelf   // address of the context: what GS points at
	SlotAlias  // what is stored here and read by way of GS shows whether GS points at the context
	SlotBase   // not nil: this host lets programs set the GS base by themselves (FSGSBASE)
	SlotCount  // number of slots in use
)

// Slot returns the offset of a scratch slot in Context.
func Slot(n int) uint32 { return uint32(OffScratch) + 8*uint32(n) }

// Code caches lie in this range of addresses; a fault there is the guest's.
const (
	CacheLow  = 0x78000000
	CacheHigh = 0x80000000
)

// Words of Context.Miss.
const (
	MissAddr    = iota // address of the access
	MissInfo           // its number in the block, MissWrite, its bytes from MissSize on
	MissBack           // host address where to go on
	MissEntry          // address of the code that traces an access
	RepeatAddr         // the same of a second access, of a repeated instruction
	RepeatInfo         // nil if there is none
	RepeatCount        // RCX before the instruction
	RepeatEntry        // address of the code that traces repeated accesses
	MissFlags          // guest's flags
	MissSaved          // guest's registers from here on
	MissCount   = MissSaved + 11
)

// Parts of MissInfo.
const (
	MissWrite = 1 << 15
	MissSize  = 16 // shift
)

// MissWord returns the offset of a word of Miss in Context.
func MissWord(n int) uint32 { return uint32(OffMiss) + 8*uint32(n) }
