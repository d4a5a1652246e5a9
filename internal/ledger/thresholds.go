// The thresholds of the account, each with its unit and its reason. They choose where charges
// stand, never what they add up to. TestThresholds in workloads moves each by a quarter, and tells
// the programs whose answers hang on it.
package ledger

// Of rows that make up for one another.
const (
	netThreads  = 4     // with fewer threads rows are opposite by chance
	netCosine   = 0.95  // rows are opposite if the cosine of their threads is below its negative
	fewCosine   = 0.999 // the same with less than manyThreads
	manyThreads = 6     // threads
	netShare    = 0.1   // of the imbalance: smaller rows do no harm
	netGross    = 4.0   // a recursion's rows are netted if they are so many times as large as what is left of them, and as the imbalance
	netMost     = 64    // rows that are looked at: a bound on the work
)

// Of charges that are passed on to callers.
const (
	passWeight   = 0.005  // smallest charge that is looked at, of the threads' deviations
	passFit      = 0.9975 // of a charge's variance over the threads that its call sites explain: all but rounding and short ways
	passChance   = 1e-4   // that an unrelated charge fits as well: some hundred are looked at
	fewestFitted = 3      // threads
)

// maxApart is how far the odds of copies of a test may be apart. A test before a loop may always go
// the other way than the one in it; then they are not met in the same state, and each has to decide
// for itself. An arm that ends a loop more often than another one does is no such case.
const maxApart = 0.6

// partingShare is the part of a row's time that a line must lead to, to be where the ways part:
// most of it.
const partingShare = 0.5

// StretchShare is the share of a section's time from which a line of its own stands out, so that
// it is named rather than the call that leads to most of the time (hotShare): a fifth, so that a
// handful of such lines holds all of it.
const StretchShare = 0.2

// hotShare is the share of the time that a way must lead to: with more than half of it there is one
// way at most.
const hotShare = 0.5

// surplusShare is the share of the imbalance below which it is not worth knowing where the time
// goes.
const surplusShare = 0.05

// mostBroken is the share of the imbalance in breaks of the flow, both signs taken together, above
// which the counts describe no flow at all (as those of other tools may not), and the rows are
// estimates.
const mostBroken = 0.5
