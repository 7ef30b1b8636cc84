package main

import (
	"encoding/json"
	"fmt"
	"path"
	"sort"
	"strings"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/loader"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	v2 "helm.sh/helm/v4/pkg/chart/v2"
	v2loader "helm.sh/helm/v4/pkg/chart/v2/loader"
	v2util "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
)

// What to render. Everything but the chart may be left out.
type chartRequest struct {
	// The directory or archive of a chart.
	Path string `json:"path"`
	// The files of a chart instead, by path.
	Files map[string]string `json:"files"`
	// What a values file gives.
	Values map[string]any `json:"values"`
	// By default the first installation of `release-name` in `default`.
	Release release `json:"release"`
	// By default that of the library.
	KubeVersion string `json:"kubeVersion"`
	// Further APIs beside those of the library.
	APIVersions []string `json:"apiVersions"`
	// Whether a missing key is an error.
	Strict bool `json:"strict"`
	// What `lookup` finds. Without it, `lookup` does what it does without a cluster.
	Objects []map[string]any `json:"objects"`
}

type release struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Revision  int    `json:"revision"`
	IsUpgrade bool   `json:"isUpgrade"`
	IsInstall *bool  `json:"isInstall"`
}

// What was made before the first error, if there is one.
type chartAnswer struct {
	// Each rendered file, also those of notes.
	Templates map[string]string `json:"templates,omitempty"`
	// In the order of installation.
	Manifests []manifest `json:"manifests,omitempty"`
	Hooks     []hook     `json:"hooks,omitempty"`
	// Of the chart itself, without those that it depends on.
	Notes string     `json:"notes,omitempty"`
	CRDs  []manifest `json:"crds,omitempty"`
	// As templates see them.
	Values map[string]any `json:"values,omitempty"`
	// Those of the chart's own values file, and its schema: what values can be given.
	Defaults map[string]any `json:"defaults,omitempty"`
	Schema   any            `json:"schema,omitempty"`
	Warnings []string       `json:"warnings,omitempty"`
}

type manifest struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

type hook struct {
	manifest
	Name           string   `json:"name"`
	Kind           string   `json:"kind"`
	Events         []string `json:"events"`
	Weight         int      `json:"weight"`
	DeletePolicies []string `json:"deletePolicies"`
}

// The steps of `helm template`, in its order, so that the first error is the same.
func (r request) render() (made chartAnswer, err error) {
	capabilities, err := r.capabilities()
	if err != nil {
		return made, err
	}
	loaded, err := r.load()
	if err != nil {
		return made, err
	}
	if err := installable(loaded); err != nil {
		return made, err
	}
	it, ok := loaded.(*v2.Chart)
	if !ok {
		return made, fmt.Errorf("invalid chart apiVersion")
	}
	made.Defaults = it.Values
	// One that is no JSON is an error later.
	_ = json.Unmarshal(it.Schema, &made.Schema)
	values := r.Values
	if values == nil {
		values = map[string]any{}
	}
	if err := v2util.ProcessDependencies(it, values); err != nil {
		return made, fmt.Errorf("chart dependencies processing failed: %w", err)
	}
	for _, crd := range it.CRDObjects() {
		made.CRDs = append(made.CRDs, manifest{crd.Filename, string(crd.File.Data)})
	}
	top, err := util.ToRenderValues(it, values, r.Release.options(), capabilities)
	if err != nil {
		return made, err
	}
	if merged, ok := top["Values"].(common.Values); ok {
		// Templates may change them in place.
		if err := copied(merged, &made.Values); err != nil {
			return made, err
		}
	}
	kube := capabilities.KubeVersion
	if wanted := it.Metadata.KubeVersion; wanted != "" && !v2util.IsCompatibleRange(wanted, kube.String()) {
		return made, fmt.Errorf("chart requires kubeVersion: %s which is incompatible with Kubernetes %s", wanted, kube.Version)
	}
	files, err := r.execute(it, top)
	if err != nil {
		return made, err
	}
	made.Templates = map[string]string{}
	for name, text := range files {
		made.Templates[name] = text
		if strings.HasSuffix(name, "NOTES.txt") {
			if name == path.Join(it.Name(), "templates", "NOTES.txt") {
				made.Notes = text
			}
			delete(files, name)
		}
	}
	hooks, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return made, err
	}
	for _, it := range manifests {
		made.Manifests = append(made.Manifests, manifest{it.Name, it.Content})
	}
	for _, it := range hooks {
		made.Hooks = append(made.Hooks, hook{
			manifest{it.Path, it.Manifest}, it.Name, it.Kind, texts(it.Events), it.Weight, texts(it.DeletePolicies),
		})
	}
	return made, nil
}

// Renders one template as that of a chart `t` without default values. The data is `.Values`, also if it is no map.
func (r request) renderTemplate() (string, error) {
	capabilities, err := r.capabilities()
	if err != nil {
		return "", err
	}
	it := &v2.Chart{
		Metadata:  &v2.Metadata{APIVersion: v2.APIVersionV2, Name: "t", Version: "0.1.0"},
		Templates: []*common.File{{Name: "templates/t.yaml", Data: []byte(r.Template)}},
	}
	for name, text := range r.Files {
		it.Files = append(it.Files, &common.File{Name: name, Data: []byte(text)})
	}
	top, err := util.ToRenderValues(it, map[string]any{}, r.Release.options(), capabilities)
	if err != nil {
		return "", err
	}
	top["Values"] = r.Data
	if data, ok := r.Data.(map[string]any); ok {
		top["Values"] = common.Values(data)
	}
	files, err := r.execute(it, top)
	return files["t/templates/t.yaml"], err
}

func (r request) execute(it *v2.Chart, top common.Values) (map[string]string, error) {
	if r.Objects == nil {
		return engine.Engine{Strict: r.Strict}.Render(it, top)
	}
	if r.Strict {
		return nil, fmt.Errorf("request: objects cannot be given with strict")
	}
	return engine.RenderWithClientProvider(it, top, objects(r.Objects))
}

func (r request) load() (chart.Charter, error) {
	if r.Files == nil {
		return loader.Load(r.Path)
	}
	var files []*archive.BufferedFile
	for name, text := range r.Files {
		files = append(files, &archive.BufferedFile{Name: name, Data: []byte(text)})
	}
	sort.Slice(files, func(a, b int) bool { return files[a].Name < files[b].Name })
	return v2loader.LoadFiles(files)
}

func installable(it chart.Charter) error {
	about, err := chart.NewAccessor(it)
	if err != nil {
		return err
	}
	if kind := about.MetadataAsMap()["Type"]; kind != "" && kind != "application" {
		return fmt.Errorf("%s charts are not installable", kind)
	}
	wanted := about.MetaDependencies()
	if len(wanted) == 0 {
		return nil
	}
	if err := action.CheckDependencies(it, wanted); err != nil {
		return fmt.Errorf("an error occurred while checking for chart dependencies. You may need to run 'helm dependency build' to fetch missing dependencies: %w", err)
	}
	return nil
}

func (r request) capabilities() (*common.Capabilities, error) {
	it := common.DefaultCapabilities.Copy()
	if r.KubeVersion != "" {
		version, err := common.ParseKubeVersion(r.KubeVersion)
		if err != nil {
			return nil, fmt.Errorf("invalid kube version '%s': %w", r.KubeVersion, err)
		}
		it.KubeVersion = *version
	}
	known := append(common.VersionSet{}, it.APIVersions...)
	it.APIVersions = append(known, r.APIVersions...)
	return it, nil
}

func copied(value any, into any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

func (r release) options() common.ReleaseOptions {
	it := common.ReleaseOptions{
		Name: r.Name, Namespace: r.Namespace, Revision: r.Revision,
		IsUpgrade: r.IsUpgrade, IsInstall: !r.IsUpgrade,
	}
	if it.Name == "" {
		it.Name = "release-name"
	}
	if it.Namespace == "" {
		it.Namespace = "default"
	}
	if it.Revision == 0 {
		it.Revision = 1
	}
	if r.IsInstall != nil {
		it.IsInstall = *r.IsInstall
	}
	return it
}

func texts[T ~string](all []T) []string {
	out := []string{}
	for _, it := range all {
		out = append(out, string(it))
	}
	return out
}

func lines(text string) []string {
	return strings.FieldsFunc(text, func(it rune) bool { return it == '\n' })
}
