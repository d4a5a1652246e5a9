package guest

import (
	"debug/elf"
	"os"

	"golang.org/x/sys/unix"
)

func sysBrk(c *call) int64 { return int64(c.p.mem.setBrk(c.a[0])) }

func sysMmap(c *call) int64 {
	n, prot, flags, fd, off := pageUp(c.a[1]), int(c.a[2])&7, int(c.a[3]), int(int32(c.a[4])), c.a[5]
	switch {
	case n == 0 || off%pageSize != 0:
		return errRes(unix.EINVAL)
	case n < c.a[1] || n > 1<<46:
		return errRes(unix.ENOMEM)
	case flags&unix.MAP_ANONYMOUS != 0:
		fd, off = -1, 0
	case c.p.files.isProtected(fd):
		return errRes(unix.EBADF)
	}
	at, errno := c.mmapPlace(c.a[0], n, prot, flags, fd, off)
	if errno != 0 {
		return errRes(errno)
	}
	m := mapping{lo: at, hi: at + n, prot: prot, shared: flags&unix.MAP_TYPE != unix.MAP_PRIVATE, off: off}
	switch {
	case m.shared && (fd < 0 || isZero(fd)):
		m.file, m.off = c.p.mem.newShared(), 0
	case fd >= 0:
		m.file = fileOf(fd)
	}
	if errno := c.p.mem.mapAt(m, flags, fd); errno != 0 {
		return errRes(errno)
	}
	if fd >= 0 && prot&unix.PROT_EXEC != 0 {
		c.p.foundImage(m, fd)
	}
	return int64(at)
}

// mmapPlace chooses or checks the address.
func (c *call) mmapPlace(hint, n uint64, prot, flags, fd int, off uint64) (uint64, unix.Errno) {
	s := c.p.mem
	if flags&(unix.MAP_FIXED|unix.MAP_FIXED_NOREPLACE) != 0 {
		if hint%pageSize != 0 {
			return 0, unix.EINVAL
		}
		if flags&unix.MAP_FIXED_NOREPLACE != 0 && len(s.maps.overlap(hint, hint+n)) > 0 {
			return 0, unix.EEXIST
		}
		return hint, s.room(hint, hint+n)
	}
	w := wantOf(n, hint, flags, fd, off)
	w.low = c.wantsLow(n, prot, flags, fd, off)
	at := s.pick(w)
	if at == 0 && w.low && flags&unix.MAP_32BIT == 0 {
		w.low = false
		at = s.pick(w)
	}
	if at == 0 {
		return 0, unix.ENOMEM
	}
	return at, 0
}

// wantsLow says that code will lie in a new mapping: the engine wants it below 2 GB.
func (c *call) wantsLow(n uint64, prot, flags, fd int, off uint64) bool {
	switch {
	case flags&unix.MAP_32BIT != 0:
		return true
	case fd >= 0:
		return prot&unix.PROT_EXEC != 0 || off == 0 && isLibrary(fd)
	case prot&unix.PROT_EXEC != 0:
		return n <= lowJITMax
	}
	// ld.so reserves room for a library that wants a large alignment
	ld := c.p.interp
	return prot == unix.PROT_NONE && n <= lowJITMax && c.t.Ctx.RIP >= ld.Lo && c.t.Ctx.RIP < ld.Hi
}

// isLibrary says that an open file is an ELF shared object: ld.so maps it whole,
// with the rights of its first segment.
func isLibrary(fd int) bool {
	var h [20]byte
	n, err := unix.Pread(fd, h[:], 0)
	return err == nil && n == len(h) && string(h[:4]) == elf.ELFMAG && elf.Type(uint16(h[16])|uint16(h[17])<<8) == elf.ET_DYN
}

// isZero says that an open file is /dev/zero.
func isZero(fd int) bool {
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev == unix.Mkdev(1, 5)
}

// foundImage reports the ELF file behind an executable mapping.
func (p *Process) foundImage(m mapping, fd int) {
	f, err := os.Open(m.file.path)
	if err != nil {
		return
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return
	}
	e, lerr := parseELF(f, st.Size())
	if lerr != nil {
		return
	}
	for _, l := range e.loads {
		if l.Flags&elf.PF_X == 0 || pageDown(l.Off) > m.off || l.Off+l.Filesz <= m.off {
			continue
		}
		bias := m.lo - (m.off - pageDown(l.Off)) - pageDown(l.Vaddr)
		lo, hi := e.span()
		img := Image{Path: m.file.path, Bias: bias, Lo: lo + bias, Hi: hi + bias}
		p.images = append(p.images, img)
		p.host.ImageMapped(img)
		return
	}
}

// pageRange checks an address and length.
func pageRange(a, n uint64) (lo, hi uint64, errno unix.Errno) {
	if a%pageSize != 0 || a+n < a || pageUp(n) < n {
		return 0, 0, unix.EINVAL
	}
	return a, a + pageUp(n), 0
}

func sysMunmap(c *call) int64 {
	lo, hi, errno := pageRange(c.a[0], c.a[1])
	if errno != 0 || lo == hi {
		return errRes(unix.EINVAL)
	}
	return errRes(c.p.mem.unmap(lo, hi))
}

func sysMprotect(c *call) int64 {
	lo, hi, errno := pageRange(c.a[0], c.a[1])
	if errno != 0 {
		return errRes(errno)
	}
	if lo == hi {
		return 0
	}
	const growsDown = 0x01000000
	if c.a[2]&growsDown != 0 { // from the start of the mapping on
		if m, ok := c.p.mem.maps.find(lo); ok {
			lo = m.lo
		}
	}
	return errRes(c.p.mem.protect(lo, hi, int(c.a[2])&7))
}

func sysMremap(c *call) int64 {
	at, errno := c.p.mem.resize(c.a[0], c.a[1], c.a[2], int(c.a[3]), c.a[4])
	return result(at, errno)
}

// sysMadvise passes on what drops or keeps pages; hints are nothing here.
func sysMadvise(c *call) int64 {
	lo, hi, errno := pageRange(c.a[0], c.a[1])
	if errno != 0 {
		return errRes(errno)
	}
	if lo == hi {
		return 0
	}
	if !c.p.mem.maps.covered(lo, hi) {
		return errRes(unix.ENOMEM)
	}
	switch c.a[2] {
	case unix.MADV_DONTNEED, unix.MADV_FREE, unix.MADV_REMOVE:
		c.p.mem.changed(lo, hi, 0)
		if c.a[2] == unix.MADV_REMOVE {
			for _, m := range c.p.mem.maps.overlap(lo, hi) {
				c.p.mem.forgetCode(m)
			}
		}
		return pass(c)
	case unix.MADV_NORMAL, unix.MADV_RANDOM, unix.MADV_SEQUENTIAL, unix.MADV_WILLNEED, unix.MADV_DONTFORK, unix.MADV_DOFORK,
		unix.MADV_MERGEABLE, unix.MADV_UNMERGEABLE, unix.MADV_HUGEPAGE, unix.MADV_NOHUGEPAGE, unix.MADV_DONTDUMP, unix.MADV_DODUMP,
		unix.MADV_COLD, unix.MADV_PAGEOUT, unix.MADV_WIPEONFORK, unix.MADV_KEEPONFORK, unix.MADV_POPULATE_READ, unix.MADV_POPULATE_WRITE:
		return pass(c)
	}
	return errRes(unix.EINVAL)
}

// sysMincore and others work on the guest's own ranges only.
func sysOwnRange(c *call) int64 {
	lo, hi, errno := pageRange(pageDown(c.a[0]), c.a[1]+c.a[0]%pageSize)
	if errno != 0 {
		return errRes(errno)
	}
	if !c.p.mem.maps.covered(lo, hi) {
		return errRes(unix.ENOMEM)
	}
	return pass(c)
}

// sysShmat attaches at an address that we choose.
func sysShmat(c *call) int64 {
	var ds [112]byte // struct shmid_ds: shm_segsz at 48
	if _, errno := hostCall(unix.SYS_SHMCTL, c.a[0], unix.IPC_STAT, ptrOf(ds[:])); errno != 0 {
		return errRes(errno)
	}
	n := pageUp(le64(ds[48:]))
	at := c.a[1]
	if at == 0 {
		at = c.p.mem.pick(want{n: n})
	}
	if errno := c.p.mem.room(at, at+n); errno != 0 {
		return errRes(errno)
	}
	const remap, rdonly, exec = 040000, 010000, 0100000
	c.p.mem.changed(at, at+n, unix.PROT_EXEC)
	if _, errno := hostCall(unix.SYS_SHMAT, c.a[0], at, c.a[2]|remap); errno != 0 {
		return errRes(errno)
	}
	prot := unix.PROT_READ | unix.PROT_WRITE
	if c.a[2]&rdonly != 0 {
		prot = unix.PROT_READ
	}
	if c.a[2]&exec != 0 {
		prot |= unix.PROT_EXEC
	}
	c.p.mem.maps.set(mapping{lo: at, hi: at + n, prot: prot, shared: true, name: "/SYSV",
		file: &mappedFile{path: "/SYSV", dev: 1 << 40, ino: c.a[0] + 1}})
	c.p.mem.madeWritable(at, at+n)
	return int64(at)
}

func sysShmdt(c *call) int64 {
	m, ok := c.p.mem.maps.find(c.a[0])
	if !ok || m.name != "/SYSV" || m.lo != c.a[0] {
		return errRes(unix.EINVAL)
	}
	c.p.mem.changed(m.lo, m.hi, 0)
	r := pass(c)
	if r == 0 {
		_ = reserve(m.lo, m.hi, unix.MAP_FIXED_NOREPLACE)
		c.p.mem.maps.remove(m.lo, m.hi)
	}
	return r
}

// sysGetMempolicy tells of one memory node with the default policy.
func sysGetMempolicy(c *call) int64 {
	const ofNode, ofAddress, allowed = 1, 2, 4
	flags, bits := c.a[4], c.a[2]
	if flags&^(ofNode|ofAddress|allowed) != 0 || c.a[1] != 0 && (bits == 0 || bits > 1<<16) {
		return errRes(unix.EINVAL)
	}
	if c.a[0] != 0 && c.put(c.a[0], make([]byte, 4)) != 0 { // the default policy, or node 0
		return errRes(unix.EFAULT)
	}
	if c.a[1] == 0 {
		return 0
	}
	nodes := make([]byte, (bits+63)/64*8)
	if flags&allowed != 0 {
		nodes[0] = 1
	}
	return c.put(c.a[1], nodes)
}
