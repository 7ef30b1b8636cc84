package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// InvoiceSpec defines the desired state of Invoice
type InvoiceSpec struct {
	OrderName string `json:"orderName,omitempty"`
}

// InvoiceStatus defines the observed state of Invoice
type InvoiceStatus struct {
	Phase string `json:"phase,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Invoice is the Schema for the API
type Invoice struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   InvoiceSpec   `json:"spec,omitempty"`
	Status InvoiceStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// InvoiceList contains a list of Invoice
type InvoiceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Invoice `json:"items"`
}

func init() {
	SchemeBuilder.Register(&Invoice{}, &InvoiceList{})
}
