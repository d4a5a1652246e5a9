package guest

import (
	"slices"

	"golang.org/x/sys/unix"
)

// Auxiliary vector entries (Linux, include/uapi/linux/auxvec.h).
const (
	atNull        = 0
	atPhdr        = 3
	atPhent       = 4
	atPhnum       = 5
	atPagesz      = 6
	atBase        = 7
	atFlags       = 8
	atEntry       = 9
	atUID         = 11
	atEUID        = 12
	atGID         = 13
	atEGID        = 14
	atPlatform    = 15
	atHwcap       = 16
	atClktck      = 17
	atSecure      = 23
	atRandom      = 25
	atHwcap2      = 26
	atExecfn      = 31
	atSysinfoEhdr = 33
	atMinsigstksz = 51
)

// stackImage is what the first thread finds on its stack.
type stackImage struct {
	args, env []string
	execfn    string
	random    [16]byte
	aux       [][2]uint64 // without those that point into the stack
}

// build lays the image out so that it ends at top; it answers the bytes and the
// stack pointer, which is their first byte's address.
func (im stackImage) build(top uint64) ([]byte, uint64) {
	var str []byte
	put := func(s string) uint64 {
		at := len(str)
		str = append(append(str, s...), 0)
		return uint64(at)
	}
	var argv, envp []uint64
	for _, a := range im.args {
		argv = append(argv, put(a))
	}
	for _, e := range im.env {
		envp = append(envp, put(e))
	}
	fn, plat := put(im.execfn), put("x86_64")
	for len(str)%16 != 0 {
		str = append(str, 0)
	}
	rnd := uint64(len(str))
	str = append(str, im.random[:]...)
	strAt := (top - 16 - uint64(len(str))) &^ 15
	aux := append([][2]uint64{}, im.aux...)
	aux = append(aux, [2]uint64{atExecfn, strAt + fn}, [2]uint64{atPlatform, strAt + plat},
		[2]uint64{atRandom, strAt + rnd}, [2]uint64{atNull, 0})
	words := stackWords(argv, envp, aux, strAt)
	sp := (strAt - uint64(8*len(words))) &^ 15
	out := make([]byte, top-sp)
	for i, w := range words {
		putLE64(out[8*i:], w)
	}
	copy(out[strAt-sp:], str)
	return out, sp
}

// stackWords is argc, argv, envp and the auxiliary vector.
func stackWords(argv, envp []uint64, aux [][2]uint64, strAt uint64) []uint64 {
	words := []uint64{uint64(len(argv))}
	for _, a := range argv {
		words = append(words, strAt+a)
	}
	words = append(words, 0)
	for _, e := range envp {
		words = append(words, strAt+e)
	}
	words = append(words, 0)
	for _, a := range aux {
		words = append(words, a[0], a[1])
	}
	return words
}

// auxOnStack is the auxiliary vector behind arguments and environment, its end included.
func auxOnStack(sp uint64) []byte {
	word := func() uint64 { sp += 8; return le64(bytesAt(sp-8, 8)) }
	for n := word() + 1; n > 0; n-- { // the arguments, and a zero
		word()
	}
	for word() != 0 { // the environment
	}
	at := sp
	for word() != atNull {
		word()
	}
	return slices.Clone(bytesAt(at, sp+8-at))
}

// maxStackImage bounds arguments and environment, as the kernel does (a quarter of the stack).
const maxStackImage = stackSize / 4

// stackLimit is what ulimit -s says, within bounds.
func stackLimit() uint64 {
	const most = 2 << 30
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_STACK, &l) != nil {
		return 0
	}
	return min(l.Cur, most)
}

// stackRoom is how large the main thread's stack may grow.
func stackRoom() uint64 { return pageUp(max(stackSize, stackLimit())) }

// mapStack maps the main thread's stack and puts the image on it.
func (s *space) mapStack(im stackImage, exec bool) (sp uint64, e *LoadError) {
	top := s.layout.HighHi - pageSize
	b, sp := im.build(top)
	if len(b) > maxStackImage {
		return 0, &LoadError{Path: im.execfn, Why: "argument list too long", Status: 126, Err: unix.E2BIG}
	}
	m := mapping{lo: top - stackRoom(), hi: top, prot: unix.PROT_READ | unix.PROT_WRITE, name: "[stack]"}
	if exec {
		m.prot |= unix.PROT_EXEC
	}
	if errno := s.mapAt(m, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE, -1); errno != 0 {
		return 0, &LoadError{Path: im.execfn, Why: "no memory for its stack: " + errno.Error(), Status: 126, Err: errno}
	}
	copy(bytesAt(sp, uint64(len(b))), b)
	return sp, nil
}
