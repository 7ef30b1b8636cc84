// Answers what apiextensions thinks of the CEL rules of schemas, one schema as JSON per line of stdin.
//
// With the argument `functions`, it prints the functions that a new rule may call.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// A rule, and what became of it. The costs are absent if it does not compile.
type judged struct {
	Path        string  `json:"path"`
	Index       int     `json:"index"`
	Fault       string  `json:"fault,omitempty"`
	Cost        *uint64 `json:"cost,omitempty"`
	Cardinality uint64  `json:"cardinality"`
	// Of the expression of the message.
	MessageFault string  `json:"messageFault,omitempty"`
	MessageCost  *uint64 `json:"messageCost,omitempty"`
	UsesOld      bool    `json:"usesOld"`
}

var environments = environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())

// Compiles the rules of a schema together, or each by itself if one of them makes cel-go panic.
func compile(info *validation.CELTypeInfo) (results []cel.CompilationResult, err error) {
	defer func() {
		panicked := recover()
		if panicked == nil {
			return
		}
		if len(info.Schema.XValidations) == 1 {
			fault := &apiservercel.Error{Detail: fmt.Sprint("panic: ", panicked)}
			results, err = []cel.CompilationResult{{Error: fault}}, nil
			return
		}
		results, err = nil, nil
		for _, rule := range info.Schema.XValidations {
			schema := *info.Schema
			schema.XValidations = v1.ValidationRules{rule}
			one, err := compile(&validation.CELTypeInfo{Schema: &schema, DeclType: info.DeclType})
			if err != nil {
				panic(err)
			}
			results = append(results, one...)
		}
	}()
	loader := cel.NewExpressionsEnvLoader()
	return cel.Compile(info.Schema, info.DeclType, celconfig.PerCallLimit, environments, loader)
}

func judge(schema *apiextensions.JSONSchemaProps, path string, context *validation.CELSchemaContext, all []judged) ([]judged, error) {
	if len(schema.XValidations) > 0 {
		info, err := context.TypeInfo()
		if err != nil {
			return nil, err
		}
		if info == nil {
			return nil, fmt.Errorf("%s: no type", path)
		}
		results, err := compile(info)
		if err != nil {
			return nil, err
		}
		for index, result := range results {
			one := judged{Path: path, Index: index, Cardinality: result.MaxCardinality, UsesOld: result.UsesOldSelf}
			if context.MaxCardinality != nil {
				one.Cardinality = *context.MaxCardinality
			}
			if result.Error != nil {
				one.Fault = result.Error.Detail
			} else {
				one.Cost = &result.MaxCost
			}
			if result.MessageExpressionError != nil {
				one.MessageFault = result.MessageExpressionError.Detail
			} else if result.MessageExpression != nil {
				one.MessageCost = &result.MessageExpressionMaxCost
			}
			all = append(all, one)
		}
	}
	var err error
	names := make([]string, 0, len(schema.Properties))
	for name := range schema.Properties {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		field := schema.Properties[name]
		step := "." + name
		if path == "" {
			step = name
		}
		if all, err = judge(&field, path+step, context.ChildPropertyContext(&field, name), all); err != nil {
			return nil, err
		}
	}
	if values := schema.AdditionalProperties; values != nil && values.Schema != nil {
		child := context.ChildAdditionalPropertiesContext(values.Schema)
		if all, err = judge(values.Schema, path+"{}", child, all); err != nil {
			return nil, err
		}
	}
	if items := schema.Items; items != nil && items.Schema != nil {
		if all, err = judge(items.Schema, path+"[]", context.ChildItemsContext(items.Schema), all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func answer(line []byte) ([]judged, error) {
	var external v1.JSONSchemaProps
	if err := json.Unmarshal(line, &external); err != nil {
		return nil, err
	}
	var schema apiextensions.JSONSchemaProps
	if err := v1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&external, &schema, nil); err != nil {
		return nil, err
	}
	built, err := structural.NewStructural(&schema)
	if err != nil {
		return nil, err
	}
	if errors := structural.ValidateStructural(nil, built); len(errors) > 0 {
		return nil, errors.ToAggregate()
	}
	return judge(&schema, "", validation.RootCELContext(&schema), []judged{})
}

func functions() {
	env := environments.NewExpressionsEnv()
	for name, function := range env.Functions() {
		for _, overload := range function.OverloadDecls() {
			arguments := []string{}
			for _, argument := range overload.ArgTypes() {
				arguments = append(arguments, argument.String())
			}
			line, _ := json.Marshal([]any{name, overload.ID(), overload.IsMemberFunction(), arguments, overload.ResultType().String()})
			fmt.Println(string(line))
		}
	}
	for _, macro := range env.Macros() {
		fmt.Fprintln(os.Stderr, macro.MacroKey())
	}
	fmt.Fprintln(os.Stderr, environment.DefaultCompatibilityVersion())
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "functions" {
		functions()
		return
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	out := bufio.NewWriter(os.Stdout)
	for lines.Scan() {
		type reply struct {
			Error string   `json:"error,omitempty"`
			Rules []judged `json:"rules"`
		}
		rules, err := answer(lines.Bytes())
		text := reply{Rules: rules}
		if err != nil {
			text.Error = err.Error()
		}
		line, err := json.Marshal(text)
		if err != nil {
			panic(err)
		}
		out.Write(line)
		out.WriteByte('\n')
		out.Flush()
	}
}
