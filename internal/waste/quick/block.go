package quick

import "lime/internal/waste"

// Op is an access of a block. In the log it leaves its address and, of what it stores, words of
// what was there before and as many of what is there after.
type Op struct {
	Store  bool
	Part   bool // the load of an instruction that then stores: that is the next op, with the same address and context
	Elem   waste.Elem
	Bytes  int32
	Values int32 // words of each; 0: none are logged, and it counts as a change
}

// words is how many words the access leaves.
func (o *Op) words() int {
	if o.Part {
		return 0
	}
	return 1 + 2*int(o.Values)
}

func (o *Op) contexts() int {
	if o.Part {
		return 0
	}
	return 1
}

// Tail is what a block does behind its ops.
type Tail uint8

// The tails.
const (
	Nothing Tail = iota
	Call         // pushes a return address; the log has where
	Return       // pops one
	Other        // what the code knows nothing of: the rest of the block's words
)

// Block is what a block leaves in the log behind its own word.
type Block struct {
	Ops      []Op
	Tail     Tail
	Contexts int // of the ops
	words    int // of the ops
	loaded   int32
	stored   int32
}

// NewBlock sums up accesses.
func NewBlock(ops []Op, tail Tail) Block {
	b := Block{Ops: ops, Tail: tail}
	for k := range ops {
		o := &ops[k]
		if o.Store {
			b.stored += o.Bytes
		} else {
			b.loaded += o.Bytes
		}
		b.words += o.words()
		b.Contexts += o.contexts()
	}
	return b
}

// size is the words of a passage, its own included, but for those of other tails.
func (b *Block) size() int {
	n := 1 + b.words
	if b.Tail == Call || b.Tail == Return {
		n++
	}
	return n
}
