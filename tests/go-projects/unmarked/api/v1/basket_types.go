package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BasketSpec defines the desired state of Basket
type BasketSpec struct {
	Items []string `json:"items,omitempty"`
	Owner string   `json:"owner,omitempty"`
}

// BasketStatus defines the observed state of Basket
type BasketStatus struct {
	Phase string `json:"phase,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Basket is the Schema for the API
type Basket struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BasketSpec   `json:"spec,omitempty"`
	Status BasketStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// BasketList contains a list of Basket
type BasketList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Basket `json:"items"`
}

func init() {
	SchemeBuilder.Register(&Basket{}, &BasketList{})
}
