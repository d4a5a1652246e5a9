package profile

import "slices"

// FormatVersion is the version of the file format that this package writes, and
// the newest that it reads. It stands in the file as PRAGMA user_version.
const FormatVersion = 2

// applicationID marks a SQLite file as a lime profile ("lime" in ASCII).
const applicationID = 0x6c696d65

// tableSpec is one SQL table of the format. The Reader holds a file's schema
// against it, letter by letter: a file cannot put a view or another shape in its place.
type tableSpec struct {
	name   string
	create string
}

// schema lists every table. docs/profile-format.md explains each; a test holds the two together.
var schema = slices.Concat([]tableSpec{
	{"meta", `CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID`},
	{"note", `CREATE TABLE note(id INTEGER PRIMARY KEY, code TEXT, text TEXT, n INTEGER)`},
	{"label", `CREATE TABLE label(id INTEGER PRIMARY KEY, name TEXT)`},
	{"node_kind", `CREATE TABLE node_kind(id INTEGER PRIMARY KEY, name TEXT)`},
	{"edge_kind", `CREATE TABLE edge_kind(id INTEGER PRIMARY KEY, name TEXT)`},
	{"image", `CREATE TABLE image(id INTEGER PRIMARY KEY, path TEXT, build_id TEXT, base INTEGER, lo INTEGER, hi INTEGER)`},
	{"file", `CREATE TABLE file(id INTEGER PRIMARY KEY, path TEXT)`},
	{"source_line", `CREATE TABLE source_line(file INTEGER, line INTEGER, text TEXT, PRIMARY KEY(file, line)) WITHOUT ROWID`},
	{"function", `CREATE TABLE function(id INTEGER PRIMARY KEY, image INTEGER, name TEXT, link TEXT, entry INTEGER, file INTEGER, line INTEGER)`},
	{"event_kind", `CREATE TABLE event_kind(id INTEGER PRIMARY KEY, name TEXT, title TEXT, superior TEXT, unit TEXT, label INTEGER)`},
	{"event", `CREATE TABLE event(id INTEGER PRIMARY KEY, kind INTEGER, node INTEGER, addr INTEGER, place INTEGER, detail TEXT)`},
	{"section", `CREATE TABLE section(id INTEGER PRIMARY KEY, kind TEXT, end_addr INTEGER, end_node INTEGER, place INTEGER, start_place INTEGER)`},
	{"thread", `CREATE TABLE thread(id INTEGER PRIMARY KEY, name TEXT, parent INTEGER, tid INTEGER, start INTEGER, end INTEGER, entry INTEGER)`},
	{"path", `CREATE TABLE path(id INTEGER PRIMARY KEY, parent INTEGER, node INTEGER, addr INTEGER)`},
	{"path_sample", `CREATE TABLE path_sample(id INTEGER PRIMARY KEY, path INTEGER, thread INTEGER, section INTEGER, metric TEXT, value REAL)`},
	{"instance", `CREATE TABLE instance(id INTEGER PRIMARY KEY, section INTEGER, seq INTEGER, threads INTEGER, longest INTEGER, work INTEGER, parts BLOB, edges BLOB, events BLOB, costs BLOB, times BLOB)`},
}, codeTables, wasteTables, meetingTables, accountTables, traceTables, hostTables, lockTables)

// codeTables are packed, all of a program's code.
var codeTables = []tableSpec{
	{"name", `CREATE TABLE name(id INTEGER PRIMARY KEY, name TEXT)`},
	{"frame", `CREATE TABLE frame(id INTEGER PRIMARY KEY, n INTEGER, data BLOB)`},
	{"place", `CREATE TABLE place(id INTEGER PRIMARY KEY, n INTEGER, data BLOB)`},
	{"node", `CREATE TABLE node(id INTEGER PRIMARY KEY, n INTEGER, data BLOB)`},
	{"edge", `CREATE TABLE edge(id INTEGER PRIMARY KEY, n INTEGER, data BLOB)`},
}

// later reports whether a file may be without a table: it was written before there was one.
func later(table string) bool {
	return slices.ContainsFunc(slices.Concat(wasteTables, meetingTables, accountTables, traceTables, hostTables, lockTables),
		func(t tableSpec) bool { return t.name == table })
}

var labelNames = []string{Measured: "measured", Modelled: "modelled", Sampled: "sampled", Unavailable: "unavailable"}

var nodeKindNames = []string{
	EndFall: "fall", EndCond: "cond", EndJump: "jump", EndCall: "call", EndRet: "ret", EndJumpInd: "jump-ind",
	EndCallInd: "call-ind", EndSyscall: "syscall", EndOther: "other", NodePseudo: "pseudo",
}

var edgeKindNames = []string{
	EdgeTaken: "taken", EdgeFall: "fall", EdgeJump: "jump", EdgeJumpInd: "jump-ind", EdgeCall: "call",
	EdgeCallInd: "call-ind", EdgeReturn: "return", EdgeEnd: "end", EdgeVisit: "visit", EdgeOdd: "odd",
}

// names of the small enumerations, as the file and the text twin spell them.
func name[K ~uint8](names []string, k K) string {
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown"
}

// String returns "measured", "modelled", "sampled" or "unavailable".
func (l Label) String() string { return name(labelNames, l) }

// String returns the kind's name: "cond", "call", ...
func (k NodeKind) String() string { return name(nodeKindNames, k) }

// String returns the kind's name: "taken", "fall", ...
func (k EdgeKind) String() string { return name(edgeKindNames, k) }
