package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WarmerSpec defines the desired state of Warmer
type WarmerSpec struct {
	Keys          []string `json:"keys,omitempty"`
	MemcachedName string   `json:"memcachedName,omitempty"`
}

// WarmerStatus defines the observed state of Warmer
type WarmerStatus struct {
	Phase string `json:"phase,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Warmer is the Schema for the API
type Warmer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   WarmerSpec   `json:"spec,omitempty"`
	Status WarmerStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// WarmerList contains a list of Warmer
type WarmerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Warmer `json:"items"`
}

func init() {
	SchemeBuilder.Register(&Warmer{}, &WarmerList{})
}
