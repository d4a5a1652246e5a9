package machine

// BlockID numbers the blocks that the machine has been told of, from 0.
type BlockID int32

// Class is the resource class of an instruction: an index into the latency table.
type Class uint8

// The classes of instructions.
const (
	ClassALU     Class = iota // integer add, logic, shift, lea, mov
	ClassMul                  // integer multiply
	ClassDiv                  // integer divide
	ClassFAdd                 // floating-point add, compare, convert
	ClassFMul                 // floating-point multiply, fused multiply-add
	ClassFDiv                 // floating-point divide, square root
	ClassVec                  // vector integer, shuffle, move
	ClassX87                  // x87 arithmetic
	ClassBranch               // any branch
	ClassStore                // plain store
	ClassNop                  // no execution resource
	ClassAtomic               // locked read-modify-write
	ClassSerial               // fences, cpuid: the window drains
	ClassString               // rep string instruction
	ClassSyscall              // leaves the program
	NumClasses
)

// Registers in dependencies: 0-15 general purpose, 16-47 vector, 48 flags, 49 x87 stack.
const (
	RegVector = 16
	RegFlags  = 48
	RegX87    = 49
	NumRegs   = 50
	NoReg     = 0xff
)

// Instr is what timing needs of an instruction.
type Instr struct {
	Class Class
	Srcs  [4]uint8 // registers read, NoReg in unused places
	Dsts  [2]uint8 // registers written
	Addrs [2]uint8 // registers that the address of its load or store is made of
	Load  bool
	Store bool
}

// drains reports whether the instruction waits for all before it.
func (in *Instr) drains() bool { return in.Class == ClassSerial || in.Class == ClassAtomic }

// Access is one data access of a block. The trace gives its address.
type Access struct {
	Instr uint16 // index of the instruction in the block
	Size  uint16 // bytes; 0: the access does not reach memory (prefetch)
	Read  bool
	Write bool // with Read: a read-modify-write, which is one access
	Lock  bool
	Rep   bool // repeated: a second word in the trace says how often
}

// End says how a block ends, as far as prediction cares.
type End uint8

// The ways a block ends.
const (
	EndPlain End = iota
	EndCond      // conditional: the successor tells whether it was taken
	EndIndirect
	EndCall
	EndReturn
)

// Block is the static description of a basic block.
type Block struct {
	Addr     uint64
	Size     uint32
	Fall     uint64 // address after the block: the fall-through of a conditional branch
	Instrs   []Instr
	PCs      []uint64 // address of each instruction
	Accesses []Access
	End      End
}

// A trace is a sequence of words. A block that was entered has one: its number, and how often it
// was entered again at once. The accesses of the last time follow, as far as they were recorded
// (see filter): a word with the address and the number of the access in the block; then, for each
// line that it touches, a word with the line used last in the same set before, as the filter had
// it. A repeated access has how often it was done instead. The first word of an access has its
// highest bit clear, the second one its lowest bit set, so that the last word of a trace tells
// whether it is a certain block.
const (
	blockTag   = 1 << 63
	countShift = 32 // of a block's word
	indexShift = 48 // of an access's first word
)

// addressBits are the bits of user addresses.
const addressBits = 1<<47 - 1

// BlockWord encodes the entry of a block in a trace.
func BlockWord(id BlockID) uint64 { return blockTag | uint64(uint32(id))<<1 }

// AccessWords encodes an access of size bytes that is recorded though nothing is known of the lines
// used before: number index of its block.
func AccessWords(index int, addr, size uint64) []uint64 {
	words := []uint64{uint64(index)<<indexShift | addr}
	for range orders(addr, size) {
		words = append(words, noLine|1)
	}
	return words
}

// RepeatWords encodes a repeated access.
func RepeatWords(index int, addr, count uint64) []uint64 {
	return []uint64{uint64(index)<<indexShift | addr, count<<1 | 1}
}

// orders is the number of words behind the first one of an access: one for each of the lines of 64
// bytes that it begins and ends in.
func orders(addr, size uint64) int {
	if (addr^(addr+size-1))>>filterShift != 0 {
		return 2
	}
	return 1
}
