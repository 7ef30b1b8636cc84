package v1

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// SetupWebhookWithManager serves the validation and the conversion.
func (b *Book) SetupWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr).For(b).Complete()
}

//+kubebuilder:webhook:path=/validate-press-example-org-v1-book,mutating=false,failurePolicy=fail,sideEffects=None,groups=press.example.org,resources=books,verbs=create;update,versions=v1,name=vbook.kb.io,admissionReviewVersions=v1

var _ webhook.Validator = &Book{}

// ValidateCreate implements webhook.Validator.
func (b *Book) ValidateCreate() (admission.Warnings, error) {
	if b.Spec.Title == "" {
		return nil, errors.New("a book needs a title")
	}
	return nil, nil
}

// ValidateUpdate implements webhook.Validator.
func (b *Book) ValidateUpdate(runtime.Object) (admission.Warnings, error) {
	return b.ValidateCreate()
}

// ValidateDelete implements webhook.Validator.
func (b *Book) ValidateDelete() (admission.Warnings, error) {
	return nil, nil
}
