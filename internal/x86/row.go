package x86

// A row of a table is one line:
//
//	[encodings] key name operands ; attributes # page
//
// encodings: any of l (legacy), v (VEX), e (EVEX), x (XOP); only in tables that
// mix them. key: [pp.]opcode[-opcode][/reg][m|r[rm]][.w0|.w1][.l0..2][.b0], where pp
// is np, 66, f3 or f2 (absent: any prefix), m and r mean ModRM.mod not 3 and 3.
// An operand is an access (none: read, = write, + both), a kind, a size, and a
// second size or a note. Page is the manual's page if it is not the name.
//
// Kinds: E general register or memory by ModRM.rm, R register only, M memory
// only, G register by ModRM.reg, B by vvvv, Z by the opcode's low bits, A the
// accumulator; V, H, W, U, L vector registers (reg, vvvv, rm or memory, rm only,
// immediate); X memory addressed through a vector index; P, Q, N MMX (reg, rm or
// memory, rm only); k, i, j mask registers (reg, vvvv, rm; jb to jq may be memory,
// a trailing m says must be); T a tile by vvvv; S a segment register; I immediate; J displacement;
// O absolute address.
//
// Sizes in bytes as a number, or: b 1, w 2, d 4, q 8, o 16, u 32, v 2/4/8 by operand
// size, z 2/4, y 4/8 by W, e 4/8 by W, x the vector length, h f g a half, fourth,
// eighth of it, D movddup's, s a far pointer, n 8, r register only, 0 no access
// (0a: an access whose size depends on the state).
type row struct {
	encs       uint8 // bit per class
	pp         int8  // -1 any
	first      uint8
	last       uint8
	mask, want uint16 // on the selector, see selector
	name       string
	page       string
	ops        [maxOps]operand
	nops       uint8
	attr       attr
	reads      RegSet
	writes     RegSet
	flagsRead  Flags
	flagsWrite Flags
	branch     Branch
	special    Special
	bcast      uint8 // element bytes of an EVEX broadcast, bcastByW: 4 or 8 by W
	source     string
}

const (
	maxOps   = 5
	bcastByW = 0xff
)

// operand is one operand of a row.
type operand struct {
	kind   byte
	size   size
	access access
}

type access uint8

const (
	accRead access = 1 << iota
	accWrite
)

// size is a fixed number of bytes, or one of the symbolic sizes.
type size uint16

const (
	sizeSymbolic size = 1 << 12

	sizeV size = sizeSymbolic + iota
	sizeZ
	sizeY
	sizeX
	sizeHalf
	sizeFourth
	sizeEighth
	sizeDup
	sizeFar
	sizeState // an access of a size that only the processor knows
)

var sizeLetters = map[byte]size{
	'b': 1, 'w': 2, 'd': 4, 'q': 8, 'n': 8, 'o': 16, 'u': 32, 'v': sizeV, 'z': sizeZ, 'y': sizeY, 'e': sizeY,
	'x': sizeX, 'h': sizeHalf, 'f': sizeFourth, 'g': sizeEighth, 'D': sizeDup, 's': sizeFar, 'r': 0,
}

// attr is a set of properties of a row.
type attr uint32

const (
	attrDef64     attr = 1 << iota // operand size 64 by default
	attrForce64                    // operand size 64 whatever the prefixes
	attrImpRead                    // implicit memory read
	attrImpWrite                   // implicit memory write
	attrCondWrite                  // may write nothing
	attrCond                       // condition code in the opcode's low bits
	attrString                     // string instruction: takes rep
	attrLock                       // locked with memory
	attrShiftImm                   // immediate count: none of the flags if zero
	attrBits                       // register bit offset reaches beyond the operand
	attrX87
	attrMMX
	attrSSE
	attrAVX
	attrAMX
	attrState      // saves or restores all register state
	attrCompress   // disp8 scaled by the element: W 4 or 8
	attrCompressBW // disp8 scaled by the element: W 1 or 2
	attrSystem     // may fault in user mode (UMIP)
	attrControl    // ModRM.mod is ignored: control and debug registers
	attrModRM      // has a ModRM byte
	attrVSIB
	attrVVVV // has a vvvv operand
	attrXMM0Read
	attrXMM0Write
	attrAllXMM // reads and writes vector registers that no operand names
)

var attrNames = map[string]attr{
	"d64": attrDef64, "f64": attrForce64, "ir": attrImpRead, "iw": attrImpWrite, "cond": attrCondWrite,
	"cc": attrCond, "str": attrString, "lock": attrLock, "shi": attrShiftImm, "bits": attrBits,
	"x87": attrX87, "mmx": attrMMX, "sse": attrSSE, "avx": attrAVX, "amx": attrAMX, "xst": attrState,
	"cx": attrCompress, "cx2": attrCompressBW, "sys": attrSystem, "cr": attrControl,
	"x0r": attrXMM0Read, "x0w": attrXMM0Write, "xall": attrAllXMM,
}

var branchNames = map[string]Branch{
	"cond": BranchCond, "loop": BranchLoop, "jump": BranchJump, "call": BranchCall, "jumpind": BranchJumpInd,
	"callind": BranchCallInd, "ret": BranchRet, "syscall": BranchSyscall, "far": BranchFar, "trap": BranchTrap, "txn": BranchTxn,
}

var specialNames = map[string]Special{
	"cpuid": SpecialCPUID, "rdtsc": SpecialRDTSC, "rdtscp": SpecialRDTSCP, "rdpid": SpecialRDPID, "xgetbv": SpecialXGETBV,
	"rdrand": SpecialRDRAND, "fsgsbase": SpecialFSGSBASE, "pause": SpecialPause, "serial": SpecialSerial,
	"xsave": SpecialXSAVE, "privileged": SpecialPrivileged,
}

var regNames = map[string]Reg{
	"ax": RAX, "cx": RCX, "dx": RDX, "bx": RBX, "sp": RSP, "bp": RBP, "si": RSI, "di": RDI,
	"r8": R8, "r9": R9, "r10": R10, "r11": R11,
}

var flagLetters = map[rune]Flags{'c': CF, 'p': PF, 'a': AF, 'z': ZF, 's': SF, 'o': OF, 'd': DF}

// The classes of encoding that a table is indexed by.
const (
	classLegacy = iota
	classVEX
	classEVEX
	classXOP
	numClasses
)

var classLetters = map[rune]int{'l': classLegacy, 'v': classVEX, 'e': classEVEX, 'x': classXOP}

// The selector of a row within the chain of its opcode.
const (
	selReg  = 0 // 3 bits
	selRM   = 3 // 3 bits
	selMod3 = 6
	selW    = 7
	selL    = 8 // 2 bits
	selB    = 10
)
