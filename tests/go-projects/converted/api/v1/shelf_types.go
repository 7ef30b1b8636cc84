package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ShelfSpec defines the desired state of Shelf
type ShelfSpec struct {
	Books []string `json:"books,omitempty"`
	Width int32    `json:"width,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:resource:path=shelves

// Shelf is the Schema for the API
type Shelf struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ShelfSpec `json:"spec,omitempty"`
}

// +kubebuilder:object:root=true

// ShelfList contains a list of Shelf
type ShelfList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Shelf `json:"items"`
}

func init() {
	SchemeBuilder.Register(&Shelf{}, &ShelfList{})
}
