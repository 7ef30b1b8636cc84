package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cfg "sigs.k8s.io/controller-runtime/pkg/config/v1alpha1"
)

// +kubebuilder:object:root=true

// OldConfig is the configuration of the manager, which is read from a file.
type OldConfig struct {
	metav1.TypeMeta `json:",inline"`

	// ControllerManagerConfigurationSpec has the settings that every manager has.
	cfg.ControllerManagerConfigurationSpec `json:",inline"`

	// Courier is the name of the service that delivers.
	Courier string `json:"courier,omitempty"`

	// MaxWeight is the greatest weight of a parcel.
	MaxWeight int32 `json:"maxWeight,omitempty"`
}

func init() {
	SchemeBuilder.Register(&OldConfig{})
}
