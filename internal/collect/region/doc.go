// Package region says which part of a run is measured: what a user asks for (Spec), which functions
// that makes worth a look (Names), and the time of the run that is in it (Window). It knows no
// collector, no program and no profile.
//
// Of a run of which only stretches are measured, the profile's clock stands still outside of them:
// moments of the run are mapped to measured time by Window.At, which grows in the stretches and
// nowhere else. So whatever is told of such a run by its times adds up like that of a whole one.
package region
