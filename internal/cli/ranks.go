package cli

import (
	"github.com/spf13/pflag"

	"lime/internal/profile"
	"lime/internal/ranks"
)

// rankFlags tell a rank of a program of many processes which one it is.
type rankFlags struct {
	variable string
	placed   *ranks.Placed // held until the end
}

func (f *rankFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&f.variable, "rank-var", "",
		"the rank's number stands in this environment `variable`; default: those of Open MPI, MPICH, PMIx and Slurm")
}

// room is place, with what stands in the way of the output removed if that is forced.
func (f *rankFlags) room(a *app, output *string, force bool) (profile.RankInfo, error) {
	me, err := f.place(a, output)
	if err != nil {
		return me, err
	}
	if err := makeRoom(*output, force); err != nil {
		return me, failed(err)
	}
	return me, nil
}

// place says which rank this is, and turns the directory that -o names into the rank's file. For a
// process that is no rank output stays as it is.
func (f *rankFlags) place(a *app, output *string) (profile.RankInfo, error) {
	me, err := ranks.Mine(a.getenv, ranks.Ancestors, f.variable)
	if err != nil {
		return me, usage(err)
	}
	if me.Launcher == "" {
		return me, nil
	}
	placed, err := ranks.Place(*output, me)
	if err != nil {
		return me, failed(err)
	}
	f.placed, *output = placed, placed.Path
	return me, nil
}
