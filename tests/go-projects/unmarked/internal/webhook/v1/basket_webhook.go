package v1

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	shopv1 "example.org/unmarked/api/v1"
)

// SetupBasketWebhookWithManager registers the webhook for Basket in the manager.
func SetupBasketWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr).For(&shopv1.Basket{}).
		WithValidator(&BasketValidator{}).
		Complete()
}

// +kubebuilder:webhook:path=/validate-shop-example-org-v1-basket,mutating=false,failurePolicy=fail,sideEffects=None,groups=shop.example.org,resources=baskets,verbs=create;update,versions=v1,name=vbasket-v1.kb.io,admissionReviewVersions=v1

// BasketValidator validates.
type BasketValidator struct{}

// ValidateCreate implements admission.CustomValidator.
func (v *BasketValidator) ValidateCreate(_ context.Context, obj runtime.Object) (admission.Warnings, error) {
	if _, ok := obj.(*shopv1.Basket); !ok {
		return nil, fmt.Errorf("expected a Basket, got %T", obj)
	}
	return nil, nil
}

// ValidateUpdate implements admission.CustomValidator.
func (v *BasketValidator) ValidateUpdate(ctx context.Context, _, obj runtime.Object) (admission.Warnings, error) {
	return v.ValidateCreate(ctx, obj)
}

// ValidateDelete implements admission.CustomValidator.
func (v *BasketValidator) ValidateDelete(context.Context, runtime.Object) (admission.Warnings, error) {
	return nil, nil
}
