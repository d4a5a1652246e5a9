package quick

// Frame is an open call.
type Frame struct {
	At   uint64 // of the return address
	Path uint64 // of the caller
}

// Stack is the open calls of a thread, and the call path on which it is. The innermost call is the
// last; the first is none, and stands above all addresses.
type Stack struct {
	Path   uint64
	frames []Frame
}

// NewStack is that of a thread that nobody has called.
func NewStack(path uint64) Stack {
	return Stack{Path: path, frames: []Frame{{At: ^uint64(0)}}}
}

// Pop leaves the calls whose return address is at or below an address.
func (s *Stack) Pop(at uint64) {
	n := len(s.frames)
	for s.frames[n-1].At <= at && n > 1 {
		n--
		s.Path = s.frames[n].Path
	}
	s.frames = s.frames[:n]
}

// Push opens a call.
func (s *Stack) Push(at uint64) {
	s.Pop(at)
	s.frames = append(s.frames, Frame{at, s.Path})
}
