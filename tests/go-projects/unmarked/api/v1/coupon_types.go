package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CouponSpec defines the desired state of Coupon
type CouponSpec struct {
	Code    string `json:"code,omitempty"`
	Percent int32  `json:"percent,omitempty"`
}

// CouponStatus defines the observed state of Coupon
type CouponStatus struct {
	Phase string `json:"phase,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Coupon is the Schema for the API
type Coupon struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   CouponSpec   `json:"spec,omitempty"`
	Status CouponStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// CouponList contains a list of Coupon
type CouponList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Coupon `json:"items"`
}

func init() {
	SchemeBuilder.Register(&Coupon{}, &CouponList{})
}
