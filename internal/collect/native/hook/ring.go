package hook

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The ring's layout, which the code in the program knows too. Page 0: the count of records claimed,
// at offset 0; of records consumed, at 64; of calls that found no room, at 128; of calls with work,
// at 192; from 1024 on how many records each candidate may still make, 32 bits each. Then the calls
// with work that may be open at a time, by two words each: the work and the code that stands for
// it. Then, by the same two words, the functions of tasks. Then the slots.
const (
	offHead    = 0
	offTail    = 64
	offLost    = 128
	offCalls   = 192
	offBudgets = 1024
	callsAt    = 4096
	ringCalls  = 1024
	tasksAt    = callsAt + ringCalls*thunkBytes
	ringTasks  = 256
	ringHeader = tasksAt + ringTasks*thunkBytes
	slotBytes  = 128
	ringSlots  = 1 << 19 // 64 MB of address space; pages are there when written
)

// The layout of a slot.
const (
	slotSeq  = 0  // index + 1, written last
	slotTSC  = 8  // time stamp counter
	slotTID  = 16 // thread id, as the thread library keeps it
	slotWhat = 20 // 4 x function + phase
	slotArg0 = 24 // first argument; at a return, the result
	slotArg1 = 32
	slotRet  = 40 // return address
	slotSP   = 48 // stack pointer at the entry of the function
	slotFP   = 56 // frame pointer there

	slotStack = 64 // at an entry: what lies above the return address
)

// StackWords is how much of the stack the record of an entry holds.
const StackWords = 8

// Phase says what a record is about.
type Phase uint8

// The phases.
const (
	Enter  Phase = iota // the function was called; if it has work (Func.Work), Arg0 is that function
	Return              // it returned; Arg0 is its result
	Begin               // a thread begins the work that was passed to the function (Func.Work)
	End                 // the work is done; of a task (Func.Task), Arg0 is its function and Arg1 the cycles that it took
)

// Record is one entry or return of a hooked function.
type Record struct {
	Index  uint64
	TSC    uint64
	TID    int32
	Func   int // index into the functions given to Install
	Phase  Phase
	Arg0   uint64
	Arg1   uint64
	Caller uint64 // return address: behind the call
	SP, FP uint64
	Stack  [StackWords]uint64 // Enter: what lies above the return address
	Words  int                // of Stack that are known
}

// Ring is lime's side of the shared buffer.
type Ring struct {
	file *os.File
	mem  []byte
	next uint64
	hole int // how often the next slot was found unwritten

	marks []mark // by time; the first holds for next
}

// mark is a moment at which no record from head on had been claimed.
type mark struct{ head, tsc uint64 }

// NewRing makes an empty ring.
func NewRing() (*Ring, error) {
	fd, err := unix.MemfdCreate("lime-ring", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("shared memory for the program's synchronisation calls: %w", err)
	}
	f := os.NewFile(uintptr(fd), "lime-ring")
	size := ringHeader + ringSlots*slotBytes
	if err := f.Truncate(int64(size)); err != nil {
		f.Close()
		return nil, fmt.Errorf("shared memory of %d bytes: %w", size, err)
	}
	mem, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("map shared memory of %d bytes: %w", size, err)
	}
	return &Ring{file: f, mem: mem, marks: make([]mark, 1)}, nil
}

// Path is where another process of the user can open the ring.
func (r *Ring) Path() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), r.file.Fd()) }

// Size is the ring's size in bytes.
func (r *Ring) Size() int { return len(r.mem) }

// Close unmaps lime's side.
func (r *Ring) Close() error {
	if err := unix.Munmap(r.mem); err != nil {
		return err
	}
	return r.file.Close()
}

// budgetAt is where the number stands of records that a candidate may still make.
func budgetAt(candidate int) int { return offBudgets + 4*candidate }

func (r *Ring) budget(candidate int) *int32 {
	return (*int32)(unsafe.Pointer(&r.mem[budgetAt(candidate)]))
}

// Allow sets how many records a candidate may still make.
func (r *Ring) Allow(candidate int, records int32) { atomic.StoreInt32(r.budget(candidate), records) }

// Allowed is how many records a candidate may still make.
func (r *Ring) Allowed(candidate int) int32 { return atomic.LoadInt32(r.budget(candidate)) }

// Lost returns how many calls found no room.
func (r *Ring) Lost() uint64 { return atomic.LoadUint64(r.word(offLost)) }

// Crowded reports whether a quarter of the ring waits to be drained.
func (r *Ring) Crowded() bool { return atomic.LoadUint64(r.word(offHead))-r.next > ringSlots/4 }

func (r *Ring) word(off int) *uint64 { return (*uint64)(unsafe.Pointer(&r.mem[off])) }

// patience is how many drains a claimed slot may stay unwritten (its thread was stopped, or died,
// half way) before it is given up.
const patience = 200

// Scan tells of the records that have come since the last time, in the order in which they were
// claimed: their numbers and time stamps. They stay where they are, for At, until they are
// released. now is the time stamp counter as it was before. It returns a time stamp before which
// no other record can lie: one is stamped after it is claimed, and so later than any moment at
// which it was not claimed yet. whole reports whether it saw all that were claimed: one may not be
// written yet.
func (r *Ring) Scan(now uint64, visit func(index, tsc uint64)) (sure uint64, whole bool) {
	head := atomic.LoadUint64(r.word(offHead))
	r.marks = append(r.marks, mark{head, now})
	for r.next < head {
		slot := r.slot(r.next)
		if atomic.LoadUint64((*uint64)(unsafe.Pointer(&slot[slotSeq]))) != r.next+1 {
			if r.hole++; r.hole < patience && head-r.next < ringSlots/2 {
				break
			}
		} else {
			visit(r.next, binary.LittleEndian.Uint64(slot[slotTSC:]))
		}
		r.hole = 0
		r.next++
	}
	first := 0
	for i, m := range r.marks {
		if m.head <= r.next {
			first = i
		}
	}
	r.marks = slices.Delete(r.marks, 0, first)
	return r.marks[0].tsc, r.next == head
}

// ScanRest tells of what is there behind records that were claimed and never written, as those of
// threads that the end of the process overtook.
func (r *Ring) ScanRest(visit func(index, tsc uint64)) {
	for end := atomic.LoadUint64(r.word(offHead)); r.next < end; {
		r.hole = patience
		r.Scan(0, visit)
	}
}

// Scanned is the number of the next record that Scan will tell of.
func (r *Ring) Scanned() uint64 { return r.next }

// At is a record that was told of and not released.
func (r *Ring) At(index uint64) Record { return decode(index, r.slot(index)) }

// Release gives the room of the records before one back.
func (r *Ring) Release(before uint64) { atomic.StoreUint64(r.word(offTail), before) }

func (r *Ring) slot(index uint64) []byte {
	return r.mem[ringHeader+int(index%ringSlots)*slotBytes:][:slotBytes]
}

// Call returns what names an open call of a function with work: equal in its Enter and Return
// records and in the Begin records of its work.
func (r *Record) Call() uint64 { return r.Arg1 }

func decode(index uint64, s []byte) Record {
	le := binary.LittleEndian
	what := le.Uint32(s[slotWhat:])
	r := Record{
		Index: index, TSC: le.Uint64(s[slotTSC:]), TID: int32(le.Uint32(s[slotTID:])),
		Func: int(what >> 2), Phase: Phase(what & 3),
		Arg0: le.Uint64(s[slotArg0:]), Arg1: le.Uint64(s[slotArg1:]),
		Caller: le.Uint64(s[slotRet:]), SP: le.Uint64(s[slotSP:]), FP: le.Uint64(s[slotFP:]),
	}
	if r.Phase == Enter {
		r.Words = StackWords
	}
	for i := range r.Stack {
		r.Stack[i] = le.Uint64(s[slotStack+8*i:])
	}
	return r
}
