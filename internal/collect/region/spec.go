package region

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Spec is what a user asks for. The zero value is the whole run.
type Spec struct {
	From     []string      // while some thread is in one of these functions
	Phase    string        // while some thread is in a phase that the program marks with this name; AnyPhase: with any
	Delay    time.Duration // not before the run has gone on for so long
	Duration time.Duration // for so long; 0: to the end
}

// AnyPhase is the name that stands for those of all phases.
const AnyPhase = "all"

// On reports whether less than the whole run is asked for.
func (s *Spec) On() bool {
	return len(s.From) > 0 || s.Phase != "" || s.Delay > 0 || s.Duration > 0
}

// placed reports whether the program's functions say where it is.
func (s *Spec) placed() bool { return len(s.From) > 0 || s.Phase != "" }

// Check says what is wrong with it.
func (s *Spec) Check() error {
	for _, f := range s.From {
		if f == "" {
			return errors.New("--from: no function named")
		}
	}
	if s.Delay < 0 {
		return fmt.Errorf("--delay %v: choose a time above 0", s.Delay)
	}
	if s.Duration < 0 {
		return fmt.Errorf("--duration %v: choose a time above 0", s.Duration)
	}
	return nil
}

// Words are the options by which a user asks for it.
func (s *Spec) Words() (out []string) {
	for _, f := range s.From {
		out = append(out, "--from="+f)
	}
	if s.Phase != "" {
		out = append(out, "--phase="+s.Phase)
	}
	if s.Delay > 0 {
		out = append(out, "--delay="+s.Delay.String())
	}
	if s.Duration > 0 {
		out = append(out, "--duration="+s.Duration.String())
	}
	return out
}

// Parse is the inverse of Words.
func Parse(words []string) (s Spec, err error) {
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "--from":
			s.From = append(s.From, value)
		case "--phase":
			s.Phase = value
		case "--delay":
			s.Delay, err = time.ParseDuration(value)
		case "--duration":
			s.Duration, err = time.ParseDuration(value)
		default:
			err = fmt.Errorf("%q is no part of a region", w)
		}
		if err != nil {
			return s, err
		}
	}
	return s, s.Check()
}

// Never says why nothing was measured.
func (s *Spec) Never() string {
	switch {
	case len(s.From) > 0 && s.Delay > 0:
		return fmt.Sprintf("the program was not in %s after %v (a function that is inlined everywhere is never called)",
			strings.Join(s.From, " or "), s.Delay)
	case len(s.From) > 0:
		return fmt.Sprintf("the program never called %s (a function that is inlined everywhere is never called)",
			strings.Join(s.From, " or "))
	case s.Phase == AnyPhase:
		return "the program marked no phase: LIME_BEGIN and LIME_END of lime.h"
	case s.Phase != "":
		return fmt.Sprintf("the program marked no phase %q: LIME_BEGIN and LIME_END of lime.h", s.Phase)
	}
	return fmt.Sprintf("the program ended before %v were over", s.Delay)
}
