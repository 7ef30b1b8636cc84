package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RackSpec defines the desired state of Rack
type RackSpec struct {
	Modules []string `json:"modules,omitempty"`
	Units   int32    `json:"units,omitempty"`
}

// RackStatus defines the observed state of Rack
type RackStatus struct {
	Full bool `json:"full,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster

// Rack is the Schema for the API
type Rack struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   RackSpec   `json:"spec,omitempty"`
	Status RackStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// RackList contains a list of Rack
type RackList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Rack `json:"items"`
}

func init() {
	SchemeBuilder.Register(&Rack{}, &RackList{})
}
