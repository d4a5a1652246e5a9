// Package section recognises parallel sections in a stream of synchronisation
// operations: it is told what every thread did (Op) in the order of the clock
// and answers with finished section instances. It is pure logic: it knows no
// guest, no symbols, no counters, and imports unit only.
//
// A collector cuts each thread's run at every operation that may end a section
// into pieces: a piece is what a thread did from one operation to the next, and
// carries a handle of the collector's (the drained counters). The pieces since the thread's last
// release form its open part; an operation that turns out to end no section (a
// wait for a queue, say) leaves them in the same part. The recogniser groups the parts
// that ended in the same episode (one passage of one barrier, one group of
// joins, one region end, one moment at which all wait but the one that
// releases them) into an instance.
//
// Parts nest: a thread that forks while others work beside it opens a part
// for the inner section, and its pieces count for the outer one too.
package section
