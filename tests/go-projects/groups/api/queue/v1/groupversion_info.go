// Package v1 contains the v1 API of the queue.example.com group.
// +kubebuilder:object:generate=true
// +groupName=queue.example.com
package v1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

var (
	// GroupVersion is the group and the version of these objects.
	GroupVersion = schema.GroupVersion{Group: "queue.example.com", Version: "v1"}

	// SchemeBuilder collects the Go types.
	SchemeBuilder = &scheme.Builder{GroupVersion: GroupVersion}

	// AddToScheme adds them to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)
