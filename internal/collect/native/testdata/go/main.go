// Goroutines does what its first argument says: teams meet at WaitGroups, a lock is held for long by one, one of two waits for the other,
// or the runtime is given a hard time.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	members = 4
	pause   = 100 * time.Microsecond
)

var (
	sink [members]int
	met  atomic.Int64
)

func work(me, n int) {
	for i := range n {
		sink[me] += i
	}
}

// team lets goroutines work that are all there at a time.
func team(round int) {
	var wg sync.WaitGroup
	for me := range members {
		wg.Add(1)
		go func() {
			defer wg.Done()
			met.Add(1)
			for met.Load() < int64(members*(round+1)) {
				time.Sleep(pause)
			}
			work(me, 50000*(me+1))
		}()
	}
	wg.Wait()
}

func teams() {
	for round := range 10 {
		team(round)
	}
}

var got [1 << 12]int

func piece(x int) int {
	for i := range 50000 {
		x = x*3 + i
	}
	return x
}

// handed lets many more goroutines than there are cores take pieces, in each of the ways.
func handed() {
	n, pieces := 4*runtime.NumCPU(), 4096
	runtime.GOMAXPROCS(n)
	queue := make(chan int, pieces)
	for i := range pieces {
		queue <- i
	}
	close(queue)
	share(n, func(int) bool { _, ok := <-queue; return ok })
	var next atomic.Int64
	share(n, func(int) bool { return next.Add(1) <= int64(pieces) })
	left := pieces
	share(n, func(int) bool { mu.Lock(); defer mu.Unlock(); left--; return left >= 0 })
	own := make([]int, n)
	share(n, func(me int) bool { own[me]++; return own[me] <= 100*(1+9*(me/(n-1))) })
	var done sync.WaitGroup
	jobs := make(chan int)
	for me := range n {
		go func() {
			for range jobs {
				got[8*me] = piece(got[8*me])
				done.Done()
			}
		}()
	}
	done.Add(pieces)
	for i := range pieces {
		jobs <- i
	}
	done.Wait()
}

// share has goroutines do pieces for as long as there are some for them, once all are there.
func share(n int, more func(me int) bool) {
	var wg sync.WaitGroup
	var here atomic.Int64
	for me := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for here.Add(1); here.Load() < int64(n); {
				time.Sleep(pause)
			}
			for more(me) {
				got[8*me] = piece(got[8*me])
			}
		}()
	}
	wg.Wait()
}

func untilTold() {
	var told atomic.Bool
	os.Stdout.WriteString("x")
	go func() {
		os.Stdin.Read(make([]byte, 1))
		told.Store(true)
	}()
	for round := 0; !told.Load(); round++ {
		team(round)
	}
}

var mu sync.Mutex

// parked waits until so many goroutines have nothing to do but to wait, for what the runtime calls so.
func parked(n int, why string) {
	buf := make([]byte, 1<<16)
	for strings.Count(string(buf[:runtime.Stack(buf, true)]), "["+why) < n {
		time.Sleep(pause)
	}
}

// held is for how long the lock is held while both others wait for it.
const held = 5 * time.Millisecond

//go:noinline
func holdLong(others func()) {
	mu.Lock()
	others()
	parked(2, "sync.Mutex.Lock")
	time.Sleep(held)
	mu.Unlock()
}

//go:noinline
func holdShort() {
	mu.Lock()
	mu.Unlock()
}

func locks() {
	for range 10 {
		var wg sync.WaitGroup
		wg.Add(3)
		short := func() { defer wg.Done(); holdShort() }
		go func() {
			defer wg.Done()
			holdLong(func() { go short(); go short() })
		}()
		wg.Wait()
	}
}

// waiting is how many wait for a lock, as its first word has it (sync.Mutex: from the fourth bit on).
func waiting(mu *sync.Mutex) int32 { return atomic.LoadInt32((*int32)(unsafe.Pointer(mu))) >> 3 }

// keptUp holds the lock, for so much of its own time on a core once others wait for it. It tells how much that was since then, and
// since it had the lock.
func keptUp(others func(), d time.Duration) (both, all time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	mu.Lock()
	from := cpuTime(thread)
	others()
	for waiting(&mu) < 2 {
	}
	since := cpuTime(thread)
	for cpuTime(thread) < since+d {
	}
	to := cpuTime(thread)
	mu.Unlock()
	return to - since, to - from
}

// kept lets two goroutines wait for a lock whose holder loses its core again and again, to the kernel or within the runtime, as
// others want one all the time. It prints for how long they would have waited at least and at most if it had kept its core.
func kept() {
	n := runtime.NumCPU()
	var done atomic.Bool
	for range 4 * n {
		go func() {
			for x := 1; !done.Load(); x++ {
				work(0, 1000)
			}
		}()
	}
	var least, most time.Duration
	for _, p := range []int{8 * n, n} {
		runtime.GOMAXPROCS(p)
		for range 3 {
			var wg sync.WaitGroup
			wg.Add(3)
			short := func() { defer wg.Done(); holdShort() }
			go func() {
				defer wg.Done()
				both, all := keptUp(func() { go short(); go short() }, 4*held)
				least, most = least+2*both, most+2*all
			}()
			wg.Wait()
		}
	}
	done.Store(true)
	fmt.Println(least.Nanoseconds(), most.Nanoseconds())
}

//go:noinline
func together(me, n int) {
	for i := range n {
		sink[me] += i
	}
}

//go:noinline
func alone(n int) {
	for i := range n {
		sink[0] += i
	}
}

// partners lets two goroutines work, and then one while the other waits to be told that it is done. It prints for how
// long the process used a CPU while one was alone, and for how long no more than one of two that work together did.
func partners() {
	begin, done := make(chan int), make(chan [2]time.Time)
	go func() {
		for n := range begin {
			from := time.Now()
			together(1, n)
			done <- [2]time.Time{from, time.Now()}
		}
	}()
	const n = 10_000_000
	var one, apart time.Duration
	for range 5 {
		begin <- n
		from := time.Now()
		together(2, n)
		to := time.Now()
		other := <-done
		apart += from.Sub(other[0]).Abs() + to.Sub(other[1]).Abs()
		parked(1, "chan receive")
		before := cpuTime(syscall.RUSAGE_SELF)
		alone(2 * n)
		one += cpuTime(syscall.RUSAGE_SELF) - before
	}
	fmt.Println(one.Nanoseconds(), apart.Nanoseconds())
}

// thread is RUSAGE_THREAD.
const thread = 1

// cpuTime is what the calling thread or all threads used until now.
func cpuTime(whose int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(whose, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// nap sleeps, in a call and for a timer's channel, and waits for a pipe that is written to after as long a time, and says for how long it did either.
func nap(d time.Duration) (slept, read time.Duration) {
	from := time.Now()
	time.Sleep(d)
	<-time.After(d)
	slept = time.Since(from)
	in, out, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	time.AfterFunc(d, func() { out.Write(make([]byte, 1)) })
	from = time.Now()
	in.Read(make([]byte, 1))
	in.Close()
	out.Close() // waits for the writer, should it still be in its call
	read = time.Since(from)
	return
}

// naps lets a team be off its cores, and then a far larger one. It prints for how long the teams' goroutines did that, in all, and
// for how long the teams were there.
func naps() {
	for _, n := range []int{members, 50 * members} {
		var wg sync.WaitGroup
		var slept, read atomic.Int64
		begun := time.Now()
		for range n {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range 3 {
					s, r := nap(held)
					slept.Add(int64(s))
					read.Add(int64(r))
				}
			}()
		}
		wg.Wait()
		fmt.Println(slept.Load(), read.Load(), time.Since(begun).Nanoseconds())
	}
}

// calls has far more goroutines than processors make system calls that take long, and work for long: who
// comes back finds no processor free.
func calls() {
	runtime.GOMAXPROCS(2)
	random, err := os.Open("/dev/urandom")
	if err != nil {
		panic(err)
	}
	var wg sync.WaitGroup
	var sum atomic.Int64
	for range 8 * members {
		wg.Add(1)
		go func() {
			defer wg.Done()
			text := make([]byte, 1<<17)
			n := 0
			for range 4 {
				got, _ := syscall.Read(int(random.Fd()), text)
				for range 10 {
					for _, c := range text[:got] {
						n += int(c) ^ n>>1
					}
				}
			}
			sum.Add(int64(n))
		}()
	}
	wg.Wait()
}

func deep(n int) int {
	var pad [100]byte
	pad[n%100] = byte(n)
	if n == 0 {
		return 0
	}
	return deep(n-1) + int(pad[(n+1)%100])
}

var rw sync.RWMutex

func hard() {
	var sum atomic.Int64
	jobs, done := make(chan int), make(chan int, 3)
	var wg sync.WaitGroup
	for range 20 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for x := range jobs {
				fails(x)
				mu.Lock()
				sum.Add(int64(deep(x % 500)))
				mu.Unlock()
				rw.RLock()
				b := make([]byte, 1000+x)
				rw.RUnlock()
				if x%100 == 0 {
					rw.Lock()
					runtime.GC()
					debug.Stack()
					rw.Unlock()
				}
				done <- len(b)
			}
		}()
	}
	go func() {
		for x := range 600 {
			jobs <- x
		}
		close(jobs)
		wg.Wait()
		close(done)
	}()
	n := 0
	for x := range done {
		n += x
	}
	fmt.Println(n, sum.Load())
}

func fails(x int) {
	defer func() { _ = recover() }()
	if x%3 == 0 {
		var none *sync.WaitGroup
		none.Wait()
	}
	if x%5 == 0 {
		panic(x)
	}
}

func main() {
	map[string]func(){
		"teams": teams, "until-told": untilTold, "locks": locks, "partners": partners, "hard": hard, "naps": naps, "handed": handed,
		"kept": kept, "calls": calls,
	}[os.Args[1]]()
	os.Exit(7)
}
