// Package spin proves that a loop waits (package busywait has the definition) for a thread that was
// followed round it: so it can be told of loops in which functions are called, or that keep what they
// count in memory, and it is known for what word of which value the thread waits. It knows no
// processor, no clock and no thread: a collector gives it the blocks that a thread goes through
// (Follower.Step) and gets a Loop, or the word that nothing is proved. It may import busywait and x86
// only.
//
// # Proof
//
// While a thread is followed nothing else runs, so memory changes by its own instructions only.
//
// Fixed: two rounds in a row that are equal in every block, in every register at the head of every
// block, and in the place and value of every load. A round is a function of the registers at its
// head and of what it loads. What it loads was either stored by nobody since, or by the round
// before, which computed what this one does; so, by induction, all further rounds are equal too,
// until somebody else changes a place that the round reads. The x87 stack takes no part, because loops
// that compute with it are turned down. That a compiler saves a vector register on the stack around a
// call decides nothing. Flags that a round reads it has computed
// from the rest.
//
// Counting: rounds differ in counters. A counter is a register or a place on the stack to which
// each round adds the same. It may be used for nothing but itself and comparisons with what stays:
// it makes no address, no store elsewhere, no value of any other kind, and no function returns by
// it. A test of a counter that went both ways while the thread was followed is no way out: both led
// back. That holds at one depth of the stack only: in a function that calls itself the same
// instruction is another test at another depth, whose other way may lead out. A test that always
// went the same way may be a way out, and then Loop.Rounds is how often the loop surely goes round
// before it can go the other way (bound.go). What was loaded from a place to which the loop stores
// stays only if it was the same in three rounds. At least one test must hang on memory and on no
// counter, and have gone the same way in three rounds.
//
// # Results
//
// What a round makes of what the one before has left of it, that does not move by the same each time,
// and that decides nothing, not even how long the thread pauses, is for later (results.go): a random
// number drawn from the last one, a sum. To compute it is work, though nobody else can see it yet, and
// such a loop is not proved to wait.
//
// # The clock
//
// A loop may read the clock: by rdtsc, or by a system call that does nothing but tell the time and
// leaves it on the thread's own stack (clock.go). What is computed from that is of the clock, if no
// counter has a part in it, and may be used as a counter may. In which registers and places it is at
// the loop's head is found by going through the rounds twice. Such a loop is left when memory changes
// or when it is time, and does the same until then: state repeats but for the clock (Loop.Clock). When
// that is cannot be told, so the thread has to look at the clock now and then. At least one test must
// hang on memory and on nothing else, in the loop's outermost function, where alone it can be left: a
// loop that only lets time pass waits for nobody.
//
// # Vector registers
//
// They are not looked at where the thread stands, so none may hold what hangs on all rounds before
// (vector.go): whatever a round computes in them it must have got from general-purpose registers and
// from memory since it began, or in the round before. A time-out in floating-point numbers is that, and
// a wait for a number in memory; a sum is not.
//
// # Imagined rounds
//
// What a loop does every so many rounds (it gives its core away, pauses, looks elsewhere, waits
// twice as long before it looks again), is behind a test of a counter that goes one way for longer
// than a thread can be followed. So the rounds in which it goes the other way are computed, not run
// (imagine.go): from where the thread stands, with what memory holds and what those rounds have
// stored themselves, three times, and each time with a round behind it in which the test goes as it
// went. If they come back to the loop's first block, they are judged together with the others, as
// if the thread had gone them, and the test is no way out. What counters hold then need not be
// what they would hold: nothing but tests depends on them, and each of these is imagined both ways.
// What stays does, and so all that hangs on memory, goes as it would. A round that cannot be told
// (a system call that does anything but wait, a store elsewhere, a jump by what is not known) does
// not come back: the test may be a way out. Where the thread waits in the system (nanosleep, a
// futex) before it looks again, the loop is left by itself only for that call, and Loop.Rounds says
// when (Loop.Sleeps): these rounds are waiting if the thread is seen to leave because memory has
// changed, or to block in that call. Where a counter decides by a conditional move what goes into
// a register, that counts as a counter then.
//
// # Locks
//
// A loop waits for a lock if its attempt is in it, or behind it (attempt.go, behind.go). For that
// the code is read, from each branch that the word decides, along all ways that the rest leaves
// open: each must come to an instruction that sets bits of that same word, or back to the loop, and
// may store nowhere else before. These bits must be constants that stand in the code, or in a
// register that held them in front of the loop while the word held the same; and they are set
// already as long as the loop goes round, because who has the lock has taken it in the same way.
// The loop must be left as soon as they are clear: who gives a lock back does no more. What is
// stored when an item is taken off a stack, a list or a ring is no constant, and while there is
// none nothing is set: to wait for one is to wait for who makes it. And who asks for a bit that it
// clears, or waits until a word holds what no thread that takes it leaves there, waits for who
// stores that. What cannot be read that far is no lock.
//
// Neither of the proofs says that the thread waits for another one: that is proved when the memory
// has changed and the thread leaves. Until then the judgement is provisional.
package spin
