package known

// What the calls of a function mean.

// Role is what calling a function means for the sections.
type Role uint8

// The roles of functions in the table. "Object" and "second" are the arguments that Func.Object and
// Func.Second name.
const (
	Barrier       Role = iota // arrives at the barrier object; the return is the leave
	TeamBarrier               // barrier of the region that the thread works in
	TeamReduce                // the same in a large team if object is set; else an atomic or critical reduction
	Join                      // waits for the end of thread object
	Create                    // creates a thread, which runs second
	Fork                      // runs the parallel region object, whose data are second
	Lock                      // takes lock object
	ReadLock                  // takes lock object with other readers
	TryLock                   // takes lock object if that needs no waiting (returns 0)
	Unlock                    // gives lock object back
	Turn                      // waits for the thread's turn
	After                     // waits until an iteration before has come so far
	CondWait                  // waits on object, lock second given back meanwhile
	CondWake                  // wakes one who waits on object
	CondWakeAll               // wakes all who wait on object
	SemWait                   // waits until object is positive, and counts it down
	SemPost                   // counts object up
	SemInit                   // object counts second from now on; the argument before that says whether other processes do, too
	Futex                     // the system call by its number: waits for a futex, or wakes who waits
	Task                      // makes a task of the function object, which is given what second points to, or a copy
	TaskObject                // makes a task of the function object, and returns what that will be given
	TaskLoop                  // runs tasks that are like the one made before, object
	Deal                      // takes the next piece of work that is dealt out to whoever comes first
	TaskWait                  // waits for tasks, and runs some meanwhile
	PoolTask                  // makes a task, an object that object points to
	PoolRun                   // waits for tasks; runs the one that object points to, if there is one
	Through                   // the thread has done what it was made for: who waits for that goes on when all have called it
	GoMade                    // makes a goroutine, and returns it
	GoIn                      // a goroutine goes on, on this thread
	GoOut                     // the goroutine leaves its thread, if there is one on it
	GoPark                    // a goroutine stands back
	GoReady                   // somebody lets it go on
	GoEnd                     // it ends
	GoC                       // it calls code in C
	GoLock                    // it waits for a lock of Go's
	GoUnlock                  // it lets one go on that waits for a lock
	GoCondWait                // it waits for a condition of Go's
	GoCondList                // it puts itself on the condition's list
	GoCondWakeAll             // it wakes all who wait for one
	GoCount                   // it counts an object up or down that others wait for
	GoAwait                   // it waits until all have counted it down
	GoSleep                   // it sleeps for as many nanoseconds as its first argument says
	Meet                      // processes meet: a collective operation of communicator object
	MeetFrom                  // the same, in which all wait for the root, second
	MeetTo                    // the same, in which the root, second, waits for all
	MeetNew                   // the same, by which a communicator is made, or a window; second points to where it is put
	MeetDup                   // the same, whose ranks have the numbers that they have in the old one
	MeetSplit                 // MeetNew, of as many communicators as there are values of the argument that Constant names
	MeetStart                 // starts a collective operation of communicator object; second points to where its request is put
	MeetFinish                // waits for requests: object points to them, second counts them, None = there is one
	MeetGrid                  // MeetDup of a grid: the arguments behind the object are how many dimensions, and their sizes
	// splits a grid, object, by the dimensions that the next argument keeps; second points to where
	// the new one is put
	MeetRows
	MeetDeclared // the user says that all processes meet in it
	MeetAsk      // asks for the process's number in communicator object; second points to where it is put
	Send         // sends a message in communicator object to the rank second, with the tag behind it
	SendAnswered // the same, and waits until somebody receives it
	Receive      // receives one from the rank second, with the tag behind it; its status stands behind the object
	SendReceive  // does both; Constant is the number of the argument that says from whom
	SendStart    // Send, with a request behind the object
	ReceiveStart // Receive, with a request behind the object
	SendLater    // makes a request, behind the object, which Restart turns into SendStart's
	ReceiveLater // the same of ReceiveStart's
	Restart      // starts requests: object points to them, second counts them, None = there is one
	Look         // waits until there is a message to receive, and leaves it
	FinishOne    // waits for one of the requests that object points to and second counts; where its index is put comes next
	Poll         // asks whether requests are done, as MeetFinish has them; Constant is the argument that points to the answer
	PollOne      // the same of any of them; the answer is an index, and a flag stands behind it
	Message      // waits for another process, and does not say for what: for a message, or for its memory

	// Roles of what is found while the program runs: no row of the table has them.
	SectionEnd // declared by the user
	Gate       // code of the program's own that turned out to be a barrier
	RegionBody // body of a parallel region: known when one is forked
	TaskBody   // function of a task: known when one is made
	TaskCopy   // where a copy is made of what a task is given
	Roles
)

// Made reports whether a role is of what is found while the program runs, and not of rows of the
// table.
func (r Role) Made() bool { return r >= SectionEnd && r < Roles }

// How is how a collector sees the calls of a function.
type How uint8

// The ways to see a call, or none.
const (
	Undecided   How = iota // no row has it
	AtCall                 // the call
	AtBoth                 // the call and its return
	IfSlow                 // the return, of calls that took long; of what makes tasks, the ends of those that did
	IfContended            // the call, if others wait for what it gives back
	Otherwise              // not watched, and nothing is lost: Func.Why says what tells the same
	Unseen                 // not watched, and Func.Why says what is lost, or why it cannot be
)

// Watched reports whether there is something at the function that sees its calls.
func (h How) Watched() bool { return h >= AtCall && h <= IfContended }
