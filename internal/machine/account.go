package machine

// Event is one kind of event at one instruction of one block.
type Event struct {
	Site
	Kind Kind
}

// Account collects what one thread did between two drains: cycles per block, and per
// event how often and for how many cycles. Its tables grow with the blocks and events that the
// machine has seen, never with time.
type Account struct {
	times      []uint64 // by BlockID
	touched    []BlockID
	counts     []uint64 // by event
	costs      []uint64
	hit        []int32
	totalTimes uint64
}

// Time returns the cycles accounted since the last drain.
func (a *Account) Time() uint64 { return a.totalTimes }

// room makes room for the times of n blocks.
func (a *Account) room(n int) {
	if n > len(a.times) {
		a.times = append(a.times, make([]uint64, n+n/2-len(a.times))...)
	}
}

// addTime needs room for the block.
func (a *Account) addTime(b BlockID, cycles uint64) {
	if a.times[b] == 0 && cycles != 0 {
		a.touched = append(a.touched, b)
	}
	a.times[b] += cycles
	a.totalTimes += cycles
}

func (a *Account) addEvent(e int32, n, cost uint64) {
	if int(e) >= len(a.counts) {
		grow := make([]uint64, int(e)+1+len(a.counts)/2-len(a.counts))
		a.counts = append(a.counts, grow...)
		a.costs = append(a.costs, grow...)
	}
	if a.counts[e] == 0 && a.costs[e] == 0 {
		a.hit = append(a.hit, e)
	}
	a.counts[e] += n
	a.costs[e] += cost
}

// Drain hands out everything that is not nil, in no particular order, and forgets it.
func (a *Account) Drain(time func(BlockID, uint64), event func(id int32, n, cost uint64)) {
	for _, b := range a.touched {
		time(b, a.times[b])
		a.times[b] = 0
	}
	for _, e := range a.hit {
		event(e, a.counts[e], a.costs[e])
		a.counts[e], a.costs[e] = 0, 0
	}
	a.touched, a.hit, a.totalTimes = a.touched[:0], a.hit[:0], 0
}
