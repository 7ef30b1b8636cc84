package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"
	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// A node of a schema: its keywords, and `properties`, `items` and `additionalProperties`, which are nodes again.
type node = map[string]any

// reader reads the types of one version of Kubernetes.
type reader struct {
	parser   *crd.Parser
	packages map[string]*loader.Package
	// The definitions that a schema may refer to.
	named map[crd.TypeIdent]bool
	// Those that controller-gen makes no schema of, and all that no CRD can have.
	refused, left map[crd.TypeIdent]bool
}

// load returns what is kept of each of the named types. Types that this version does not have, and those that no CRD can have, are
// left out.
func load(dir string, names []string) (map[string]node, error) {
	var paths []string
	for _, name := range names {
		path, _ := split(name)
		paths = append(paths, path)
	}
	known := map[string]bool{}
	var found []string
	// A package that a version does not have is no error, but it would be one to `LoadRoots`.
	all, err := packages.Load(&packages.Config{Dir: dir, Mode: packages.NeedName | packages.NeedFiles}, paths...)
	if err != nil {
		return nil, err
	}
	for _, pkg := range all {
		if len(pkg.GoFiles) > 0 && !known[pkg.PkgPath] {
			known[pkg.PkgPath] = true
			found = append(found, pkg.PkgPath)
		}
	}
	roots, err := loader.LoadRootsWithConfig(&packages.Config{Dir: dir}, found...)
	if err != nil {
		return nil, err
	}
	registry := &markers.Registry{}
	if err := crdmarkers.Register(registry); err != nil {
		return nil, err
	}
	r := reader{
		parser: &crd.Parser{
			Collector: &markers.Collector{Registry: registry},
			Checker:   &loader.TypeChecker{NodeFilters: []loader.NodeFilter{crd.Generator{}.CheckFilter()}},
			// Without it controller-gen keeps nothing of the metadata of a Pod template, and the API server prunes its labels.
			GenerateEmbeddedObjectMeta: true,
		},
		packages: map[string]*loader.Package{},
		named:    map[crd.TypeIdent]bool{},
		refused:  map[crd.TypeIdent]bool{},
		left:     map[crd.TypeIdent]bool{},
	}
	crd.AddKnownTypes(r.parser)
	for _, root := range roots {
		r.packages[root.PkgPath] = root
		r.parser.NeedPackage(root)
	}
	// Types that controller-gen has a schema of its own for; nothing follows from their fields.
	overrides := maps.Clone(r.parser.Schemata)
	idents := map[string]crd.TypeIdent{}
	for _, name := range names {
		path, typ := split(name)
		ident := crd.TypeIdent{Package: r.packages[path], Name: typ}
		if ident.Package == nil {
			continue
		}
		_, override := overrides[ident]
		if _, parsed := r.parser.Types[ident]; parsed || override {
			idents[name] = ident
			r.named[ident] = true
			r.parser.NeedSchemaFor(ident)
		}
	}
	if err := r.refuse(roots); err != nil {
		return nil, err
	}
	schemas := map[string]node{}
	for name, ident := range idents {
		if r.inNoCRD(ident, nil) {
			continue
		}
		flat := r.flat(ident)
		if _, override := overrides[ident]; override {
			schema := whole(flat)
			if flat.Type == "" {
				// k8s-openapi may have one.
				schema["type"] = nil
			}
			schemas[name] = schema
			continue
		}
		refs, from := r.parser.Schemata[ident], ident.Package
		// In Go, a type may be declared as another one that has a name, too.
		for refs.Ref != nil {
			of, err := r.resolve(*refs.Ref, from)
			if err != nil {
				return nil, err
			}
			refs, from = r.parser.Schemata[of], of.Package
		}
		schema, err := r.own(flat, refs, from)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		schemas[name] = schema
	}
	fmt.Fprintf(os.Stderr, "%s: %d types\n", dir, len(schemas))
	return schemas, nil
}

// split makes `k8s.io/api/core/v1` and `PodSpec` of `io.k8s.api.core.v1.PodSpec`.
func split(name string) (string, string) {
	parts := strings.Split(name, ".")
	last := len(parts) - 1
	return "k8s.io/" + strings.Join(parts[2:last], "/"), parts[last]
}

// refuse finds the types that controller-gen makes no schema of, because a marker does not fit the field that it is on.
func (r *reader) refuse(roots []*loader.Package) error {
	var all []packages.Error
	visited := make([]*packages.Package, len(roots))
	for i, root := range roots {
		visited[i] = root.Package
	}
	packages.Visit(visited, nil, func(pkg *packages.Package) { all = append(all, pkg.Errors...) })
	for _, each := range all {
		// The checker looks at fields of types only, and misses what is in functions.
		if each.Kind == packages.TypeError {
			continue
		}
		ident, found := r.typeAt(each.Pos)
		if !found {
			return each
		}
		if !r.refused[ident] {
			fmt.Fprintf(os.Stderr, "left out: %s: %s\n", ident, each.Msg)
		}
		r.refused[ident] = true
	}
	return nil
}

// typeAt returns the type in whose declaration a `file:line:column` is.
func (r *reader) typeAt(place string) (crd.TypeIdent, bool) {
	parts := strings.Split(place, ":")
	line, err := strconv.Atoi(parts[max(0, len(parts)-2)])
	if err != nil {
		return crd.TypeIdent{}, false
	}
	for ident, info := range r.parser.Types {
		first, last := ident.Package.Fset.Position(info.RawSpec.Pos()), ident.Package.Fset.Position(info.RawSpec.End())
		if first.Filename == strings.Join(parts[:len(parts)-2], ":") && first.Line <= line && line <= last.Line {
			return ident, true
		}
	}
	return crd.TypeIdent{}, false
}

// inNoCRD tells the types that are refused or hold themselves, or hold such a type: a CRD has a schema without references.
func (r *reader) inNoCRD(ident crd.TypeIdent, above []crd.TypeIdent) bool {
	if slices.Contains(above, ident) {
		return true
	}
	found, known := r.left[ident]
	if !known {
		found = r.refused[ident]
		schema := r.parser.Schemata[ident]
		refs := references{}
		crd.EditSchema(schema.DeepCopy(), &refs)
		for _, ref := range refs.found {
			of, err := r.resolve(ref, ident.Package)
			found = found || err != nil || r.inNoCRD(of, append(above, ident))
		}
		r.left[ident] = found
	}
	return found
}

type references struct{ found []string }

func (r *references) Visit(schema *apiext.JSONSchemaProps) crd.SchemaVisitor {
	if schema != nil && schema.Ref != nil {
		r.found = append(r.found, *schema.Ref)
	}
	return r
}

func (r *reader) flat(ident crd.TypeIdent) apiext.JSONSchemaProps {
	r.parser.NeedFlattenedSchemaFor(ident)
	return r.parser.FlattenedSchemata[ident]
}

// own returns the keywords of a schema, down to where it refers to a type that has a name: what is said of that type is said
// once. There it returns what the field adds. `flat` is the schema without references, `refs` the same schema with them.
func (r *reader) own(flat, refs apiext.JSONSchemaProps, pkg *loader.Package) (node, error) {
	if refs.Ref != nil {
		ident, err := r.resolve(*refs.Ref, pkg)
		if err != nil {
			return nil, err
		}
		if !r.named[ident] {
			return r.own(flat, r.parser.Schemata[ident], ident.Package)
		}
		added, of := keywords(flat), keywords(r.flat(ident))
		for key, value := range of {
			if same, ok := added[key]; ok && reflect.DeepEqual(same, value) {
				delete(added, key)
			} else if !ok {
				return nil, fmt.Errorf("a field of type %s takes its `%s` away", ident, key)
			}
		}
		return added, nil
	}
	out := keywords(flat)
	properties := node{}
	for name, property := range flat.Properties {
		of, from, err := r.property(name, refs, pkg)
		if err != nil {
			return nil, err
		}
		if property, err := r.own(property, of, from); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		} else if len(property) > 0 {
			properties[name] = property
		}
	}
	if len(properties) > 0 {
		out["properties"] = properties
	}
	children := map[string][2]*apiext.JSONSchemaProps{}
	if flat.Items != nil {
		children["items"] = [2]*apiext.JSONSchemaProps{flat.Items.Schema, refs.Items.Schema}
	}
	if flat.AdditionalProperties != nil && flat.AdditionalProperties.Schema != nil {
		children["additionalProperties"] = [2]*apiext.JSONSchemaProps{flat.AdditionalProperties.Schema, refs.AdditionalProperties.Schema}
	}
	for key, child := range children {
		if child, err := r.own(*child[0], *child[1], pkg); err != nil {
			return nil, err
		} else if len(child) > 0 {
			out[key] = child
		}
	}
	return out, nil
}

// property finds a property with its references; fields of embedded structs are in `allOf`.
func (r *reader) property(name string, refs apiext.JSONSchemaProps, pkg *loader.Package) (apiext.JSONSchemaProps, *loader.Package, error) {
	if refs.Ref != nil {
		ident, err := r.resolve(*refs.Ref, pkg)
		if err != nil {
			return refs, pkg, err
		}
		return r.property(name, r.parser.Schemata[ident], ident.Package)
	}
	if property, ok := refs.Properties[name]; ok {
		return property, pkg, nil
	}
	for _, embedded := range refs.AllOf {
		if property, from, err := r.property(name, embedded, pkg); err == nil {
			return property, from, nil
		}
	}
	return refs, pkg, fmt.Errorf("no property `%s`", name)
}

func (r *reader) resolve(ref string, pkg *loader.Package) (crd.TypeIdent, error) {
	name, path, err := crd.RefParts(ref)
	if err != nil || path == "" {
		return crd.TypeIdent{Package: pkg, Name: name}, err
	}
	if from := pkg.Imports()[path]; from != nil {
		return crd.TypeIdent{Package: from, Name: name}, nil
	}
	return crd.TypeIdent{}, fmt.Errorf("no package %s", path)
}

// keywords returns the keywords of a node that k8s-openapi's schema does not have, or has wrongly. Types and formats are the
// same in both, but for those that are an integer or a string.
func keywords(schema apiext.JSONSchemaProps) node {
	all := whole(schema)
	for _, key := range []string{"type", "format", "properties", "items", "additionalProperties"} {
		delete(all, key)
	}
	return all
}

// whole returns a schema without what is text for people.
func whole(schema apiext.JSONSchemaProps) node {
	text, err := json.Marshal(schema)
	if err != nil {
		panic(err)
	}
	all := node{}
	if err := json.Unmarshal(text, &all); err != nil {
		panic(err)
	}
	delete(all, "description")
	return all
}
