// The Go runtime would keep the control group's files open, at descriptors that
// a simulated program expects to be free.
//
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// Command lime tells why a multi-threaded program wastes its cores, and names
// the source line. All of it lives in internal/cli.
package main

import (
	"os"

	"lime/internal/cli"
	"lime/internal/start"
)

func main() {
	start.KeepIgnored()
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
