package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ParcelSpec defines the desired state of Parcel
type ParcelSpec struct {
	SafeName string `json:"safeName,omitempty"`
	Weight   int32  `json:"weight,omitempty"`
}

// ParcelStatus defines the observed state of Parcel
type ParcelStatus struct {
	Delivered bool `json:"delivered,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Parcel is the Schema for the API
type Parcel struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ParcelSpec   `json:"spec,omitempty"`
	Status ParcelStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// ParcelList contains a list of Parcel
type ParcelList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Parcel `json:"items"`
}

func init() {
	SchemeBuilder.Register(&Parcel{}, &ParcelList{})
}
