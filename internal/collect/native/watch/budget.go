package watch

import "math"

// Which ticks lead to a sample, so that the search costs no more than it may.

// firstCost is what a sample is taken to cost, in seconds, before any was taken; it counts like one
// sample among those that were.
const firstCost = 400e-6

// leastPace is how far the pace is slowed down, at most, while more was spent than may be.
const leastPace = 0.1

// budget says how likely a tick is to be looked at: by what samples have cost so far, whatever the
// program does now. Were ticks passed over whenever the last samples had been dear, those of dear
// places (code that is new, many threads) would count for too little, and a program's first tick,
// before which nothing was spent, for too much.
type budget struct {
	share   float64 // of the program's running time that may be spent
	samples int
}

// chance is that of a tick that comes after so many seconds of the program's running time, period
// seconds after the last one, with so many spent. What is looked at stands for 1 / chance ticks: in
// the mean each for itself.
func (b *budget) chance(period, ran, spent float64) float64 {
	cost := (spent + firstCost) / float64(b.samples+1)
	pace := 1.0
	if may := b.share * ran; spent > may {
		pace = max(leastPace, math.Pow(may/spent, 4)) // a tenth too much costs a third of the samples
	}
	return min(1, pace*b.share*period/cost)
}
