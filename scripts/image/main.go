// Command image writes a container image with one program in it, for docker load and podman load:
//
//	image PROGRAM VERSION OUT.tar
//
// The same program gives the same bytes: the image's time is SOURCE_DATE_EPOCH. It has a module of
// its own, so that nobody who builds the program needs the library.
package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: image PROGRAM VERSION OUT.tar")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func write(program, version, out string) error {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	at := time.Unix(seconds, 0).UTC()
	layer, err := layerOf(program, at)
	if err != nil {
		return err
	}
	made, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(layer)), nil })
	if err != nil {
		return fmt.Errorf("layer of %s: %w", program, err)
	}
	image, err := mutate.AppendLayers(empty.Image, made)
	if err != nil {
		return fmt.Errorf("image of %s: %w", program, err)
	}
	plain, err := image.ConfigFile()
	if err != nil {
		return fmt.Errorf("image of %s: %w", program, err)
	}
	base := filepath.Base(program)
	image, err = mutate.ConfigFile(image, &v1.ConfigFile{
		Architecture: "amd64", OS: "linux", Created: v1.Time{Time: at},
		Config:  v1.Config{Entrypoint: []string{"/usr/bin/" + base}, WorkingDir: "/work", Env: []string{"PATH=/usr/bin:/bin"}},
		RootFS:  plain.RootFS,
		History: []v1.History{{Created: v1.Time{Time: at}, CreatedBy: base + " " + version}},
	})
	if err != nil {
		return fmt.Errorf("configuration of the image: %w", err)
	}
	tag, err := name.NewTag(base + ":" + version)
	if err != nil {
		return fmt.Errorf("version %q: %w", version, err)
	}
	return tarball.WriteToFile(out, tag, image)
}

// layerOf is the archive of the image's files.
func layerOf(program string, at time.Time) ([]byte, error) {
	code, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, dir := range []struct {
		name string
		mode int64
	}{{"tmp/", 0o1777}, {"usr/", 0o755}, {"usr/bin/", 0o755}, {"work/", 0o777}} {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir.name, Mode: dir.mode, ModTime: at}); err != nil {
			return nil, err
		}
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: "usr/bin/" + filepath.Base(program), Mode: 0o755, Size: int64(len(code)), ModTime: at}
	if err := w.WriteHeader(h); err != nil {
		return nil, err
	}
	if _, err := w.Write(code); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
