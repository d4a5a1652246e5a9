package machine

// loops is a loop predictor, as goes beside TAGE in L-TAGE (Seznec, "A 256 Kbits L-TAGE branch
// predictor", 2007): a branch that went the same way equally often before it went the other way,
// several times in a row, is expected to do so again. Where it is sure, TAGE is neither asked nor
// taught. A passage of many rounds is one step for it.
type loops struct {
	entries [loopEntries]loopEntry
}

const (
	loopEntries = 256
	loopSure    = 3       // rounds of equal length before it is sure
	loopLongest = 1 << 20 // rounds
)

// loopEntry is one branch.
type loopEntry struct {
	pc    uint64
	trip  uint32 // how often it went its usual way the last time
	done  uint32 // and how often this time
	sure  uint8
	usual bool // taken
}

func (l *loops) of(pc uint64) *loopEntry { return &l.entries[(pc^pc>>8)%loopEntries] }

// knows reports whether the entry is sure of the branch.
func (e *loopEntry) knows(pc uint64) bool { return e.pc == pc && e.sure >= loopSure }

// step predicts and learns a branch that the entry is sure of.
func (e *loopEntry) step(taken bool) (right bool) {
	predicted := e.usual == (e.done < e.trip)
	if predicted != taken {
		e.sure = 0
	}
	e.learn(taken)
	return predicted == taken
}

// learn follows the branch.
func (e *loopEntry) learn(taken bool) {
	switch {
	case taken == e.usual:
		if e.done++; e.done >= loopLongest {
			*e = loopEntry{}
		}
	case e.done == 0: // twice in a row: that is no loop, or its usual way is the other one
		*e = loopEntry{}
	case e.done == e.trip:
		e.done, e.sure = 0, min(e.sure+1, loopSure)
	default:
		e.trip, e.done, e.sure = e.done, 0, 0
	}
}

// follow is learn, if the entry is the branch's, for one that goes the same way up to n times: it
// returns for how many of them that is only to count.
func (e *loopEntry) follow(pc uint64, taken bool, n uint64) uint64 {
	switch {
	case e.pc != pc:
		return n
	case e.usual != taken:
		return 0
	}
	n = min(n, uint64(loopLongest-1-e.done))
	e.done += uint32(n)
	return n
}

// adopt gives a branch that TAGE has got wrong the entry, unless another one still deserves it.
func (e *loopEntry) adopt(pc uint64, taken bool) {
	if e.sure > 0 {
		e.sure--
		return
	}
	*e = loopEntry{pc: pc, usual: !taken}
}
