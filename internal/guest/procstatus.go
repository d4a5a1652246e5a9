package guest

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Files in which the host's kernel tells of the process what the program has inherited, and of lime
// what it has done since: the latter is replaced by what the program has done.

// residentKB is what the program has in memory, in kB: nobody knows, so it is always the same.
const residentKB = 65536

// procStatus is /proc/self/status: the host's, line by line, with what is known better.
func procStatus(p *Process) string {
	host, _ := os.ReadFile("/proc/self/status") // empty without /proc
	ours := statusLines(p)
	var b strings.Builder
	for line := range strings.Lines(string(host)) {
		key, _, _ := strings.Cut(line, ":")
		if text, ok := ours[key]; ok {
			line = key + ":\t" + text + "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// statusLines are those that would tell of lime or of the host.
func statusLines(p *Process) map[string]string {
	t := p.threads[0]
	kb := func(n uint64) string { return fmt.Sprintf("%8d kB", n) }
	all := p.size() >> 10
	lines := map[string]string{
		"Name": t.Name, "State": "R (running)", "TracerPid": "0", "FDSize": "256", "Threads": fmt.Sprint(len(p.threads)),
		"VmPeak": kb(all), "VmSize": kb(all), "VmData": kb(all), "VmHWM": kb(residentKB),
		"VmRSS": kb(residentKB), "RssAnon": kb(residentKB), "voluntary_ctxt_switches": "0", "nonvoluntary_ctxt_switches": "0",
		"Cpus_allowed": coreSet(p, coresOf(p, t)), "Cpus_allowed_list": rangesOf(coresOf(p, t)), "Mems_allowed": "1", "Mems_allowed_list": "0",
		"SigQ": fmt.Sprintf("0/%d", p.limit(unix.RLIMIT_SIGPENDING)[0]),
	}
	for _, k := range []string{"VmLck", "VmPin", "VmExe", "RssFile", "RssShmem", "VmStk", "VmLib", "VmPTE", "VmSwap"} {
		lines[k] = kb(0)
	}
	if p.cfg.FollowExec { // lime's filter
		lines["Seccomp"], lines["Seccomp_filters"] = "0", "0"
	}
	ignored, caught := handling(p)
	for k, s := range map[string]sigset{"SigPnd": t.pending.set, "ShdPnd": p.pending.set, "SigBlk": t.mask, "SigIgn": ignored, "SigCgt": caught} {
		lines[k] = fmt.Sprintf("%016x", uint64(s))
	}
	return lines
}

// handling is which signals the program ignores, and which it handles.
func handling(p *Process) (ignored, caught sigset) {
	for n := 1; n <= numSignals; n++ {
		switch p.actions[n].handler {
		case sigDfl:
		case sigIgn:
			ignored |= setOf(n)
		default:
			caught |= setOf(n)
		}
	}
	return ignored, caught
}

// coresOf is the set of those on which a thread may run.
func coresOf(p *Process, t *Thread) []byte {
	if t.affinity != nil {
		return t.affinity
	}
	return p.coreMask()
}

// rangesOf is a set as ranges.
func rangesOf(set []byte) string {
	var out []string
	has := func(n int) bool { return n < 8*len(set) && set[n/8]>>(n%8)&1 != 0 }
	for n := 0; n < 8*len(set); n++ {
		first := n
		for has(n) {
			n++
		}
		switch n - first {
		case 0:
		case 1:
			out = append(out, fmt.Sprint(first))
		default:
			out = append(out, fmt.Sprintf("%d-%d", first, n-1))
		}
	}
	return strings.Join(out, ",")
}

// limitNames are the rows of /proc/self/limits for the limits that lime remembers only.
var limitNames = map[string]uint64{
	"Max cpu time": unix.RLIMIT_CPU, "Max data size": unix.RLIMIT_DATA, "Max stack size": unix.RLIMIT_STACK,
	"Max resident set": unix.RLIMIT_RSS, "Max processes": unix.RLIMIT_NPROC, "Max open files": unix.RLIMIT_NOFILE,
	"Max locked memory": unix.RLIMIT_MEMLOCK, "Max address space": unix.RLIMIT_AS, "Max realtime timeout": unix.RLIMIT_RTTIME,
}

// procLimits is /proc/self/limits: the host's, with those rows as the program knows them.
func procLimits(p *Process) string {
	const name, value = 26, 21 // columns
	host, _ := os.ReadFile("/proc/self/limits")
	var b strings.Builder
	for line := range strings.Lines(string(host)) {
		if what, ok := limitNames[strings.TrimSpace(line[:min(name, len(line))])]; ok && len(line) > name+2*value {
			l := p.limit(what)
			line = fmt.Sprintf("%s%-20s %-20s %s", line[:name], limitText(l[0]), limitText(l[1]), line[name+2*value:])
		}
		b.WriteString(line)
	}
	return b.String()
}

func limitText(n uint64) string {
	if n == ^uint64(0) {
		return "unlimited"
	}
	return fmt.Sprint(n)
}
