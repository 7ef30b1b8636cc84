// Answers what Helm makes of templates, charts, YAML and TOML, for tests that compare with it.
//
// Each line of the input is a request in JSON, and each line of the output its answer:
//
//	{"kind": "template", "template": "{{ .Values.a }}", "data": {"a": 1}}   {"text": "1"}
//	{"kind": "chart", "path": "some/chart", "values": {}}                   see chart.go
//	{"kind": "time", "path": "some/chart", "runs": 9}                       {"value": {"seconds": 0.1}}
//	{"kind": "yaml", "value": {"a": 1}}                                     {"text": "a: 1\n"}
//	{"kind": "parse-yaml", "text": "a: 1"}                                  {"value": {"a": 1}}
//	{"kind": "toml", "value": {"a": 1}}                                     {"text": "a = 1.0\n"}
//	{"kind": "layers", "layers": [{"a": 1}, {"b": 2}]}                      {"value": {"a": 1, "b": 2}}
//	{"kind": "parse-toml", "text": "a = 1"}                                 {"value": {"a": 1}}
//
// Where Helm fails, the answer has an `error`. Numbers of a request are float64, as those of values files are.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"time"

	"github.com/BurntSushi/toml"
	v2loader "helm.sh/helm/v4/pkg/chart/v2/loader"
	"sigs.k8s.io/yaml"
)

type request struct {
	Kind     string `json:"kind"`
	Template string `json:"template"`
	Text     string `json:"text"`
	Data     any    `json:"data"`
	Value    any    `json:"value"`
	Runs     int    `json:"runs"`
	// What several values files give.
	Layers []map[string]any `json:"layers"`
	chartRequest
}

type answer struct {
	Text  *string `json:"text,omitempty"`
	Value any     `json:"value,omitempty"`
	Error string  `json:"error,omitempty"`
	*chartAnswer
}

// Warnings of the library, which it logs. They are answered with a chart.
var warnings bytes.Buffer

func main() {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	log.SetFlags(0)
	log.SetOutput(&warnings)
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	output := bufio.NewWriter(os.Stdout)
	for {
		line, err := input.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			output.Write(append(respond(line), '\n'))
			output.Flush()
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// An answer in one line. A value that JSON does not have, such as infinity, is an error.
func respond(line []byte) []byte {
	text, err := encode(safely(line))
	if err != nil {
		text, _ = encode(answer{Error: err.Error()})
	}
	return text
}

func encode(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimRight(text.Bytes(), "\n"), err
}

// The library may panic. That fails the request and not the program.
func safely(line []byte) (result answer) {
	defer func() {
		if panicked := recover(); panicked != nil {
			result.Error = fmt.Sprintf("panic: %v", panicked)
		}
	}()
	var asked request
	if err := json.Unmarshal(line, &asked); err != nil {
		return answer{Error: "request: " + err.Error()}
	}
	warnings.Reset()
	return asked.answer()
}

func (r request) answer() answer {
	switch r.Kind {
	case "template":
		return text(r.renderTemplate())
	case "chart":
		chart, err := r.render()
		chart.Warnings = lines(warnings.String())
		return failed(answer{chartAnswer: &chart}, err)
	case "time":
		start := time.Now()
		for range r.Runs {
			if _, err := r.render(); err != nil {
				return answer{Error: err.Error()}
			}
		}
		return answer{Value: map[string]float64{"seconds": time.Since(start).Seconds()}}
	case "yaml":
		data, err := yaml.Marshal(r.Value)
		return text(string(data), err)
	case "parse-yaml":
		var value any
		err := yaml.Unmarshal([]byte(r.Text), &value)
		return failed(answer{Value: value}, err)
	case "toml":
		var data bytes.Buffer
		err := toml.NewEncoder(&data).Encode(r.Value)
		return text(data.String(), err)
	case "layers":
		// As the command does with its values files.
		value := map[string]any{}
		for _, layer := range r.Layers {
			value = v2loader.MergeMaps(value, layer)
		}
		return answer{Value: value}
	case "parse-toml":
		value := map[string]any{}
		err := toml.Unmarshal([]byte(r.Text), &value)
		return failed(answer{Value: value}, err)
	}
	return answer{Error: fmt.Sprintf("request: the kind %q is unknown", r.Kind)}
}

func text(it string, err error) answer {
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Text: &it}
}

func failed(it answer, err error) answer {
	if err != nil {
		it.Error = err.Error()
	}
	return it
}
