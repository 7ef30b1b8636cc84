package v1

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// SetupWebhookWithManager serves the webhooks.
func (s *Safe) SetupWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr).For(s).Complete()
}

// +kubebuilder:webhook:path=/mutate-vault-example-com-v1-safe,mutating=true,failurePolicy=fail,groups=vault.example.com,resources=safes,verbs=create;update,versions=v1,name=msafe.kb.io

var _ webhook.Defaulter = &Safe{}

// Default implements webhook.Defaulter.
func (s *Safe) Default() {
	if s.Spec.Doors == 0 {
		s.Spec.Doors = 1
	}
}

// +kubebuilder:webhook:verbs=create;update;delete,path=/validate-vault-example-com-v1-safe,mutating=false,failurePolicy=fail,groups=vault.example.com,resources=safes,versions=v1,name=vsafe.kb.io

var _ webhook.Validator = &Safe{}

// ValidateCreate implements webhook.Validator.
func (s *Safe) ValidateCreate() error {
	if s.Spec.Code == "" {
		return errors.New("a safe needs a code")
	}
	return nil
}

// ValidateUpdate implements webhook.Validator.
func (s *Safe) ValidateUpdate(runtime.Object) error {
	return s.ValidateCreate()
}

// ValidateDelete implements webhook.Validator.
func (s *Safe) ValidateDelete() error {
	if s.Status.Locked {
		return errors.New("the safe is locked")
	}
	return nil
}
