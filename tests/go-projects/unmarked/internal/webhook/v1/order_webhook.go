package v1

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	shopv1 "example.org/unmarked/api/v1"
)

// SetupOrderWebhookWithManager registers the webhook for Order in the manager.
func SetupOrderWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr).For(&shopv1.Order{}).
		WithValidator(&OrderValidator{}).
		Complete()
}

// +kubebuilder:webhook:path=/validate-shop-example-org-v1-order,mutating=false,failurePolicy=fail,sideEffects=None,groups=shop.example.org,resources=orders,verbs=create;update,versions=v1,name=vorder-v1.kb.io,admissionReviewVersions=v1

// OrderValidator validates.
type OrderValidator struct{}

// ValidateCreate implements admission.CustomValidator.
func (v *OrderValidator) ValidateCreate(_ context.Context, obj runtime.Object) (admission.Warnings, error) {
	if _, ok := obj.(*shopv1.Order); !ok {
		return nil, fmt.Errorf("expected a Order, got %T", obj)
	}
	return nil, nil
}

// ValidateUpdate implements admission.CustomValidator.
func (v *OrderValidator) ValidateUpdate(ctx context.Context, _, obj runtime.Object) (admission.Warnings, error) {
	return v.ValidateCreate(ctx, obj)
}

// ValidateDelete implements admission.CustomValidator.
func (v *OrderValidator) ValidateDelete(context.Context, runtime.Object) (admission.Warnings, error) {
	return nil, nil
}
