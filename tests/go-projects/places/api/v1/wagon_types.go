package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WagonSpec defines the desired state of Wagon
type WagonSpec struct {
	Axles     int32  `json:"axles,omitempty"`
	DepotName string `json:"depotName,omitempty"`
}

// WagonStatus defines the observed state of Wagon
type WagonStatus struct {
	Ready bool `json:"ready,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Wagon is the Schema for the API
type Wagon struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   WagonSpec   `json:"spec,omitempty"`
	Status WagonStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// WagonList contains a list of Wagon
type WagonList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Wagon `json:"items"`
}

func init() {
	SchemeBuilder.Register(&Wagon{}, &WagonList{})
}
