package cpu

import (
	"errors"
	"fmt"
	"sync"
	"syscall"
	"unsafe"
)

func enter(ctx *Context)
func exitPC() uintptr
func missPC() uintptr
func repeatPC() uintptr
func handlerPC() uintptr
func cpuid(leaf, sub uint32) (a, b, c, d uint32)
func xgetbv() uint64

// Enter runs generated code at host with the state of ctx until it leaves.
// While it runs, the garbage collector cannot stop this thread.
func Enter(ctx *Context, host uintptr) {
	ctx.Scratch[SlotTarget] = uint64(host)
	enter(ctx)
}

// ErrHost is wrapped by errors that say that this host cannot run the engine.
var ErrHost = errors.New("this host cannot run translated code")

// The components of XSAVE state (Intel SDM vol. 1, 13.1).
const (
	xX87    = 1 << 0
	xSSE    = 1 << 1
	xAVX    = 1 << 2
	xAVX512 = 7 << 5
)

// XMask returns the XSAVE components that a guest may use on this host.
func XMask(all bool) uint64 {
	have := xgetbv()
	want := uint64(xX87 | xSSE | xAVX)
	if all && have&xAVX512 == xAVX512 {
		want |= xAVX512
	}
	return have & want
}

// HasXInUse reports whether XGETBV can tell which components are in use (CPUID 13.1, EAX bit 2).
func HasXInUse() bool {
	a, _, _, _ := cpuid(13, 1)
	return a>>2&1 == 1
}

// XSaveSize returns the size of the state of mask in the standard format.
func XSaveSize(mask uint64) int {
	size := 576
	for i := uint32(2); i < 63; i++ {
		if mask>>i&1 == 0 {
			continue
		}
		n, off, _, _ := cpuid(13, i)
		size = max(size, int(n+off))
	}
	return size
}

// goHandlers holds the signal handlers that stood before ours, by signal. Signal
// handlers belong to the process, so this is the one place with global state.
var goHandlers [65]uintptr

var installOnce = sync.OnceValue(install)

// Install checks the host and puts the fault handler in front of Go's. Calls after the first do
// nothing.
func Install() error { return installOnce() }

func install() error {
	if err := checkHost(); err != nil {
		return err
	}
	for _, sig := range []syscall.Signal{syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGTRAP} {
		if err := chain(sig); err != nil {
			return err
		}
	}
	return nil
}

func checkHost() error {
	if _, _, c, _ := cpuid(1, 0); c>>27&1 == 0 {
		return fmt.Errorf("%w: no XSAVE", ErrHost)
	}
	return nil
}

// hasFSGSBase reports whether user code may write the GS base: bit 1 of AT_HWCAP2. A kernel before
// 5.9 and some virtual machines do not let it; there the kernel is asked to write it.
var hasFSGSBase = sync.OnceValue(func() bool {
	const atHWCAP2 = 26
	auxv, err := auxiliary()
	return err == nil && auxv[atHWCAP2]&2 != 0
})

func auxiliary() (map[uint64]uint64, error) {
	fd, err := syscall.Open("/proc/self/auxv", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	var words [128]uint64
	n, err := syscall.Read(fd, unsafe.Slice((*byte)(unsafe.Pointer(&words)), len(words)*8))
	if err != nil {
		return nil, err
	}
	m := make(map[uint64]uint64)
	for i := 0; i+1 < n/8; i += 2 {
		m[words[i]] = words[i+1]
	}
	return m, nil
}

// sigaction is the kernel's struct for x86-64.
type sigaction struct {
	handler, flags, restorer uintptr
	mask                     uint64
}

// chain installs our handler for sig with the flags, mask and restorer of Go's.
func chain(sig syscall.Signal) error {
	var sa sigaction
	if err := rtSigaction(sig, nil, &sa); err != nil {
		return err
	}
	goHandlers[sig] = sa.handler
	sa.handler = handlerPC()
	return rtSigaction(sig, &sa, nil)
}

func rtSigaction(sig syscall.Signal, set, old *sigaction) error {
	_, _, e := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig),
		uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), 8, 0, 0)
	if e != 0 {
		return fmt.Errorf("signal handler for %v: %w", sig, e)
	}
	return nil
}
