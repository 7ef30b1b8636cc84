// Checks bundles and catalogs with operator-framework's own code:
//
//	olm bundle DIR MINOR   runs every validator, with the optional ones, for Kubernetes 1.MINOR
//	olm catalog DIR        loads a file-based catalog and checks its upgrade graph, then prints it
//
// `bundle` prints one line for each finding, and fails only if the directory cannot be read: whoever calls it compares the lines.
// `catalog` prints a line `PACKAGE CHANNEL OLD -> NEW` for each upgrade edge. One validator asks `docker` for the platforms of images.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/validation"
	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operator-framework/operator-registry/pkg/lib/bundle"
	"github.com/sirupsen/logrus"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 3 && args[0] == "bundle":
		return checkBundle(args[1], "1."+args[2])
	case len(args) == 2 && args[0] == "catalog":
		return checkCatalog(args[1])
	}
	return errors.New("usage: olm bundle DIR MINOR | olm catalog DIR")
}

func checkBundle(dir, kubernetes string) error {
	logger := logrus.New()
	logger.SetOutput(io.Discard)
	images := bundle.NewImageValidator(nil, logrus.NewEntry(logger))
	report("format", images.ValidateBundleFormat(dir))
	report("content", images.ValidateBundleContent(filepath.Join(dir, "manifests")))

	// The whole directory: the validators also read the channels in metadata/.
	loaded, err := manifests.GetBundleFromDir(dir)
	if err != nil {
		return err
	}
	inputs := []any{loaded, map[string]string{"k8s-version": kubernetes}}
	for _, object := range loaded.Objects {
		inputs = append(inputs, object)
	}
	results := validation.AllValidators.Validate(inputs...)
	if len(results) == 0 {
		return errors.New("no validator has looked at the bundle")
	}
	for _, result := range results {
		for _, found := range slices.Concat(result.Errors, result.Warnings) {
			fmt.Printf("%s: %s\n", result.Name, strings.TrimSpace(found.Error()))
		}
	}
	return nil
}

func report(check string, err error) {
	if err != nil {
		fmt.Printf("%s: %s\n", check, err)
	}
}

func checkCatalog(dir string) error {
	config, err := declcfg.LoadFS(context.Background(), os.DirFS(dir))
	if err != nil {
		return err
	}
	// The model holds the rules of a catalog: one head per channel, no cycle, a bundle for each head, one package property.
	packages, err := declcfg.ConvertToModel(*config)
	if err != nil {
		return err
	}
	if len(packages) == 0 {
		return errors.New("the catalog has no package")
	}
	var lines []string
	for _, name := range packages {
		for _, channel := range name.Channels {
			head, err := channel.Head()
			if err != nil {
				return err
			}
			lines = append(lines, fmt.Sprintf("%s %s head %s", name.Name, channel.Name, head.Name))
			if channel == name.DefaultChannel {
				lines = append(lines, fmt.Sprintf("%s %s default", name.Name, channel.Name))
			}
			for _, entry := range channel.Bundles {
				for _, old := range slices.Concat([]string{entry.Replaces}, entry.Skips) {
					if old != "" {
						lines = append(lines, fmt.Sprintf("%s %s %s -> %s", name.Name, channel.Name, old, entry.Name))
					}
				}
			}
		}
	}
	slices.Sort(lines)
	for _, line := range lines {
		fmt.Println(line)
	}
	return nil
}
