package engine

import (
	"errors"
	"sync"

	"lime/internal/cpu"
)

// ErrClosed is the error of calls on an engine that was closed.
var ErrClosed = errors.New("engine is closed")

// ErrNoRoom says that the addresses where a code cache must lie are taken in this process. Other
// addresses are random in another one.
var ErrNoRoom = errors.New("these addresses are taken in this process; start it again")

// Mode says what generated code records besides running the guest.
type Mode uint8

// The modes.
const (
	Plain Mode = iota // nothing but the count of instructions
	Count             // exact edge counters
	Trace             // edge counters and a trace of blocks and data addresses for the machine model
	Log               // edge counters and a log of blocks, addresses and what was stored
)

// Range is a piece of the guest's address space around an address: what the
// guest's mapping table says of it.
type Range struct {
	Lo, Hi uint64 // the address lies in [Lo, Hi), which has one protection
	Exec   bool
	Write  bool
	Twins  []Twin // where else what lies in the range may be written
}

// Twin is a writable place that shows the same memory as another: what lies in [Lo, Hi) lies from
// At on, too.
type Twin struct {
	Lo, Hi, At uint64
	Exec       bool // the program may run code there
}

// Changes reports whether what lies in the range may change without a system call.
func (r *Range) Changes() bool { return r.Write || len(r.Twins) > 0 }

// Config tells New how to work. The zero value runs plainly, with the defaults.
type Config struct {
	Mode Mode

	// Lock, if there is one, lets contexts run beside each other: it is held by whoever calls a
	// method of the engine, and Run gives it up while guest code runs. Not in mode Trace.
	Lock      sync.Locker
	Addresses bool // mode Log: what is stored is not logged, addresses are
	// Full, in mode Log, takes a context's log whenever that is full, and its run goes on; without
	// one, the run ends there.
	Full            func(*cpu.Context)
	AllHostFeatures bool // the guest may use all vector state of the host, not x87, SSE and AVX alone
	CacheBytes      int  // size of the code cache; 0: 64 MB
	MaxEdges        int  // room for counters in a context; 0: 4 Mi

	// What the filters have that Run is given in mode Trace (SetFilter): lines a set, and which
	// bits of an address name the set. No lines: there are none, and every access is traced.
	FilterLines int
	FilterMask  uint64

	// Lookup answers what is mapped at pc; ok is false where nothing is. A nil Lookup takes all
	// readable memory for executable and read-only. Code on writable pages, or on pages with a
	// writable twin, is write-protected (mprotect) while translations of it exist; before a system
	// call, or the guest itself, writes there, Engine.Invalidate makes them writable.
	Lookup func(pc uint64) (r Range, ok bool)
}

// BlockID numbers a translated block; NoBlock is none.
type BlockID int32

// EdgeID numbers an edge, and its counter in every context.
type EdgeID int32

// NoBlock is the From or To of an edge that has none.
const NoBlock BlockID = -1

// End says how a block ends.
type End uint8

// The ways a block ends.
const (
	EndFall    End = iota // cut short: runs into the next block
	EndCond               // conditional branch (jcc, loop, jrcxz)
	EndJump               // direct jump
	EndCall               // direct call
	EndRet                // return
	EndJumpInd            // indirect jump
	EndCallInd            // indirect call
	EndSyscall            // syscall
	EndOther              // trap, or an instruction that the guest emulates
)

// Block is a basic block as first reached. A block is split where a branch lands inside it: what
// was counted for it and not drained yet then counts for its parts, Front and Tail, and
// so do later visits. Stale marks a block that no longer runs because it was
// split or its code has changed. Blocks of the same bytes at the same address keep their
// id when they are translated again.
type Block struct {
	PC     uint64
	Size   uint32 // bytes
	Instrs uint32
	LastPC uint64 // address of the last instruction
	End    End
	Stale  bool

	Front, Tail BlockID // NoBlock if the block was not split
}

// EdgeKind says how control goes along an edge.
type EdgeKind uint8

// The kinds of edge; see the package comment.
const (
	EdgeTaken EdgeKind = iota
	EdgeFall
	EdgeJump
	EdgeJumpInd
	EdgeCall
	EdgeCallInd
	EdgeReturn
	EdgeEnd
	EdgeOdd // a ret that arrived where no call waits, or no instruction at all: From is NoBlock
)

// Edge is a static control-flow event. To is NoBlock for EdgeEnd, and for an
// EdgeFall behind a syscall that never came back; else the block at Target.
type Edge struct {
	From, To BlockID
	Kind     EdgeKind
	Target   uint64
}
