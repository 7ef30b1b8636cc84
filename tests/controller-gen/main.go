// Writes what controller-gen says of Kubernetes' own types, as the data that operator-runtime lays over their schemas.
//
//	schemas MINOR=DIR...
//
// DIR is a Go module that requires k8s.io/api of Kubernetes 1.MINOR. Its file `definitions` has the name of an OpenAPI definition on
// each line, such as `io.k8s.api.core.v1.PodSpec`; it gets a file `found` with the names of those that have a schema. A type is written with the versions in which controller-gen says the same of it.
// What is kept of a type is in schema.go.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A run of versions in which a type has one schema.
type run struct {
	first, last int
	schema      []byte
}

func main() {
	if err := write(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func write(versions []string) error {
	types := map[string][]run{}
	for _, version := range versions {
		minor, dir, _ := strings.Cut(version, "=")
		number, err := strconv.Atoi(minor)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, "definitions"))
		if err != nil {
			return err
		}
		schemas, err := load(dir, strings.Fields(string(text)))
		if err != nil {
			return fmt.Errorf("Kubernetes 1.%d: %w", number, err)
		}
		covered := strings.Join(slices.Sorted(maps.Keys(schemas)), "\n") + "\n"
		if err := os.WriteFile(filepath.Join(dir, "found"), []byte(covered), 0o644); err != nil {
			return err
		}
		for name, schema := range schemas {
			line, err := compact(schema)
			if err != nil {
				return err
			}
			runs := types[name]
			if end := len(runs) - 1; end >= 0 && runs[end].last == number-1 && bytes.Equal(runs[end].schema, line) {
				runs[end].last = number
			} else {
				types[name] = append(runs, run{number, number, line})
			}
		}
	}
	out := bufio.NewWriter(os.Stdout)
	separator := "{\n"
	for _, name := range slices.Sorted(maps.Keys(types)) {
		fmt.Fprintf(out, "%s%q:{", separator, name)
		for i, run := range types[name] {
			if i > 0 {
				out.WriteByte(',')
			}
			fmt.Fprintf(out, "\"%d-%d\":%s", run.first, run.last, run.schema)
		}
		out.WriteByte('}')
		separator = ",\n"
	}
	out.WriteString("\n}\n")
	return out.Flush()
}

// JSON on one line, with sorted keys and `<` as it is.
func compact(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSpace(out.Bytes()), err
}
