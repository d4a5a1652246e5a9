// Command sbom prints what a Go program was built of, by the record that is in it, as a CycloneDX
// list: go run ./scripts/sbom PROGRAM
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
)

type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
	Ref     string `json:"bom-ref"`
}

type list struct {
	Format   string `json:"bomFormat"`
	Spec     string `json:"specVersion"`
	Version  int    `json:"version"`
	Metadata struct {
		Component component `json:"component"`
	} `json:"metadata"`
	Components []component `json:"components"`
}

func main() {
	if len(os.Args) != 2 {
		fail(fmt.Errorf("usage: sbom PROGRAM"))
	}
	info, err := buildinfo.ReadFile(os.Args[1])
	if err != nil {
		fail(fmt.Errorf("%s: %w", os.Args[1], err))
	}
	l := list{Format: "CycloneDX", Spec: "1.5", Version: 1}
	l.Metadata.Component = of("application", &info.Main)
	l.Components = []component{of("library", &debug.Module{Path: "std", Version: info.GoVersion})}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		l.Components = append(l.Components, of("library", m))
	}
	out, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		fail(err)
	}
	fmt.Println(string(out))
}

func of(kind string, m *debug.Module) component {
	purl := "pkg:golang/" + m.Path + "@" + m.Version
	return component{Type: kind, Name: m.Path, Version: m.Version, PURL: purl, Ref: purl}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "sbom:", err)
	os.Exit(1)
}
