package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SafeSpec defines the desired state of Safe
type SafeSpec struct {
	Code  string `json:"code,omitempty"`
	Doors int32  `json:"doors,omitempty"`
}

// SafeStatus defines the observed state of Safe
type SafeStatus struct {
	Locked bool `json:"locked,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Safe is the Schema for the API
type Safe struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   SafeSpec   `json:"spec,omitempty"`
	Status SafeStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// SafeList contains a list of Safe
type SafeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Safe `json:"items"`
}

func init() {
	SchemeBuilder.Register(&Safe{}, &SafeList{})
}
