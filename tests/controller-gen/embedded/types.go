// Package v1 has the type of crates/operator-runtime/tests/runtime/embedded.rs in Go.
//
// +groupName=test.example.com
package v1

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

type EmbeddedSpec struct {
	Template    corev1.PodTemplateSpec           `json:"template"`
	JobTemplate batchv1.JobTemplateSpec          `json:"jobTemplate"`
	Reference   corev1.ObjectReference           `json:"reference"`
	Secret      corev1.LocalObjectReference      `json:"secret"`
	Selector    metav1.LabelSelector             `json:"selector"`
	Claim       corev1.PersistentVolumeClaimSpec `json:"claim"`
	Affinity    corev1.Affinity                  `json:"affinity"`
	Probe       corev1.Probe                     `json:"probe"`
	Volumes     []corev1.Volume                  `json:"volumes"`
	Sources     map[string]corev1.EnvVarSource   `json:"sources"`
	Limits      map[string]resource.Quantity     `json:"limits"`
	Size        resource.Quantity                `json:"size"`
	Port        intstr.IntOrString               `json:"port"`
	Since       metav1.Time                      `json:"since"`
	Heartbeat   metav1.MicroTime                 `json:"heartbeat"`
	Settings    runtime.RawExtension             `json:"settings"`
	Nested      Nested                           `json:"nested"`
}

type Nested struct {
	Env []corev1.EnvVar `json:"env"`
}

type EmbeddedStatus struct {
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Embedded struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   EmbeddedSpec   `json:"spec"`
	Status EmbeddedStatus `json:"status,omitempty"`
}
