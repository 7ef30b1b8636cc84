package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RotationSpec defines the desired state of Rotation
type RotationSpec struct {
	Schedule string            `json:"schedule,omitempty"`
	Selector map[string]string `json:"selector,omitempty"`
}

// RotationStatus defines the observed state of Rotation
type RotationStatus struct {
	LastNode string `json:"lastNode,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Rotation is the Schema for the API
type Rotation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   RotationSpec   `json:"spec,omitempty"`
	Status RotationStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// RotationList contains a list of Rotation
type RotationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Rotation `json:"items"`
}

func init() {
	SchemeBuilder.Register(&Rotation{}, &RotationList{})
}
