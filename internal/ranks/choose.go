package ranks

import (
	"fmt"
	"path/filepath"
	"strings"

	"lime/internal/profile"
)

// Which files are of the run.

// run is what the ranks of one start have in common, as far as their descriptions tell.
type run struct {
	launcher, job string
	command       string // where no job is told
	ranks         int
	unit          string
}

func runOf(m *profile.Meta) run {
	r := run{launcher: m.Launcher, job: m.Job, ranks: m.Ranks, unit: m.Collector + " " + m.Model}
	if r.job == "" {
		r.command = strings.Join(m.Command, "\x00")
	}
	return r
}

// candidate is a file that may be of the run.
type candidate struct {
	path string
	meta *profile.Meta
}

// choose picks the files of one run, the one that most of them are of, and says of the others why
// they are left out.
func (m *merger) choose(paths []string) {
	var list []candidate
	of := map[run]int{}
	for _, path := range paths {
		meta, err := profile.ReadMeta(path)
		switch {
		case err != nil:
			m.unreadable(path, err)
		case meta.Launcher == "":
			m.foreign(path, "it is no rank's profile, but that of a program that ran by itself")
		default:
			list = append(list, candidate{path, meta})
			of[runOf(meta)]++
		}
	}
	best := run{}
	for _, c := range list {
		if k := runOf(c.meta); of[k] > of[best] {
			best = k
		}
	}
	m.accept(list, best)
}

func (m *merger) accept(list []candidate, best run) {
	seen := map[int]string{}
	for _, c := range list {
		k := runOf(c.meta)
		switch before, twice := seen[c.meta.Rank]; {
		case k != best:
			m.foreign(c.path, "it is of another run: "+k.against(best))
		case twice && !isMerged(c.meta):
			m.foreign(c.path, fmt.Sprintf("it is of rank %d, and so is %s", c.meta.Rank, filepath.Base(before)))
		case best.ranks > 0 && c.meta.Rank >= best.ranks:
			m.foreign(c.path, fmt.Sprintf("it is of rank %d, and the run has ranks 0 to %d", c.meta.Rank, best.ranks-1))
		default:
			m.chosen = append(m.chosen, c.path)
			if !isMerged(c.meta) {
				m.mains[c.meta.Rank] = m.u.t.AddThread(profile.Thread{Name: threadName(c.meta.Rank, 0, ""), Parent: profile.None, Entry: profile.None})
				seen[c.meta.Rank] = c.path
			}
		}
	}
}

// against says in what a run differs from the one that is read.
func (r run) against(best run) string {
	switch {
	case r.launcher != best.launcher:
		return fmt.Sprintf("started by %s, the others by %s", r.launcher, best.launcher)
	case r.job != best.job:
		return fmt.Sprintf("of job %q, the others of %q", r.job, best.job)
	case r.ranks != best.ranks:
		return fmt.Sprintf("one of %d ranks, the others of %d", r.ranks, best.ranks)
	case r.unit != best.unit:
		return fmt.Sprintf("collected by %s, the others by %s", r.unit, best.unit)
	}
	return fmt.Sprintf("of %s, the others of %s", strings.ReplaceAll(r.command, "\x00", " "), strings.ReplaceAll(best.command, "\x00", " "))
}
