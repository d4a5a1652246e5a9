// Package mpi follows one process of an MPI program through the calls in which it meets others:
// which communicator each is about, by a word that is the same in all ranks, the how manieth of its
// collective operations it is, and who waits for whom in it (this file); which messages it sends
// and takes (message.go). A communicator's handle is a process's own; what all ranks agree on is
// the order of collective operations, so that a new communicator is named by the one it was made
// from, the number of the operation that made it, and its colour. It imports profile and known
// only; it knows no processor and no collector.
package mpi

import (
	"fmt"
	"strings"

	"lime/internal/collect/known"
	"lime/internal/profile"
)

// Process is what is asked of the process that is followed.
type Process interface {
	// Argument is the nth argument of the call that begins, from 0.
	Argument(n int) uint64
	// Word reads a word of so many bytes, 4 or 8, from its memory.
	Word(addr uint64, size int) (uint64, bool)
	// Variable names the program's variable that begins at an address; "" if none does.
	Variable(addr uint64) string
}

// Comms are the communicators of one process.
type Comms struct {
	world    *comm
	own      map[string]*comm // of functions that the user declares, by their names
	known    map[uint64]*comm
	requests map[uint64]*started
	letters  map[profile.Message]uint64 // how many messages there were of each kind, by one without a number
	wide     bool                       // handles are addresses (Open MPI), and not numbers of 32 bits (MPICH)
	told     bool                       // wide is known
	by       Requests
}

// comm is a communicator, or a window.
type comm struct {
	word string  // "" = none but this process has it, or it is not known
	next uint64  // how many collective operations it has had
	rank int64   // the process's number in it, -1 = not known
	self bool    // nobody else is in it
	dims []int64 // of a grid: its sizes
}

// started is an operation that goes on beside the program: a collective one, or a message.
type started struct {
	meeting profile.Meeting
	at      uint64
	letter  *letter
}

// Call is one call of a function of the table.
type Call struct {
	Role    known.Role
	Meets   bool // it ends a section: a meeting of processes
	Waits   bool // it waits for another process, and ends no section
	Meeting profile.Meeting
	Who     profile.MeetRole
	Early   uint64        // how long ago the process had done its share
	Mail    *profile.Mail // it meets others by messages, and not in a collective operation
	Polls   bool          // it asks for another process, and does not wait: who asks again and again does
	Found   bool          // a poll: at its return it has found the mail

	comm *comm
	out  uint64 // where the result is put
	word string // of the communicator that is made
	dims []int64

	letter *letter
	done   func(c *Comms, call *Call, p Process) // at the return
}

// Requests says by what requests are known: by their values, or by the variables that hold them.
type Requests bool

// The ways to know them.
const (
	ByValue    Requests = false
	ByVariable Requests = true
)

// New begins with a process.
func New(by Requests) *Comms {
	return &Comms{by: by, world: &comm{word: "world", rank: -1}, known: map[uint64]*comm{}, requests: map[uint64]*started{},
		letters: map[profile.Message]uint64{}}
}

// Handles of MPICH and what has its ABI (mpi.h): MPI_COMM_WORLD and MPI_COMM_SELF.
const (
	mpichWorld = 0x44000000
	mpichSelf  = 0x44000001
)

// find finds the communicator of a handle.
func (c *Comms) find(p Process, handle uint64) *comm {
	if !c.told {
		low := uint32(handle)
		c.told, c.wide = true, low != mpichWorld && low != mpichSelf
	}
	if !c.wide {
		handle = uint64(uint32(handle))
	}
	if x := c.known[handle]; x != nil {
		return x
	}
	x := &comm{rank: -1}
	switch name := p.Variable(handle); {
	case c.wide && name == "ompi_mpi_comm_world", !c.wide && handle == mpichWorld:
		x = c.world
	case c.wide && name == "ompi_mpi_comm_self", !c.wide && handle == mpichSelf:
		x.rank, x.self = 0, true
	}
	c.known[handle] = x
	return x
}

// size is that of a handle in memory.
func (c *Comms) size() int {
	if c.wide {
		return 8
	}
	return 4
}

// Enter takes the beginning of a call, at a time of the process's clock.
func (c *Comms) Enter(f *known.Func, p Process, at uint64) Call {
	call := Call{Role: f.Role}
	switch f.Role {
	case known.Message:
		call.Waits = true
		return call
	case known.MeetFinish:
		return c.finish(f, p, at)
	}
	if enter := messages()[f.Role]; enter != nil {
		enter(c, &call, f, p)
		return call
	}
	call.comm = c.world
	if f.Role == known.MeetDeclared {
		call.comm = c.declared(f.Name)
	}
	if f.Object != known.None {
		call.comm = c.find(p, p.Argument(f.Object))
	}
	if f.Role == known.MeetAsk {
		call.out = p.Argument(f.Second)
		return call
	}
	call.Meeting = call.comm.meet()
	call.Meets = f.Role != known.MeetStart && !call.comm.self
	switch f.Role {
	case known.MeetFrom:
		call.Who = call.comm.role(int64(int32(p.Argument(f.Second))), profile.MeetFeeds, profile.MeetWaits)
	case known.MeetTo:
		call.Who = call.comm.role(int64(int32(p.Argument(f.Second))), profile.MeetWaits, profile.MeetFeeds)
	case known.MeetStart:
		call.out, call.Early = p.Argument(f.Second), at
	case known.MeetNew, known.MeetDup, known.MeetSplit, known.MeetGrid, known.MeetRows:
		call.out, call.word = p.Argument(f.Second), call.comm.child(call.Meeting.N)
		c.coloured(&call, f, p)
	}
	return call
}

// coloured tells apart the communicators that one call makes in different ranks.
func (c *Comms) coloured(call *Call, f *known.Func, p Process) {
	switch {
	case call.word == "":
	case f.Role == known.MeetSplit:
		call.word += fmt.Sprintf(":%d", int32(p.Argument(int(f.Constant))))
	case f.Role == known.MeetGrid:
		call.dims = numbers(p, p.Argument(f.Object+2), p.Argument(f.Object+1))
	case f.Role == known.MeetRows:
		call.word += call.comm.row(numbers(p, p.Argument(f.Object+1), uint64(len(call.comm.dims))))
	}
}

// numbers reads so many of the program's numbers; none if they cannot be read.
func numbers(p Process, at, n uint64) (list []int64) {
	const most = 16 // dimensions of a grid: programs have two or three
	for i := range min(uint64(uint32(n)), most) {
		x, ok := p.Word(at+4*i, 4)
		if !ok {
			return nil
		}
		list = append(list, int64(int32(x)))
	}
	return list
}

// row is the colour of a grid's part that keeps these dimensions: the process's place in the others
// (MPI 4.0, 8.2: ranks of a grid are numbered by rows). Where its number is not known, nothing is
// claimed.
func (x *comm) row(keep []int64) string {
	if x.rank < 0 || len(keep) == 0 || len(keep) != len(x.dims) {
		return "?"
	}
	colour, rest := "", x.rank
	for i := len(keep) - 1; i >= 0; i-- {
		size := max(x.dims[i], 1)
		if keep[i] == 0 {
			colour += fmt.Sprintf(":%d", rest%size)
		}
		rest /= size
	}
	return colour
}

// declared is what stands for the communicator of a library of its own.
func (c *Comms) declared(name string) *comm {
	if c.own == nil {
		c.own = map[string]*comm{}
	}
	if c.own[name] == nil {
		c.own[name] = &comm{word: "section-end:" + name, rank: -1}
	}
	return c.own[name]
}

// meet numbers the next collective operation. Of a communicator that is not known nothing can be
// said.
func (x *comm) meet() profile.Meeting {
	m := profile.Meeting{Communicator: x.word, N: x.next}
	x.next++
	return m
}

func (x *comm) child(n uint64) string {
	if x.word == "" {
		return ""
	}
	return fmt.Sprintf("%s/%d", x.word, n)
}

// role is the root's, or that of the others; if it is not known which of them the process is, it
// waits for all.
func (x *comm) role(root int64, rooted, others profile.MeetRole) profile.MeetRole {
	switch {
	case x.rank < 0:
		return profile.MeetAll
	case x.rank == root:
		return rooted
	}
	return others
}

// finish is the wait for requests: the last started collective operation among them, or messages.
func (c *Comms) finish(f *known.Func, p Process, at uint64) Call {
	call := Call{Role: f.Role, Waits: true}
	array, n := p.Argument(f.Object), uint64(1)
	if f.Second != known.None {
		n = uint64(uint32(p.Argument(f.Second)))
	}
	const most = 1 << 12 // requests that are looked at: none of more than these is a collective operation's
	for i := range min(n, most) {
		handle, ok := p.Word(array+i*uint64(c.size()), c.size())
		s := c.requests[handle]
		if !ok || s == nil {
			continue
		}
		if s.letter != nil {
			c.take(&call, s.letter, p, handle)
			continue
		}
		delete(c.requests, handle)
		if !call.Meets || s.at+call.Early > at {
			call.Meeting, call.Early = s.meeting, at-min(s.at, at)
		}
		call.Meets, call.Waits, call.Mail = true, false, nil
	}
	if call.Mail != nil {
		call.Meets, call.Waits = true, false
	}
	return call
}

// Leave takes the call's return.
func (c *Comms) Leave(call *Call, p Process) {
	if call.done != nil {
		call.done(c, call, p)
	}
	switch call.Role {
	case known.MeetAsk:
		if n, ok := p.Word(call.out, 4); ok {
			call.comm.rank = int64(int32(n))
		}
	case known.MeetStart:
		if handle, ok := p.Word(call.out, c.size()); ok && call.Meeting.Communicator != "" {
			c.requests[handle] = &started{meeting: call.Meeting, at: call.Early}
		}
	case known.MeetNew, known.MeetDup, known.MeetSplit, known.MeetGrid, known.MeetRows:
		if handle, ok := p.Word(call.out, c.size()); ok {
			x := &comm{word: call.word, rank: -1, self: call.comm.self, dims: call.dims}
			if strings.HasSuffix(x.word, "?") {
				x.word = ""
			}
			if call.Role == known.MeetDup || call.Role == known.MeetGrid {
				x.rank = call.comm.rank
			}
			c.known[handle] = x
		}
	}
}

// Kind is what ends an instance, of which the recogniser of sections says what it says.
func Kind(kind profile.SectionKind, meeting any) profile.SectionKind {
	if call, ok := meeting.(*Call); ok && call.Mail != nil {
		return profile.SectionMessage
	}
	return kind
}

// Write says in an instance, whose only part is the process's, which meeting it ends with: a *Call,
// or nil.
func Write(in *profile.Instance, meeting any) {
	call, ok := meeting.(*Call)
	if !ok || len(in.Parts) != 1 {
		return
	}
	in.Meeting = &call.Meeting
	if call.Mail != nil {
		in.Meeting = call.Mail.Meeting()
	}
	p := &in.Parts[0]
	p.Meets, p.Early = call.Who, min(call.Early, p.Arrive)
}
