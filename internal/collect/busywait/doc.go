// Package busywait says what it means that a loop waits, and proves it of a loop of machine code from
// the code alone: whoever goes round in it waits for others. A collector gives it the blocks of a
// function (Cut, Function) and gets the loops that wait. What the code leaves open, package spin proves
// for a thread that is followed; what both ask of instructions stands here (insts.go).
//
// It imports graph and x86 only.
//
// # Definition
//
// A thread waits in a loop if, going round, its state repeats but for counters that decide nothing
// about leaving, and if it can leave when memory changes that the loop does not change.
//
// It waits for a lock if it takes the word that it looks at as soon as it finds that free: by an atomic
// instruction (Tries) that puts something there that is not nil, and takes nothing out of it that
// others have put there. Who waits for anything else waits for others' work.
//
// # Proof
//
// A round is a function of what registers, flags and the frame's slots hold at the loop's head, and
// of what it loads. Every value in the loop has the set of these places that it depends on
// (value.go, step.go). Where control flow joins and the values differ, the branches within the loop
// have chosen, so what those depend on is added. A place holds the same in every round if the round
// leaves it alone, or puts there what depends on such places only; what is left varies (rounds.go).
//
// The loop waits if
//   - it stores nowhere but into slots of its own frame, and calls nothing but what waits or tells
//     the time;
//   - what varies are counters: each is made of itself by adding constants, shifting and masking.
//     A sum of what was loaded, a product, a list's next element is none;
//   - no address depends on what varies: who looks elsewhere each time searches;
//   - a branch that leaves it depends on memory, and on nothing that varies. Other branches may end
//     it after so many rounds.
//
// An atomic instruction that puts the same into a word each time round (xchg, cmpxchg, bts) leaves
// the word as it is where it fails. Such a loop waits too, and for a lock (Verdict.Takes), unless
// what it puts there is zero or what it expects there is not: who swaps zero in takes out what
// somebody has made. A cmpxchg that expects what was loaded before fails only if others get on, and so
// does an attempt at a word that was found to be zero on the way there (words.go): there has to be a way
// round without it.
//
// What a call tells of the time varies by itself. Where it stores that, which must be a place of the
// frame (clock.go), and what register leads there from in front of the loop, is followed through the
// function; whatever is read there varies, too. So a loop that looks at memory and at the clock waits
// with a time-out, and one that only lets time pass has no way out that memory decides.
//
// What is taken for granted is that nobody else changes a slot of the frame to which the loop stores,
// and that the loop reads it as what it is: compilers keep there what they have no register for.
package busywait
