package machine

// leavers remember which lines left a cache, and when they had been used last. A line that is
// missed after fewer uses of the cache than it has lines would still be there if any line could
// stand anywhere: it left because too many lines had to share its set. That is a conflict for sure
// (fewer uses are fewer lines); others may be.
type leavers struct {
	lines []uint64 // + 1
	used  []uint32
}

const mostLeavers = 1 << 16

func newLeavers(a *array) *leavers {
	if a == nil || a.policy != LRU {
		return nil
	}
	n := 1
	for n < len(a.slots) && n < mostLeavers {
		n *= 2
	}
	return &leavers{lines: make([]uint64, n), used: make([]uint32, n)}
}

func (l *leavers) slot(line uint64) int {
	return int(line * 0x9e3779b97f4a7c15 >> 32 & uint64(len(l.lines)-1))
}

// left notes that a line leaves a, which was last used at stamp.
func (l *leavers) left(line uint64, stamp uint32) {
	if l != nil {
		i := l.slot(line)
		l.lines[i], l.used[i] = line+1, stamp|inUse
	}
}

// conflict says whether a line that a does not hold left it for want of room in its set.
func (l *leavers) conflict(a *array, line uint64) bool {
	if l == nil {
		return false
	}
	i := l.slot(line)
	return l.lines[i] == line+1 && a.now >= l.used[i] && a.now-l.used[i] < uint32(len(a.slots))
}
