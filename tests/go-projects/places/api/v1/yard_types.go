package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// YardSpec defines the desired state of Yard
type YardSpec struct {
	Tracks []string `json:"tracks,omitempty"`
}

// YardStatus defines the observed state of Yard
type YardStatus struct {
	Ready bool `json:"ready,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Yard is the Schema for the API
type Yard struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   YardSpec   `json:"spec,omitempty"`
	Status YardStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// YardList contains a list of Yard
type YardList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Yard `json:"items"`
}

func init() {
	SchemeBuilder.Register(&Yard{}, &YardList{})
}
