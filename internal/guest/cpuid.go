package guest

import (
	"fmt"
	"math/bits"

	"lime/internal/cpu"
)

// The processor that the guest sees: x86-64-v3 (AVX2, BMI2, FMA, ...) with a
// fixed name, fixed caches and as many single-threaded cores as are simulated, so
// that a program takes the same path on every host. See Intel SDM vol. 2A, CPUID.
const (
	cpuVendor = "GenuineIntel" // glibc and OpenBLAS choose by it; an unknown name selects slow paths
	cpuBrand  = "lime simulated x86-64-v3 processor"
	// family 6, model 0x3c (the first with x86-64-v3), stepping 3
	cpuSignature = 0x000306c3

	l1Size, l1Ways = 32 << 10, 8
	l2Size, l2Ways = 256 << 10, 8
	l3Size, l3Ways = 8 << 20, 16
	lineSize       = 64
)

// xsaveRoom is the size of the XSAVE area that the guest is told: more than its
// components need. A child process runs natively with what it has learned here, and ld.so's xsave
// then stores AVX-512 and PKRU state too, if the host has them.
const xsaveRoom = 2752

// Feature bits, leaf 1 and 7 (Intel SDM vol. 2A, tables 3-10 and 3-11, leaf 07H).
const (
	featECX1 = 1<<0 | 1<<1 | 1<<9 | 1<<12 | 1<<13 | 1<<19 | 1<<20 | 1<<22 | 1<<23 | 1<<25 | 1<<26 | 1<<27 | 1<<28 | 1<<29
	// SSE3 PCLMULQDQ SSSE3 FMA CX16 SSE4.1 SSE4.2 MOVBE POPCNT AES XSAVE OSXSAVE AVX F16C; no
	// RDRAND, no x2APIC
	featEDX1 = 1<<0 | 1<<4 | 1<<5 | 1<<6 | 1<<8 | 1<<9 | 1<<11 | 1<<13 | 1<<15 | 1<<16 | 1<<19 | 1<<23 | 1<<24 | 1<<25 | 1<<26 | 1<<28
	// FPU TSC MSR PAE CX8 APIC SEP PGE CMOV PAT CLFSH MMX FXSR SSE SSE2 HTT
	featEBX7 = 1<<3 | 1<<5 | 1<<8 | 1<<9 // BMI1 AVX2 BMI2 ERMS; no TSX, no RDSEED, no FSGSBASE
	featExtC = 1<<0 | 1<<5               // LAHF LZCNT
	featExtD = 1<<11 | 1<<20 | 1<<27 | 1<<29
	// SYSCALL NX RDTSCP LM
)

// cpuidTable answers CPUID and XGETBV.
type cpuidTable struct {
	cores     int
	host      bool
	xcr0      uint64
	xsaveSize int
}

func newCPUID(cfg Config) cpuidTable {
	t := cpuidTable{cores: cfg.Cores, host: cfg.HostCPU, xcr0: cpu.XMask(cfg.HostCPU)}
	t.xsaveSize = cpu.XSaveSize(t.xcr0)
	return t
}

// lookup answers CPUID for a leaf and subleaf on a core: eax, ebx, ecx, edx.
func (t *cpuidTable) lookup(leaf, sub uint32, core int) [4]uint32 {
	if t.host {
		return t.hostLeaf(leaf, sub, core)
	}
	if f, ok := cpuidLeaves[leaf]; ok {
		return f(t, sub, uint32(core))
	}
	return [4]uint32{}
}

var cpuidLeaves = map[uint32]func(t *cpuidTable, sub, core uint32) [4]uint32{
	0: func(*cpuidTable, uint32, uint32) [4]uint32 {
		v := words(cpuVendor)
		return [4]uint32{0x16, v[0], v[2], v[1]}
	},
	1:          leaf1,
	4:          leafCaches,
	6:          func(*cpuidTable, uint32, uint32) [4]uint32 { return [4]uint32{4, 0, 0, 0} }, // ARAT
	7:          leaf7,
	0xb:        leafTopology,
	0xd:        leafXsave,
	0x15:       func(*cpuidTable, uint32, uint32) [4]uint32 { return [4]uint32{1, 1, tscHz, 0} },
	0x16:       func(*cpuidTable, uint32, uint32) [4]uint32 { return [4]uint32{tscHz / 1e6, tscHz / 1e6, 100, 0} },
	0x80000000: func(*cpuidTable, uint32, uint32) [4]uint32 { return [4]uint32{0x80000008, 0, 0, 0} },
	0x80000001: func(*cpuidTable, uint32, uint32) [4]uint32 { return [4]uint32{0, 0, featExtC, featExtD} },
	0x80000002: func(*cpuidTable, uint32, uint32) [4]uint32 { return brand(0) },
	0x80000003: func(*cpuidTable, uint32, uint32) [4]uint32 { return brand(1) },
	0x80000004: func(*cpuidTable, uint32, uint32) [4]uint32 { return brand(2) },
	0x80000006: func(*cpuidTable, uint32, uint32) [4]uint32 {
		return [4]uint32{0, 0, l2Size>>10<<16 | 6<<12 | lineSize, 0}
	},
	0x80000007: func(*cpuidTable, uint32, uint32) [4]uint32 { return [4]uint32{0, 0, 0, 1 << 8} }, // invariant TSC
	0x80000008: func(*cpuidTable, uint32, uint32) [4]uint32 { return [4]uint32{48<<8 | 46, 0, 0, 0} },
}

// words cuts a text into 32-bit words.
func words(s string) (w [12]uint32) {
	for i := range min(len(s), 48) {
		w[i/4] |= uint32(s[i]) << (i % 4 * 8)
	}
	return w
}

func brand(part int) [4]uint32 {
	w := words(cpuBrand)
	return [4]uint32(w[4*part : 4*part+4])
}

func leaf1(t *cpuidTable, _, core uint32) [4]uint32 {
	return [4]uint32{cpuSignature, min(core, 255)<<24 | min(pow2(t.cores), 255)<<16 | lineSize/8<<8, featECX1, featEDX1}
}

func pow2(n int) uint32 { return 1 << bits.Len(uint(n-1)) }

func leaf7(_ *cpuidTable, sub, _ uint32) [4]uint32 {
	if sub != 0 {
		return [4]uint32{}
	}
	return [4]uint32{0, featEBX7, 0, 0}
}

// leafCaches is leaf 4: one cache a subleaf.
func leafCaches(t *cpuidTable, sub, _ uint32) [4]uint32 {
	const data, instr, unified = 1, 2, 3
	rows := [][5]uint32{{data, 1, l1Size, l1Ways, 1}, {instr, 1, l1Size, l1Ways, 1}, {unified, 2, l2Size, l2Ways, 1},
		{unified, 3, l3Size, l3Ways, pow2(t.cores)}}
	if int(sub) >= len(rows) {
		return [4]uint32{}
	}
	r := rows[sub]
	sets := r[2] / (r[3] * lineSize)
	return [4]uint32{r[0] | r[1]<<5 | 1<<8 | (min(r[4], 4096)-1)<<14 | (min(pow2(t.cores), 64)-1)<<26,
		(r[3]-1)<<22 | (lineSize - 1), sets - 1, 0}
}

// leafTopology is leaf 0xb: one thread a core, all cores in one package.
func leafTopology(t *cpuidTable, sub, core uint32) [4]uint32 {
	switch sub {
	case 0:
		return [4]uint32{0, 1, 1 << 8, core}
	case 1:
		return [4]uint32{uint32(bits.Len(uint(t.cores - 1))), uint32(t.cores), 2<<8 | 1, core}
	}
	return [4]uint32{0, 0, sub, core}
}

func leafXsave(t *cpuidTable, sub, _ uint32) [4]uint32 {
	switch sub {
	case 0:
		return [4]uint32{uint32(t.xcr0), xsaveRoom, xsaveRoom, uint32(t.xcr0 >> 32)}
	case 2:
		return [4]uint32{256, 576, 0, 0}
	}
	return [4]uint32{}
}

// hostLeaf is the host's answer, less what cannot be simulated.
func (t *cpuidTable) hostLeaf(leaf, sub uint32, core int) [4]uint32 {
	a, b, c, d := cpu.CPUID(leaf, sub)
	switch leaf {
	case 1:
		b = b&0xffff | uint32(core)<<24 | min(pow2(t.cores), 255)<<16
		c &^= 1<<30 | 1<<31 | 1<<21 | 1<<3 | 1<<5 // RDRAND, hypervisor, x2APIC, MONITOR, VMX
		d |= 1 << 28
	case 7:
		if sub == 0 {
			b &^= 1<<0 | 1<<4 | 1<<11 | 1<<18   // FSGSBASE HLE RTM RDSEED
			c &^= 1<<3 | 1<<4 | 1<<7 | 1<<22    // PKU OSPKE SHSTK RDPID
			d &^= 1<<20 | 1<<22 | 1<<24 | 1<<25 // IBT AMX
		} else {
			a &^= 1<<10 | 1<<22 // fast rep cmpsb stays; HRESET
		}
	case 0xb, 0x1f:
		if leaf == 0x1f {
			return [4]uint32{}
		}
		return leafTopology(t, sub, uint32(core))
	case 0xd:
		return t.hostXsave(sub, a, b, c, d)
	case 0x15:
		return [4]uint32{1, 1, tscHz, 0}
	case 0x14, 0x18, 0x1d, 0x1e, 0x1a, 0x40000000, 0x8000001e, 0x80000026:
		return [4]uint32{}
	case 0x80000001:
		c &^= 1<<2 | 1<<10 | 1<<15 | 1<<22 | 1<<29 // SVM IBS LWP TOPOEXT MWAITX
	}
	return [4]uint32{a, b, c, d}
}

func (t *cpuidTable) hostXsave(sub, a, b, c, d uint32) [4]uint32 {
	switch {
	case sub == 0:
		return [4]uint32{uint32(t.xcr0), b, c, uint32(t.xcr0 >> 32)}
	case sub >= 2 && sub < 63 && t.xcr0>>sub&1 != 0:
		return [4]uint32{a, b, 0, 0}
	}
	return [4]uint32{}
}

// apicID is the core that cpuid shows t on: the one it is bound to, if it is.
func (p *Process) apicID(t *Thread) int {
	only, n := 0, 0
	for i, b := range t.affinity {
		if b != 0 {
			only, n = i*8+bits.TrailingZeros8(b), n+bits.OnesCount8(b)
		}
	}
	if n == 1 {
		return only
	}
	return p.host.Core(t)
}

// splitMix is a small generator: the guest's random numbers are the same in every run.
type splitMix uint64

func (s *splitMix) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// fill fills b with random bytes.
func (s *splitMix) fill(b []byte) {
	for i := range b {
		b[i] = byte(s.next() >> 24)
	}
}

// cpuinfo is /proc/cpuinfo.
func (p *Process) cpuinfo() string {
	out := ""
	for i := range p.cfg.Cores {
		out += fmt.Sprintf("processor\t: %d\nvendor_id\t: %s\ncpu family\t: 6\nmodel\t\t: 60\nmodel name\t: "+
			"%s\nstepping\t: 3\ncpu MHz\t\t: %d.000\ncache size\t: %d KB\nphysical id\t: 0\nsiblings\t: %d\ncore "+
			"id\t\t: %d\ncpu cores\t: %d\napicid\t\t: %d\nfpu\t\t: yes\nflags\t\t: %s\nbogomips\t: 2000.00\nclflush "+
			"size\t: 64\ncache_alignment\t: 64\naddress sizes\t: 46 bits physical, 48 bits virtual\n\n",
			i, cpuVendor, cpuBrand, tscHz/1_000_000, l3Size>>10, p.cfg.Cores, i, p.cfg.Cores, i, cpuFlags)
	}
	return out
}

const cpuFlags = "fpu tsc msr pae cx8 apic sep pge cmov pat clflush mmx fxsr sse sse2 ht syscall nx rdtscp lm " +
	"constant_tsc nonstop_tsc pni pclmulqdq ssse3 fma cx16 sse4_1 sse4_2 movbe popcnt aes xsave avx f16c lahf_lm abm bmi1 avx2 bmi2 erms"
