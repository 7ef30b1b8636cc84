package v1

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	shopv1 "example.org/unmarked/api/v1"
)

// SetupInvoiceWebhookWithManager registers the webhook for Invoice in the manager.
func SetupInvoiceWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr).For(&shopv1.Invoice{}).
		WithValidator(&InvoiceValidator{}).
		Complete()
}

// InvoiceValidator validates.
type InvoiceValidator struct{}

// ValidateCreate implements admission.CustomValidator.
func (v *InvoiceValidator) ValidateCreate(_ context.Context, obj runtime.Object) (admission.Warnings, error) {
	if _, ok := obj.(*shopv1.Invoice); !ok {
		return nil, fmt.Errorf("expected a Invoice, got %T", obj)
	}
	return nil, nil
}

// ValidateUpdate implements admission.CustomValidator.
func (v *InvoiceValidator) ValidateUpdate(ctx context.Context, _, obj runtime.Object) (admission.Warnings, error) {
	return v.ValidateCreate(ctx, obj)
}

// ValidateDelete implements admission.CustomValidator.
func (v *InvoiceValidator) ValidateDelete(context.Context, runtime.Object) (admission.Warnings, error) {
	return nil, nil
}
