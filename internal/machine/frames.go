package machine

// frames gives pages frames: where in the modelled memory each virtual page lies. What is indexed
// by physical address looks at it: all levels behind the first, the directory, memory channels and
// nodes. A page gets its frame when it is first missed on, and keeps it.
//
// A kernel's free lists are in no order that a program could know: of the caches' page-sized pieces
// (colours), each frame falls into one as if by dice. The dice are a hash of seed and page, so that
// a run is repeatable, a page lies where it lay when other pages come in another order (a run with
// misses erased), and another seed is another boot of the machine.
type frames struct {
	shift uint // log2 of the lines in a page
	seed  uint64
	// near holds leaves used last, by a hash of their number.
	near   [nearLeaves]leaf
	leaves map[uint64]*[leafPages]uint64
	pages  []uint64 // by frame, as they were given out, from 1: the page in it
	home   []int32  // and its memory node, -1 if none has missed on it yet
}

// leaf is where leafPages pages begin in memory, as lines; 0: nowhere yet.
type leaf struct {
	number uint64 // of the leaf, + 1
	starts *[leafPages]uint64
}

const (
	leafBits   = 9 // 2 MB of small pages
	leafPages  = 1 << leafBits
	nearBits   = 8
	nearLeaves = 1 << nearBits
	// A frame's number is that in the order of first touch, with its colour below: 16 MB of small
	// pages a way.
	colourBits = 12
)

func newFrames(shift uint, seed uint64) *frames {
	return &frames{shift: shift, seed: seed, leaves: map[uint64]*[leafPages]uint64{}, pages: make([]uint64, 1), home: make([]int32, 1)}
}

// line is the number of a line in memory, given that of its virtual address.
func (f *frames) line(virtual uint64) uint64 {
	page := virtual >> f.shift
	l := &f.near[page>>leafBits*0x9e3779b97f4a7c15>>(64-nearBits)]
	if l.number != page>>leafBits+1 {
		f.fetch(l, page>>leafBits)
	}
	start := l.starts[page%leafPages]
	if start == 0 {
		start = f.touch(page)
		l.starts[page%leafPages] = start
	}
	return start + virtual&(1<<f.shift-1)
}

// fetch makes a leaf one of those used last.
func (f *frames) fetch(l *leaf, number uint64) {
	all := f.leaves[number]
	if all == nil {
		all = new([leafPages]uint64)
		f.leaves[number] = all
	}
	*l = leaf{number + 1, all}
}

// touch gives a page a frame, and returns its first line.
func (f *frames) touch(page uint64) uint64 {
	number := uint64(len(f.pages))
	f.pages, f.home = append(f.pages, page), append(f.home, -1)
	return (number<<colourBits | colour(page, f.seed)) << f.shift
}

// colour throws the dice for a page (Steele, Lea, Flood: Fast splittable pseudorandom number
// generators, 2014).
func colour(page, seed uint64) uint64 {
	x := (page+1)*0x9e3779b97f4a7c15 ^ seed*0xd1342543de82ef95
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return (x ^ x>>31) >> (64 - colourBits)
}

// virtual is the virtual line that a line of memory holds.
func (f *frames) virtual(line uint64) uint64 {
	return f.pages[line>>f.shift>>colourBits]<<f.shift | line&(1<<f.shift-1)
}

// node is the memory node of a line: that of the core which misses on its page first.
func (f *frames) node(line uint64, misses int32) int32 {
	n := line >> f.shift >> colourBits
	if f.home[n] < 0 {
		f.home[n] = misses
	}
	return f.home[n]
}
