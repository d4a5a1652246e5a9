// Threads that code in C makes, called from Go, and goroutines that call code in C.
package main

/*
#cgo LDFLAGS: -lpthread
#include <pthread.h>
static void *work(void *arg) {
	volatile long h = 1;
	for (long i = 0; i < (long)arg; i++)
		h = h * 31 + i;
	return 0;
}
static void team(int n) {
	pthread_t t[16];
	for (long i = 0; i < n; i++)
		pthread_create(&t[i], 0, work, (void *)100000L);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], 0); // END
}
static void one(long n) { work((void *)n); }
*/
import "C"
import (
	"runtime"
	"sync"
)

func main() {
	for range 2 {
		C.team(8)
	}
	for range 3 {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				runtime.LockOSThread()
				C.one(500_000)
			})
		}
		wg.Wait() /* END2 */
	}
}
