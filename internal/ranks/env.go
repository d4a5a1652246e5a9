package ranks

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"lime/internal/profile"
)

// A launcher is one way of telling a process which rank it is: by variables of its environment.
type launcher struct {
	name   string
	rank   string
	size   []string // the first of them that is set
	job    []string // what tells one start of ranks from another, put together; all of them, or nothing is known
	needs  string   // is set only where there are ranks, if rank is set elsewhere, too
	unless string   // is set where the process is a person's shell
	told   string   // an option of whoever started the process; what it was given does for job, if that is not set
	source string   // where that is laid down
}

// launchers are looked at in turn: a launcher may have been started by another, whose variables are
// still there.
func launchers() []launcher {
	return []launcher{
		{name: "Open MPI", rank: "OMPI_COMM_WORLD_RANK", size: []string{"OMPI_COMM_WORLD_SIZE"},
			job: []string{"PMIX_NAMESPACE"}, source: "mpirun(1) of Open MPI, Environmental Variables"},
		{name: "MVAPICH2", rank: "MV2_COMM_WORLD_RANK", size: []string{"MV2_COMM_WORLD_SIZE"},
			source: "MVAPICH2 user guide, MPI launcher variables"},
		{name: "PALS", rank: "PALS_RANKID", size: []string{"PALS_NRANKS"}, job: []string{"PALS_APID"}, source: "HPE Cray PALS, aprun(1)"},
		{name: "PMI", rank: "PMI_RANK", size: []string{"PMI_SIZE"}, job: []string{"SLURM_JOB_ID", "SLURM_STEP_ID"},
			told: "--control-port", source: "PMI-1 and PMI-2 of MPICH (hydra)"},
		{name: "PMIx", rank: "PMIX_RANK", size: []string{"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"},
			job: []string{"PMIX_NAMESPACE"}, source: "PMIx 4, 5.1"},
		{name: "Slurm", rank: "SLURM_PROCID", size: []string{"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"},
			job:   []string{"SLURM_JOB_ID", "SLURM_STEP_ID"},
			needs: "SLURM_STEP_ID", unless: "SLURM_PTY_PORT", source: "srun(1), Output environment variables"},
	}
}

// Mine says which rank this process is by its environment; the zero value where it is none. A
// variable that the user names goes before all others, and must be set then.
func Mine(getenv func(string) string, parents Parents, named string) (profile.RankInfo, error) {
	host, _ := os.Hostname()
	if named != "" {
		n, err := number(getenv, named)
		if err != nil {
			return profile.RankInfo{}, fmt.Errorf("--rank-var %s: %w", named, err)
		}
		return profile.RankInfo{Launcher: named, Rank: n, Host: host}, nil
	}
	for _, l := range launchers() {
		if !l.started(getenv) {
			continue
		}
		n, err := number(getenv, l.rank)
		if err != nil {
			return profile.RankInfo{}, fmt.Errorf("%s of %s: %w; name another variable with --rank-var", l.rank, l.name, err)
		}
		return profile.RankInfo{Launcher: l.name, Rank: n, Ranks: l.ranks(getenv), Host: host, Job: l.jobOf(getenv, parents)}, nil
	}
	return profile.RankInfo{}, nil
}

// started reports whether the process was started by the launcher.
func (l *launcher) started(getenv func(string) string) bool {
	return getenv(l.rank) != "" && (l.needs == "" || getenv(l.needs) != "") && (l.unless == "" || getenv(l.unless) == "")
}

// ranks is how many there are, 0 if that is not told.
func (l *launcher) ranks(getenv func(string) string) int {
	for _, v := range l.size {
		if n, err := number(getenv, v); err == nil {
			return n
		}
	}
	return 0
}

func (l *launcher) jobOf(getenv func(string) string, parents Parents) string {
	if job := l.set(getenv); job != "" || l.told == "" || parents == nil {
		return job
	}
	for _, args := range parents() {
		if i := slices.Index(args, l.told); i >= 0 && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

// set is the job as the environment has it.
func (l *launcher) set(getenv func(string) string) string {
	var words []string
	for _, v := range l.job {
		w := getenv(v)
		if w == "" {
			return ""
		}
		words = append(words, w)
	}
	return strings.Join(words, ".")
}

// maxRank is the largest number that a file's name has room for in order.
const maxRank = 99_999_999

func number(getenv func(string) string, name string) (int, error) {
	v := getenv(name)
	if v == "" {
		return 0, fmt.Errorf("it is not set")
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > maxRank {
		return 0, fmt.Errorf("%q is no rank (0 to %d)", v, maxRank)
	}
	return n, nil
}
