package guest

import (
	"fmt"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"lime/internal/unit"
)

// fdKind says what a descriptor is, as far as waiting goes.
type fdKind uint8

const (
	kindUnknown fdKind = iota
	kindFile           // never waits
	kindStream         // pipe, socket, terminal, eventfd, ...: may wait
	kindOutside        // a stream that came with the process: its other end is not the guest's
	kindRandom         // /dev/random, /dev/urandom: answered from the fixed generator
	kindMemory         // /proc/self/mem
)

// fdTable knows which descriptors are lime's and what kind the guest's are.
// The table of descriptors itself is the host process's.
type fdTable struct {
	protected map[int]bool
	kinds     map[int]fdKind
	ids       map[int]fileID
	outside   map[[2]uint64]bool // device and inode of inherited streams
	signals   map[int]*signalFile
	names     map[int]*Thread // files through which threads are named
}

// ownFDs is from where on lime's descriptors lie: above most of a program's, and below the limit.
func ownFDs() int {
	const usual, room = 800, 100
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil || l.Cur > usual+room {
		return usual
	}
	return max(int(l.Cur)-room, 0)
}

// HighFD moves a descriptor of lime's there, if it can.
func HighFD(fd int) int {
	n, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, ownFDs())
	if err != nil {
		return fd
	}
	unix.Close(fd)
	return n
}

// ReserveFDs fills the numbers that are the guest's, so that whatever lime opens until New lies
// above them, and makes the Go runtime open its own files (epoll). New frees the numbers. To be
// called before anything else opens files, and again when some of them were closed.
func ReserveFDs() error {
	own := ownFDs()
	for fd := 0; fd < own; {
		var err error
		if fd, err = unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
			return fmt.Errorf("reserve file descriptors: %w", err)
		}
		if fd > own {
			unix.Close(fd)
		}
	}
	r, w, err := os.Pipe() // the first pollable file starts the poller
	if err != nil {
		return fmt.Errorf("reserve file descriptors: %w", err)
	}
	_ = r.SetReadDeadline(time.Time{})
	r.Close()
	w.Close()
	return nil
}

// isFiller recognises what ReserveFDs has opened.
func isFiller(fd int) bool {
	var st unix.Stat_t
	return fd > 2 && fd <= ownFDs() && unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev == unix.Mkdev(1, 3)
}

// init takes all files that are closed on exec for lime's, the rest for the guest's.
func (f *fdTable) init() {
	f.protected, f.kinds, f.outside = map[int]bool{}, map[int]fdKind{}, map[[2]uint64]bool{}
	f.ids = map[int]fileID{}
	f.signals, f.names = map[int]*signalFile{}, map[int]*Thread{}
	for _, fd := range openFDs() {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil {
			continue
		}
		if flags&unix.FD_CLOEXEC != 0 {
			if isFiller(fd) {
				unix.Close(fd)
				continue
			}
			f.protected[fd] = true
			continue
		}
		var st unix.Stat_t
		if unix.Fstat(fd, &st) == nil && kindOf(&st) == kindStream {
			f.outside[[2]uint64{st.Dev, st.Ino}] = true
		}
	}
}

func openFDs() (fds []int) {
	dir, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil
	}
	for _, e := range dir {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			fds = append(fds, n)
		}
	}
	return fds
}

// protect moves a descriptor of lime's out of the way and keeps the guest off it.
func (f *fdTable) protect(fd int) int {
	fd = HighFD(fd)
	f.protected[fd] = true
	return fd
}

func (f *fdTable) unprotect(fd int)        { delete(f.protected, fd) }
func (f *fdTable) isProtected(fd int) bool { return f.protected[fd] }

func (f *fdTable) forget(fd int) {
	delete(f.kinds, fd)
	delete(f.ids, fd)
	delete(f.signals, fd)
	delete(f.names, fd)
}

// protectedRanges are lime's descriptors as ranges.
func (f *fdTable) protectedRanges() (out [][2]int) {
	var fds []int
	for fd := range f.protected {
		fds = append(fds, fd)
	}
	sort.Ints(fds)
	for _, fd := range fds {
		if n := len(out); n > 0 && out[n-1][1] == fd-1 {
			out[n-1][1] = fd
			continue
		}
		out = append(out, [2]int{fd, fd})
	}
	return out
}

func kindOf(st *unix.Stat_t) fdKind {
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG, unix.S_IFDIR, unix.S_IFBLK, unix.S_IFLNK:
		return kindFile
	case unix.S_IFCHR:
		switch major, minor := unix.Major(st.Rdev), unix.Minor(st.Rdev); {
		case major == 1 && (minor == 8 || minor == 9):
			return kindRandom
		case major == 1: // null, zero, full
			return kindFile
		}
	}
	return kindStream
}

// isMemory says that a descriptor is the file of a process's memory: an empty file of procfs with
// that name.
func isMemory(fd int, st *unix.Stat_t) bool {
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size != 0 {
		return false
	}
	var fs unix.Statfs_t
	if unix.Fstatfs(fd, &fs) != nil || fs.Type != unix.PROC_SUPER_MAGIC {
		return false
	}
	name, _ := os.Readlink(fdPath(fd))
	return strings.HasSuffix(name, "/mem")
}

// id names the file of a descriptor.
func (f *fdTable) id(fd int) fileID {
	f.kind(fd)
	return f.ids[fd]
}

// kind classifies a descriptor, once until it is closed.
func (f *fdTable) kind(fd int) fdKind {
	if k, ok := f.kinds[fd]; ok {
		return k
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return kindUnknown
	}
	k := kindOf(&st)
	if k == kindStream && f.outside[[2]uint64{st.Dev, st.Ino}] {
		k = kindOutside
	}
	if k == kindFile && isMemory(fd, &st) {
		k = kindMemory
	}
	f.kinds[fd], f.ids[fd] = k, fileID{st.Dev, st.Ino}
	return k
}

// waits says that calls on the descriptor may have to wait.
func (f *fdTable) waits(fd int) bool {
	if k := f.kind(fd); k != kindStream && k != kindOutside {
		return false
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	return err == nil && flags&unix.O_NONBLOCK == 0
}

// ready says that a call on fd would not wait.
func ready(fd int, events int16) bool {
	return pollHost([]unix.PollFd{{Fd: int32(fd), Events: events}}, 0) != 0
}

// outsideGrace is how long (in the host) all threads wait for data from outside before
// the others go on without: it keeps runs alike that read from a pipe.
const outsideGrace = 200 * time.Millisecond

// waitFD blocks until fd is ready. It answers true if it is so at once.
func (c *call) waitFD(fd int, events int16, done uint64, end unit.Nanos) (isReady bool) {
	fds := []unix.PollFd{{Fd: int32(fd), Events: events}}
	if c.p.cfg.Parallel == nil && c.prev == nil && len(c.p.threads) > 1 && c.p.files.kind(fd) == kindOutside {
		if pollHost(append(fds, unix.PollFd{Fd: int32(c.p.signalFD), Events: unix.POLLIN}), outsideGrace) > 0 && ready(fd, events) {
			return true
		}
	}
	b := &blocking{wait: Wait{Kind: WaitFD, FD: fd, Deadline: end}, fds: fds, onSignal: restartSys, onTimeout: errRes(unix.EAGAIN), done: done}
	if done > 0 {
		b.onSignal, b.onTimeout = int64(done), int64(done)
	}
	c.block(b)
	return false
}

// outsideWaiters says that some thread waits for what is not the guest's own.
func (p *Process) outsideWaiters() bool {
	return slices.ContainsFunc(p.hostWaiters, func(t *Thread) bool {
		if t.block.unseen() || t.block.wait.Kind == WaitChild {
			return true
		}
		return slices.ContainsFunc(t.block.fds, func(f unix.PollFd) bool { return p.isOutside(int(f.Fd)) })
	})
}

// isOutside says that something other than the guest may make fd ready.
func (p *Process) isOutside(fd int) bool {
	var st unix.Stat_t
	if fd < 0 || unix.Fstat(fd, &st) != nil {
		return false
	}
	mode := st.Mode & unix.S_IFMT
	return p.files.kind(fd) == kindOutside || mode == unix.S_IFSOCK || mode == unix.S_IFCHR || p.hasChildren() || p.epollOutside(fd)
}

// epollOutside looks into an epoll descriptor (proc(5), fdinfo).
func (p *Process) epollOutside(epfd int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", epfd))
	if err != nil {
		return false
	}
	for line := range splitLines(string(b)) {
		var fd int
		if n, _ := fmt.Sscanf(line, "tfd: %d", &fd); n == 1 && fd != epfd && p.isOutside(fd) {
			return true
		}
	}
	return false
}

func fdPath(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }
