// Package view is the web application behind 'lime view': a server on a profile, its API, and the
// page that asks it. It may import report, analysis, profile and unit; it opens no binary and no
// source file, runs nothing itself (see Again), and writes nothing but what Export is asked for, what
// Keep keeps for the next start, and what it sorts on a disk for a while (see Memory).
//
// # The API
//
// Every answer is the answer to a GET of /api/NAME?parameters, and depends on the profile and these
// alone. p is the number of the profile (0 if left out). Numbers out of range and names that do not
// exist are an error with a sentence, in JSON: {"error": "..."}.
//
//	runs                      the profiles: names, clock, threads, sections, kinds of events, call paths or not
//	state     p               how far the profile has been read; whether its file is still the one that was opened
//	head      p               report.Head: the figures, verdicts, notes, sections by time lost, costs, effort
//	section   p s             report.SectionPage: account, causes, threads of section s
//	instance  p s i           one instance: its threads' times, who came last, the calls open in thread t
//	cells     p s m z x b     a tile of threads x instances: metric m, 2^z instances in a cell
//	threads   p s m           metric m of section s (-1: of all) for every thread
//	files     p s             the files with their share of the time
//	source    p f s           the lines of file f: text, time, runs by thread, events
//	asm       p f l s         the code of the functions that have instructions of line l: blocks, how often they ran
//	span      p z x b         a tile of threads x time: 1/2^z of the run in 256 cells
//	sketch    p               of a large run that is not yet read: how many instances were drawn by lot for a first picture
//	sketched  p b             the picture: as span's tile of the whole run
//	window    p from to r     what the threads, those of rank r alone, did in a stretch of time, and which sections ran
//	parts     p from to b     the parts of sections in a stretch of time, if they are few enough to be drawn one by one
//	critical  p from to       the critical path in a stretch of time, and what it leads through
//	paths     p v s t r at from to
//	                          call paths as a tree (v: tree, bottom-up, flat), of a section, a thread, a rank, a stretch of time; at: the row to begin with;
//	                          q: beside those of another profile
//	ran       p z x b d       a tile of threads x time: which function ran at depth d of the call path
//	rannames  p               the functions' names, by their numbers
//	moment    p t at          the call path on which thread t was at a moment
//	calls     p s             functions with their own time and callers (where there are counts and no call paths)
//	compare   p q             report.Diff of two profiles
//	scaling                   scale.Scaling: all profiles beside the one on the fewest cores
//	possible  p               whether the page may run the program again, and by which command
//	again     p s c r         POST: runs it without cause c of section s, or with row r of its account evened out
//	job       id              how such a run stands, and its outcome
//	cancel    id              POST: ends it
//	live                      whether a run goes on of which more is to come; answers of another generation are out of date
//	stop                      POST: ends that run
//
// A metric m is time, wait, lock, off, kind:NAME (events of a kind), cost:NAME
// (clock units lost to them) or line:F:L (how often line L of file F ran).
//
// The three kinds of tile are binary, little endian, and hold at most 64 kB:
//
//   - cells: uint32 rows, columns, instances that were read, instances there are; then float32 min,
//     max, mean for every cell, row by
//     row; NaN where a thread took no part. A tile has 64 rows (band b) and 64 columns (from
//     instance 64 x 2^z on).
//
//   - span: uint8 work, wait, lock, off for every cell, row by row, as shares of 255; what is left
//     is time about which the profile
//     says nothing. A tile has 64 rows and 256 columns.
//
//   - ran: uint16 a cell of span's tiles: the number of the function that ran longest in it, plus
//     one; 0 where no sample says. Depth 0 is the innermost function, 1 the outermost.
//
// They are levels of one pyramid each: a level is made from the parts when it is first asked for.
//
// # What is kept
//
// Keep names a directory below which each profile has one of its own: the index of its parts with
// the coarsest levels of the time line (kept.go), which is mapped and not read, and the answers
// that took long to make (store.go), those of the report among them. Another state of the profile's
// file, other options or another lime find another directory. What is not there is made again.
//
// # Memory
//
// Of a large profile no more is in memory than pieces. Readers sort what they find in runs of 2 MB,
// which lie in a file without a name (runs.go); the runs are merged into the file of the index
// (disk.go), in that directory or, where nothing is kept, in one for temporary files that is gone
// with lime. Whoever has looked through lanes of the mapped file gives their pages back
// (index.drop). Small profiles, and those for which a disk has no room, are merged into memory.
//
// # Addresses
//
// What follows # in the page's address is the view and all that was chosen in it:
// #section?p=0&s=3&m=wait. Opening the address restores it. The server never sees it.
//
// # Security
//
// The server listens on 127.0.0.1 and a free port unless told otherwise. A request needs the token,
// which is drawn anew for each start: as ?token= in the address that is printed, which sets a
// cookie (HttpOnly, SameSite=Strict, its name from the token, so that several servers keep apart),
// or as "Authorization: Bearer". Its Host must be a literal IP address, localhost, or the name that
// --listen gave (a page of another site that had its name point here would send its own name), its
// Origin, if there is one, the same as its Host, and Sec-Fetch-Site nothing from elsewhere. Methods
// but GET and HEAD are refused; what runs something wants POST, and the user's leave at the start.
// The page may load scripts, styles and data from this server alone (Content-Security-Policy, no
// inline script or style), be framed by nobody, and sends no referrer. What a profile says reaches
// the page as JSON and becomes text nodes; control characters and those that reverse the direction
// of writing are replaced, overlong names cut. No answer reads anything but the profile, which
// stays open from the start: no parameter is a path.
package view
