package main

import (
	"context"

	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// The objects of a cluster. A kind of which one has a namespace is namespaced.
type objects []map[string]any

// The objects of one kind, all of them or those of a namespace.
type kind struct {
	dynamic.NamespaceableResourceInterface
	group     schema.GroupVersionKind
	items     []unstructured.Unstructured
	namespace string
}

func (o objects) GetClientFor(version, name string) (dynamic.NamespaceableResourceInterface, bool, error) {
	found := kind{group: schema.FromAPIVersionAndKind(version, name)}
	namespaced := false
	for _, it := range o {
		object := unstructured.Unstructured{Object: whole(it).(map[string]any)}
		if object.GetAPIVersion() == version && object.GetKind() == name {
			found.items = append(found.items, object)
			namespaced = namespaced || object.GetNamespace() != ""
		}
	}
	return found, namespaced, nil
}

func (k kind) Namespace(name string) dynamic.ResourceInterface {
	k.namespace = name
	return k
}

func (k kind) Get(_ context.Context, name string, _ meta.GetOptions, _ ...string) (*unstructured.Unstructured, error) {
	for _, it := range k.items {
		if it.GetName() == name && it.GetNamespace() == k.namespace {
			return &it, nil
		}
	}
	return nil, errors.NewNotFound(schema.GroupResource{Group: k.group.Group, Resource: k.group.Kind}, name)
}

func (k kind) List(context.Context, meta.ListOptions) (*unstructured.UnstructuredList, error) {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(k.group.GroupVersion().String())
	list.SetKind(k.group.Kind + "List")
	for _, it := range k.items {
		if k.namespace == "" || it.GetNamespace() == k.namespace {
			list.Items = append(list.Items, it)
		}
	}
	return list, nil
}

// A client has numbers without a fraction as int64.
func whole(value any) any {
	switch it := value.(type) {
	case float64:
		if it == float64(int64(it)) {
			return int64(it)
		}
	case map[string]any:
		for key, value := range it {
			it[key] = whole(value)
		}
	case []any:
		for at, value := range it {
			it[at] = whole(value)
		}
	}
	return value
}
