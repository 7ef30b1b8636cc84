package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SignalSpec defines the desired state of Signal
type SignalSpec struct {
	Aspect string `json:"aspect,omitempty"`
}

// SignalStatus defines the observed state of Signal
type SignalStatus struct {
	Ready bool `json:"ready,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Signal is the Schema for the API
type Signal struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   SignalSpec   `json:"spec,omitempty"`
	Status SignalStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// SignalList contains a list of Signal
type SignalList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Signal `json:"items"`
}

func init() {
	SchemeBuilder.Register(&Signal{}, &SignalList{})
}
