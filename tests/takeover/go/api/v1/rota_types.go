package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RotaSpec defines the desired state of Rota.
type RotaSpec struct {
	// members are on duty one after the other; the first one is on duty now.
	// +listType=set
	// +kubebuilder:validation:items:Pattern=`^[a-z]+$`
	// +optional
	Members []string `json:"members,omitempty"`

	// shift is how long a member is on duty.
	// +kubebuilder:validation:Enum=Day;Week
	// +kubebuilder:default=Week
	// +optional
	Shift string `json:"shift,omitempty"`

	// replicas is the number of Pods that serve the page of the rota.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:default=1
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`
}

// RotaStatus defines the observed state of Rota.
type RotaStatus struct {
	// onDuty is the member who is on duty now.
	// +optional
	OnDuty string `json:"onDuty,omitempty"`

	// conditions represent the current state of the Rota.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=rotas
// +kubebuilder:printcolumn:name="On duty",type=string,JSONPath=`.status.onDuty`

// Rota is the Schema for the rotas API.
type Rota struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is a standard object metadata
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec defines the desired state of Rota
	// +required
	Spec RotaSpec `json:"spec"`

	// status defines the observed state of Rota
	// +optional
	Status RotaStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// RotaList contains a list of Rota.
type RotaList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Rota `json:"items"`
}
