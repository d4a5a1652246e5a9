package ranks

import (
	"os"
	"strings"
	"testing"

	"lime/internal/profile"
)

func env(pairs ...string) func(string) string {
	m := map[string]string{}
	for _, p := range pairs {
		k, v, _ := strings.Cut(p, "=")
		m[k] = v
	}
	return func(k string) string { return m[k] }
}

func TestMine(t *testing.T) {
	host, _ := os.Hostname()
	for _, c := range []struct {
		name, vars, named string
		want              profile.RankInfo
	}{
		{name: "none", vars: "HOME=/root SLURM_JOB_ID=7", want: profile.RankInfo{}},
		{name: "Open MPI", vars: "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=8 PMIX_RANK=3 PMIX_NAMESPACE=761",
			want: profile.RankInfo{Launcher: "Open MPI", Rank: 3, Ranks: 8, Job: "761"}},
		{name: "Open MPI within a batch job of Slurm",
			vars: "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 SLURM_PROCID=0 SLURM_NTASKS=9 SLURM_STEP_ID=0",
			want: profile.RankInfo{Launcher: "Open MPI", Rank: 1, Ranks: 2}},
		{name: "MVAPICH2", vars: "MV2_COMM_WORLD_RANK=5 MV2_COMM_WORLD_SIZE=6", want: profile.RankInfo{Launcher: "MVAPICH2", Rank: 5, Ranks: 6}},
		{name: "PALS", vars: "PALS_RANKID=5 PALS_NRANKS=6 PALS_APID=ab", want: profile.RankInfo{Launcher: "PALS", Rank: 5, Ranks: 6, Job: "ab"}},
		{name: "MPICH", vars: "PMI_RANK=0 PMI_SIZE=4", want: profile.RankInfo{Launcher: "PMI", Ranks: 4}},
		{name: "MPICH under srun", vars: "PMI_RANK=2 PMI_SIZE=4 SLURM_JOB_ID=12 SLURM_STEP_ID=1 SLURM_PROCID=2",
			want: profile.RankInfo{Launcher: "PMI", Rank: 2, Ranks: 4, Job: "12.1"}},
		{name: "PMIx of srun", vars: "PMIX_RANK=2 SLURM_NTASKS=4 PMIX_NAMESPACE=slurm.pmix.12.0",
			want: profile.RankInfo{Launcher: "PMIx", Rank: 2, Ranks: 4, Job: "slurm.pmix.12.0"}},
		{name: "PMIx without a size", vars: "PMIX_RANK=2", want: profile.RankInfo{Launcher: "PMIx", Rank: 2}},
		{name: "srun", vars: "SLURM_PROCID=1 SLURM_NTASKS=9 SLURM_STEP_NUM_TASKS=4 SLURM_JOB_ID=12 SLURM_STEP_ID=0",
			want: profile.RankInfo{Launcher: "Slurm", Rank: 1, Ranks: 4, Job: "12.0"}},
		{name: "a batch script is no rank", vars: "SLURM_PROCID=0 SLURM_NTASKS=9 SLURM_JOB_ID=12", want: profile.RankInfo{}},
		{name: "a person's shell under srun is no rank",
			vars: "SLURM_PROCID=0 SLURM_NTASKS=1 SLURM_STEP_ID=0 SLURM_PTY_PORT=4711", want: profile.RankInfo{}},
		{name: "a variable of the user's own", vars: "MY_RANK=7 PMI_RANK=1 PMI_SIZE=2", named: "MY_RANK",
			want: profile.RankInfo{Launcher: "MY_RANK", Rank: 7}},
	} {
		if c.want.Launcher != "" {
			c.want.Host = host
		}
		got, err := Mine(env(strings.Fields(c.vars)...), nil, c.named)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
	}
}

func TestMineNamesWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ vars, named, want string }{
		{"", "MY_RANK", "--rank-var MY_RANK: it is not set"},
		{"MY_RANK=x", "MY_RANK", `--rank-var MY_RANK: "x" is no rank (0 to 99999999)`},
		{"PMI_RANK=-1", "", `PMI_RANK of PMI: "-1" is no rank (0 to 99999999); name another variable with --rank-var`},
	} {
		if _, err := Mine(env(strings.Fields(c.vars)...), nil, c.named); err == nil || err.Error() != c.want {
			t.Errorf("%q: %v; want %s", c.vars, err, c.want)
		}
	}
}

// Every row says where it comes from, and is found by its own variables alone.
func TestLaunchers(t *testing.T) {
	for _, l := range launchers() {
		vars := []string{l.rank + "=3"}
		if l.needs != "" {
			vars = append(vars, l.needs+"=1")
		}
		got, err := Mine(env(vars...), nil, "")
		if err != nil || got.Launcher != l.name || got.Rank != 3 {
			t.Errorf("%s: %+v, %v", l.name, got, err)
		}
		if l.source == "" || len(l.size) == 0 {
			t.Errorf("%s: a row without source or size", l.name)
		}
	}
}

// MPICH's launcher tells its job to its helper only, who started this process, or a script in
// between.
func TestJobOfTheParent(t *testing.T) {
	parents := func() [][]string {
		return [][]string{{"sh", "-c", "lime"}, {"hydra_pmi_proxy", "--control-port", "host:4711", "--rmk", "user"}, {"mpirun", "-n", "2"}}
	}
	for vars, want := range map[string]string{
		"PMI_RANK=1 PMI_SIZE=2":                                "host:4711",
		"PMI_RANK=1 PMI_SIZE=2 SLURM_JOB_ID=7 SLURM_STEP_ID=1": "7.1",
		"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2":        "",
	} {
		if got, err := Mine(env(strings.Fields(vars)...), parents, ""); err != nil || got.Job != want {
			t.Errorf("%s: job %q, %v; want %q", vars, got.Job, err, want)
		}
	}
	if len(Ancestors()) == 0 {
		t.Error("who started the test is not found")
	}
}
