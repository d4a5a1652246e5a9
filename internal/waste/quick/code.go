package quick

import (
	"errors"
	"fmt"
	"math"
	"syscall"
	"unsafe"

	"lime/internal/cpu"
	"lime/internal/waste"
	"lime/internal/x86/enc"
)

// Code is the code of all blocks.
type Code struct {
	d         *waste.Detector
	tolerance float64
	kinds     waste.Set
	mem       []byte // executable; what is used of it
	used      int
	fixed     int // of that, what belongs to no block
	rows      []row
	places    []place
	blocks    []block // by number
	st        state
	at        fixed

	frames []Frame // and log: of Run, kept here so that they do not lie on a stack, which may move
	log    []uint64
}

// row is what the code knows of a block: where its own code is, and what it is on the path on which
// it was passed last.
type row struct {
	code uintptr
	onPath
	_ [3]uint64
}

// onPath is what a block is on a call path: the record of its first context there, and, if it calls,
// which block came next and its path.
type onPath struct {
	path   uint64
	record uintptr
	next   uint64
	to     uint64
}

// rowOnPath is where in a row that stands.
const rowOnPath = int32(unsafe.Offsetof(row{}.onPath))

const (
	rowShift = 6
	maxRows  = 1 << 24
	codeRoom = 64 << 20
	roomOp   = 1536 // bytes of code for an op at most
	roomMore = 512  // for the rest of a block
	noPath   = ^uint64(0)
	noNext   = ^uint64(1) // no block's word, nor what stands behind a log
	noTag    = ^uint64(0)
)

// block is a block with code.
type block struct {
	Block
	known  bool
	resume []uintptr // where to go on before each op, and the tail
	offs   []int     // words before each op, and its contexts
	ctx    []int
}

// state is what the code and Run tell each other; R15 points to it.
type state struct {
	log, record    uintptr // the present block's word in the log; the record of its first context
	target         uintptr // where to enter
	rows, places   uintptr
	blocks         uint64 // how many rows there are
	stores, loads  uintptr
	spills         uintptr
	tag            uint64
	path           uint64
	top, end       uintptr // frames: behind the last, and behind the room
	loaded, stored uint64
	why, op        uint64
	clean          uint64 // two cells with all marks
	fresh          uint64 // two with that of a store
	mixed, read    uint64 // two with the mark of mixed cells; with all bits but the mark of a store
	tolerance      float64
	positive       uint64 // all bits of a number but its sign
	infinite       uint64
	// threads beside each other: waste.View's
	touch, touchStored, together, low uint64
}

// Why is why Run has come back.
type Why uint8

// The reasons.
const (
	atOp    Why = iota // an access is to be told to the detector
	Unknown            // a word that is no known block's: also what a fault has cut short, and the log's end
	Place              // the block has not been passed on this path last: SetPlace, and again
	Called             // the block has called, and it is not known what: SetCalled, behind the call
	Rest               // the block's tail is to be done by hand
)

// New makes the code for a detector.
func New(d *waste.Detector, tolerance float64) (*Code, error) {
	c := &Code{d: d, tolerance: tolerance, kinds: d.Kinds(), places: make([]place, 1<<placeShift)}
	var err error
	if c.mem, err = syscall.Mmap(-1, 0, codeRoom, syscall.PROT_READ|syscall.PROT_WRITE|syscall.PROT_EXEC,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE); err != nil {
		return nil, fmt.Errorf("memory for code that compares accesses: %w", err)
	}
	rows, err := syscall.Mmap(-1, 0, maxRows<<rowShift, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("memory for blocks: %w", err), syscall.Munmap(c.mem))
	}
	c.rows = unsafe.Slice((*row)(unsafe.Pointer(&rows[0])), maxRows)
	c.st = state{
		rows: uintptr(unsafe.Pointer(&rows[0])), places: uintptr(unsafe.Pointer(&c.places[0])), tolerance: tolerance,
		clean: (waste.Fresh | waste.Mixed) * waste.Twice, mixed: waste.Mixed * waste.Twice,
		read: ^uint64(waste.Fresh * waste.Twice), positive: 1<<63 - 1, infinite: math.Float64bits(math.Inf(1)),
	}
	if c.kinds.Has(waste.DeadStore) {
		c.st.fresh = waste.Fresh * waste.Twice
	}
	c.emitFixed()
	return c, nil
}

// Close gives the memory back.
func (c *Code) Close() error {
	rows := unsafe.Slice((*byte)(unsafe.Pointer(&c.rows[0])), maxRows<<rowShift)
	return errors.Join(syscall.Munmap(c.mem), syscall.Munmap(rows))
}

func (c *Code) here() uint64 { return uint64(uintptr(unsafe.Pointer(&c.mem[0]))) + uint64(c.used) }

func (c *Code) put(a enc.Table) {
	c.used += copy(c.mem[c.used:], a.Code)
}

// Add makes the code of the block of a number.
func (c *Code) Add(id int, b Block) error {
	if id >= maxRows {
		return fmt.Errorf("more than %d blocks", maxRows)
	}
	if c.used+roomMore+roomOp*len(b.Ops) > len(c.mem) {
		c.forget()
	}
	for len(c.blocks) <= id {
		c.rows[len(c.blocks)] = row{code: c.at.unknown, onPath: onPath{path: noPath, next: noNext}}
		c.blocks = append(c.blocks, block{})
	}
	c.st.blocks = uint64(len(c.blocks))
	c.blocks[id] = block{Block: b, known: true}
	c.emit(id)
	return nil
}

// forget drops the code of all blocks.
func (c *Code) forget() {
	for id := range c.blocks {
		c.blocks[id] = block{}
		c.rows[id] = row{code: c.at.unknown, onPath: onPath{path: noPath, next: noNext}}
	}
	c.used = c.fixed
}

// Knows reports whether a block has code.
func (c *Code) Knows(id int) bool { return id < len(c.blocks) && c.blocks[id].known }

// Run takes the log from word at on, for the running thread of the detector. It returns why it has
// stopped, and at which word: that of the block that is to be looked at. Behind the log must stand a
// word with all bits set, which is no block's.
func (c *Code) Run(s *Stack, log []uint64, at int) (Why, int) {
	st, v := &c.st, c.d.View()
	st.stores, st.loads, st.tag = uintptr(v.Stores), uintptr(v.Loads), uint64(v.Tag)
	st.spills = uintptr(v.Spills)
	st.touch, st.touchStored, st.together, st.low = v.Touch, v.Touch|waste.TouchStored, v.Together, v.Low
	if v.Tag == waste.Several {
		st.tag = noTag // a line with this tag is not its own
	}
	st.path = s.Path
	frames := s.frames[:cap(s.frames)]
	c.frames, c.log = frames, log
	base := uintptr(unsafe.Pointer(&frames[0]))
	st.top = base + uintptr(len(s.frames))*unsafe.Sizeof(Frame{})
	st.end = base + uintptr(len(frames))*unsafe.Sizeof(Frame{})
	start := uintptr(unsafe.Pointer(&log[0]))
	st.log, st.target = start+8*uintptr(at), c.at.next
	st.loaded, st.stored = 0, 0
	for {
		cpu.CallCode(c.at.enter, unsafe.Pointer(st))
		if Why(st.why) != atOp {
			break
		}
		c.slowly(log[(st.log-start)/8:])
	}
	c.d.Count(st.loaded, st.stored)
	s.frames = frames[:(st.top-base)/unsafe.Sizeof(Frame{})]
	s.Path = st.path
	return Why(st.why), int(st.log-start) / 8
}

// slowly has the detector do the op at which the code has stopped.
func (c *Code) slowly(words []uint64) {
	b := &c.blocks[words[0]]
	k := int(c.st.op)
	o := &b.Ops[k]
	first := waste.Context((c.st.record - uintptr(c.d.View().Records)) / waste.RecordSize)
	c.one(first+waste.Context(b.ctx[k]), o, words[1+b.offs[k]:])
	c.st.target = b.resume[k+1]
}

// one tells the detector of an op.
func (c *Code) one(at waste.Context, o *Op, words []uint64) {
	n := int(o.Values)
	if !o.Store {
		c.d.LoadAt(at, words[0], uint64(o.Bytes))
		return
	}
	same := n > 0 && waste.Same(o.Elem, words[1:1+n], words[1+n:1+2*n], c.tolerance)
	c.d.StoreAt(at, words[0], uint64(o.Bytes), same)
}

// First is the contexts and words of a block's ops: where its tail has its own.
func (c *Code) First(id int) (contexts, words int) {
	return c.blocks[id].Contexts, c.blocks[id].words
}
