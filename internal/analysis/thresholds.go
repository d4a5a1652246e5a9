// The thresholds of the analysis of exact profiles, each with its unit and its reason.
// TestThresholds in workloads moves each by a quarter, and tells the programs whose answers hang on
// it. Those of sampled profiles stand with the code that estimates.
package analysis

// Of the account's rows, as shares of the imbalance.
const (
	// importantShare is the share from which a line is told at once: mended, the section loses a
	// twentieth less.
	importantShare = 0.05
	// estimatedShare is the same where the account rests on estimates, which are worth less.
	estimatedShare = 0.1
	// lostShare on rows without a line: with so much unknown the account cannot refute a
	// correlation.
	lostShare = 0.25
	// maxGross is by how much the rows that add time may exceed the imbalance for shares of it to
	// say anything: beyond, what is shown is how they cancel.
	maxGross = 4.0
	// manyThreads is the number from which a correlation over the threads is no accident.
	manyThreads = 6
	// heldElsewhere is the part of what a cause is charged with that has to be there in every other
	// placement of the program's pages, for it not to be luck of where they lie.
	heldElsewhere = 0.5
	// fitting is the correlation with the threads' times from which a row that the account charges
	// has it for its score, and minScored the score of the counts below which it needs that.
	fitting   = 0.9
	minScored = 0.1
	// nestFit is the correlation of what two nested loops put on the threads from which they are
	// one decision.
	nestFit = 0.9
	// leastScore is the score below which a candidate is not worth a word.
	leastScore = 0.01
	// leastFit is the part of the variance in time that the counts of a cause of the account must
	// go with for the question to make sense which others go with it as well.
	leastFit = 0.5
)

// Of waits for one another, as shares of the threads' time.
const (
	// muchContended is the share from which a line at which threads keep one another waiting is a
	// cause.
	muchContended = 0.1
	// maxContended is how many such lines of a section are told.
	maxContended = 5
	// leastCost is the share from which a line is listed among the costs.
	leastCost = 0.02
)

// Of pieces of work that are too large.
const (
	mostOfWork  = 0.7  // of the threads' time that is spent in the loop: it is what the section does
	leastPieces = 2.0  // pieces for a thread and instance: with one, nothing is dealt out
	mostLead    = 2.0  // pieces: where they are dealt out as threads become free, the last one may be longer than the mean one
	endEffect   = 0.05 // imbalance below which nothing but smaller pieces would make a difference worth a word
	mostWaits   = 0.5  // of the imbalance in waits for locks, or for one's turn: smaller pieces would not help
	byNumber    = 0.5  // of the imbalance that the number of the pieces accounts for: most of it
	madeUp      = 2.0  // times as uneven the threads would be, had each as many pieces, if their number makes up for the price
)

// Of what a section is worth.
const (
	// worthwhile is the share of the threads' time in all parallel sections from which what one
	// section loses is worth a person's time: to mend it all would make the parallel part that much
	// faster, and two builds of one program differ by as much. The serial part is left out: a
	// program that loads for long and computes then is asked about what it computes.
	worthwhile = 0.01
	// oneEvent is the time, in instructions, cycles or ns, that a thread may be later than others for
	// nothing but the order in which they came: who comes last to a barrier wakes the others, who
	// calls a library's function first has it looked up, who finds a lock taken asks again. The
	// balanced programs of workloads/ lose 3 to 230 in each passage.
	oneEvent = 250.0
)

// Of the whole run, and of the point where the threads' ways are even again.
const (
	// HighShare is the share of the core time from which waiting or overhead counts as high.
	HighShare = 0.1
	// briefly is the share of the run below which that many threads at work together are a passing
	// overlap, such as a main thread that has not gone to sleep yet.
	briefly = 0.01
	// keeperShare is how much of what the longest of its threads does who has made them all does at
	// most if it only keeps them, where samples tell: a tenth, as section has it. Main that fills a
	// queue 400 times while each of four threads works for 190 ms takes 6 to 9 %, for calls of the kernel.
	keeperShare = 0.1
	// evenOutside is the part of the spread of the threads' times that may lie outside.
	evenOutside = 0.1
)

// Of the verdicts.
const (
	fewThreads   = 8      // fewer are weak for a correlation
	shortSection = 2000.0 // clock units of the longest thread, on average: eight times what the order of coming makes
	fewSamples   = 20.0   // for each thread and instance: their standard error is above a fifth
	muchWaiting  = 0.2    // of the threads' time in locks, or off the processor
	littleFound  = 0.5    // of the variance, or of the imbalance: the smaller part of it
	mostlySerial = 0.5    // of the run: most of it, as the word says
	soleMaker    = 0.8    // of the runtime's time in one thread: that one makes the tasks
	loneShare    = 0.9    // of a section's work in one thread: it works alone
)
