// Messages between two processes. Which one a receive takes is laid down by the standard (MPI 4.0,
// 3.5): of those with the same communicator, sender, receiver and tag the first that was sent goes
// to the first receive that was posted. So both sides number theirs alike.

package mpi

import (
	"lime/internal/collect/known"
	"lime/internal/profile"
)

// letter is a message as one side knows it.
type letter struct {
	of     profile.Message // without its number
	number uint64
	comm   *comm
	taken  bool   // this side receives it
	later  bool   // a request that has to be started, and starts anew each time
	open   bool   // posted, and not finished
	status uint64 // where the receive puts whom it is from, if that was left open
}

// The words of MPI that name no rank, and no tag. Open MPI has MPI_ANY_SOURCE = -1, MPICH -2.
const anyTag = -1

func (c *Comms) anySource() int64 {
	if c.wide {
		return -1
	}
	return -2
}

// messages are what is done at the calls of each role.
func messages() map[known.Role]func(*Comms, *Call, *known.Func, Process) {
	return map[known.Role]func(*Comms, *Call, *known.Func, Process){
		known.Send: (*Comms).enterSend, known.SendAnswered: (*Comms).enterSend, known.SendStart: (*Comms).enterSend,
		known.Receive: (*Comms).enterReceive, known.Look: (*Comms).enterReceive,
		known.ReceiveStart: (*Comms).enterReceiveStart, known.SendReceive: (*Comms).enterBoth,
		known.SendLater: (*Comms).enterLater, known.ReceiveLater: (*Comms).enterLater,
		known.Restart: (*Comms).enterRestart, known.FinishOne: (*Comms).enterFinishOne,
		known.Poll: (*Comms).enterPoll, known.PollOne: (*Comms).enterPoll,
	}
}

// letter reads from the arguments whom a message is for, or from; nil if it is for nobody, or that
// cannot be told.
func (c *Comms) letter(f *known.Func, peer int, taken bool, p Process) *letter {
	x := c.find(p, p.Argument(f.Object))
	other, tag := int64(int32(p.Argument(peer))), int64(int32(p.Argument(peer+1)))
	l := &letter{comm: x, taken: taken}
	l.of = profile.Message{Communicator: x.word, From: x.rank, To: other, Tag: tag}
	if taken {
		l.of.From, l.of.To = other, x.rank
	}
	switch {
	case x.word == "" || x.rank < 0:
		return nil
	case taken && (other == c.anySource() || tag == anyTag):
		const none, noneToo = 0, 1 // MPI_STATUS_IGNORE of Open MPI, and of MPICH
		if l.status = p.Argument(f.Object + 1); l.status == none || l.status == noneToo {
			return nil
		}
	case other < 0:
		return nil
	}
	return l
}

// numbered is the message with its number.
func (c *Comms) numbered(l *letter) profile.Message {
	m := l.of
	m.N = l.number
	return m
}

// post gives the letter its number.
func (c *Comms) post(l *letter) {
	key := l.of
	l.number, l.open = c.letters[key], true
	c.letters[key]++
}

// mail is that of the call.
func (call *Call) mail() *profile.Mail {
	call.Meets, call.Waits = true, false
	if call.Mail == nil {
		call.Mail = &profile.Mail{}
	}
	return call.Mail
}

func (c *Comms) enterSend(call *Call, f *known.Func, p Process) {
	l := c.letter(f, f.Second, false, p)
	if l == nil {
		call.Waits = f.Role != known.SendStart
		return
	}
	c.post(l)
	m := call.mail()
	m.Sent, m.Answered = append(m.Sent, c.numbered(l)), f.Role == known.SendAnswered
}

// enterReceive waits for a message. From whom it came may be known only when it is there.
func (c *Comms) enterReceive(call *Call, f *known.Func, p Process) {
	call.letter = c.letter(f, f.Second, true, p)
	c.receive(call, f.Role != known.Look)
}

func (c *Comms) receive(call *Call, takes bool) {
	l := call.letter
	switch {
	case l == nil:
		call.Waits = call.Mail == nil
	case l.status != 0:
		call.mail()
		call.done = func(c *Comms, call *Call, p Process) {
			if l.named(c, p) {
				c.receive(call, takes)
			}
		}
	default:
		c.post(l)
		m := call.mail()
		m.Taken = append(m.Taken, c.numbered(l))
		if !takes {
			c.letters[l.of]--
		}
	}
}

// named reads from the status whom the message was from.
func (l *letter) named(c *Comms, p Process) bool {
	at := l.status
	if !c.wide {
		at += 8 // MPICH's MPI_Status begins with two numbers of its own
	}
	from, ok := p.Word(at, 4)
	tag, also := p.Word(at+4, 4)
	l.of.From, l.of.Tag, l.status = int64(int32(from)), int64(int32(tag)), 0
	return ok && also && l.of.From >= 0
}

func (c *Comms) enterBoth(call *Call, f *known.Func, p Process) {
	c.enterSend(call, f, p)
	call.letter = c.letter(f, int(f.Constant), true, p)
	c.receive(call, true)
}

// start notes what the request is about, when it is known which one it is.
func (c *Comms) start(call *Call, f *known.Func, l *letter, p Process) {
	out := p.Argument(f.Object + 1)
	if !l.later {
		c.post(l)
	}
	call.done = func(c *Comms, call *Call, p Process) {
		handle, ok := p.Word(out, c.size())
		switch old := c.requests[handle]; {
		case !ok:
		case c.by == ByVariable && old != nil && (old.letter == nil || old.letter.open):
			c.requests[handle] = nil // one variable for two requests: which is waited for is not known
		default:
			c.requests[handle] = &started{letter: l}
		}
	}
}

// enterReceiveStart posts a receive. One that takes from anybody is numbered when it is known from
// whom: that is too late where others were posted behind it, and the numbers then do not fit.
func (c *Comms) enterReceiveStart(call *Call, f *known.Func, p Process) {
	l := c.letter(f, f.Second, true, p)
	if l == nil || l.status != 0 {
		return
	}
	c.start(call, f, l, p)
}

func (c *Comms) enterLater(call *Call, f *known.Func, p Process) {
	l := c.letter(f, f.Second, f.Role == known.ReceiveLater, p)
	if l == nil || l.status != 0 {
		return
	}
	l.later = true
	c.start(call, f, l, p)
}

// array are the requests that the call is about.
func (c *Comms) array(f *known.Func, p Process) (handles []uint64) {
	if f.Object == known.None {
		return nil
	}
	at, n := p.Argument(f.Object), uint64(1)
	if f.Second != known.None {
		n = uint64(uint32(p.Argument(f.Second)))
	}
	for i := range min(n, mostRequests) {
		handle, _ := p.Word(at+i*uint64(c.size()), c.size())
		handles = append(handles, handle)
	}
	return handles
}

// mostRequests are looked at in one call: a list of more is taken for a number that is none.
const mostRequests = 1 << 12

func (c *Comms) enterRestart(call *Call, f *known.Func, p Process) {
	for _, handle := range c.array(f, p) {
		s := c.requests[handle]
		if s == nil || s.letter == nil {
			continue
		}
		c.post(s.letter)
		if !s.letter.taken {
			m := call.mail()
			m.Sent = append(m.Sent, c.numbered(s.letter))
		}
	}
}

// take finishes a request: what was received is taken from here on.
func (c *Comms) take(call *Call, l *letter, p Process, handle uint64) {
	if l.open && l.taken {
		m := call.mail()
		m.Taken = append(m.Taken, c.numbered(l))
	}
	l.open = false
	if !l.later {
		delete(c.requests, handle)
	}
}

func (c *Comms) enterFinishOne(call *Call, f *known.Func, p Process) {
	handles, index := c.array(f, p), p.Argument(f.Object+1)
	call.mail()
	call.done = func(c *Comms, call *Call, p Process) { c.takeOne(call, handles, index, p) }
}

func (c *Comms) takeOne(call *Call, handles []uint64, index uint64, p Process) {
	i, ok := p.Word(index, 4)
	if !ok || int(i) >= len(handles) {
		return
	}
	if s := c.requests[handles[i]]; s != nil && s.letter != nil {
		c.take(call, s.letter, p, handles[i])
	}
}

// enterPoll asks, and does not wait: but who asks again and again does nothing else, so that what
// it finds is what it has waited for.
func (c *Comms) enterPoll(call *Call, f *known.Func, p Process) {
	handles, answer := c.array(f, p), p.Argument(int(f.Constant))
	call.Waits, call.Polls = true, true
	call.done = func(c *Comms, call *Call, p Process) {
		if f.Role == known.PollOne {
			c.takeOne(call, handles, answer, p)
		} else if yes, ok := p.Word(answer, 4); ok && yes != 0 {
			for _, handle := range handles {
				if s := c.requests[handle]; s != nil && s.letter != nil {
					c.take(call, s.letter, p, handle)
				}
			}
		}
		call.Found, call.Meets, call.Waits = call.Mail != nil, false, true
	}
}
