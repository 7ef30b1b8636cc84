package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DepotSpec defines the desired state of Depot
type DepotSpec struct {
	Capacity int32  `json:"capacity,omitempty"`
	City     string `json:"city,omitempty"`
}

// DepotStatus defines the observed state of Depot
type DepotStatus struct {
	Ready bool `json:"ready,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Depot is the Schema for the API
type Depot struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   DepotSpec   `json:"spec,omitempty"`
	Status DepotStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// DepotList contains a list of Depot
type DepotList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Depot `json:"items"`
}

func init() {
	SchemeBuilder.Register(&Depot{}, &DepotList{})
}
