package view

import (
	"embed"

	"lime/internal/report"
)

// The page: written by hand, but for app.js and app.css, which 'make web' builds from web/src.
//
//go:embed web/index.html web/licences.txt web/dist/app.js web/dist/app.css
var web embed.FS

// asset is a file of the page.
type asset struct {
	mime string
	body func() ([]byte, error)
}

func file(mime, name string) asset {
	return asset{mime, func() ([]byte, error) { return web.ReadFile("web/" + name) }}
}

// assets lists the files of the page by their addresses.
func assets() map[string]asset {
	return map[string]asset{
		"/":             file("text/html; charset=utf-8", "index.html"),
		"/app.js":       file("text/javascript; charset=utf-8", "dist/app.js"),
		"/app.css":      file("text/css; charset=utf-8", "dist/app.css"),
		"/licences.txt": file("text/plain; charset=utf-8", "licences.txt"),
		"/report.css":   {"text/css; charset=utf-8", func() ([]byte, error) { return []byte(report.Stylesheet()), nil }},
	}
}
