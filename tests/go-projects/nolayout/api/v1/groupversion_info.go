// Package v1 contains the v1 API of the modules.example.org group.
// +kubebuilder:object:generate=true
// +groupName=modules.example.org
package v1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

var (
	// GroupVersion is the group and the version of these objects.
	GroupVersion = schema.GroupVersion{Group: "modules.example.org", Version: "v1"}

	// SchemeBuilder collects the Go types.
	SchemeBuilder = &scheme.Builder{GroupVersion: GroupVersion}

	// AddToScheme adds them to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)
