package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MagazineSpec defines the desired state of Magazine
type MagazineSpec struct {
	Issue string `json:"issue,omitempty"`
	Name  string `json:"name,omitempty"`
}

// MagazineStatus defines the observed state of Magazine
type MagazineStatus struct {
	Copies int32 `json:"copies,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Magazine is the Schema for the API
type Magazine struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   MagazineSpec   `json:"spec,omitempty"`
	Status MagazineStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// MagazineList contains a list of Magazine
type MagazineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Magazine `json:"items"`
}

func init() {
	SchemeBuilder.Register(&Magazine{}, &MagazineList{})
}
