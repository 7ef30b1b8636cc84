package v1

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	shopv1 "example.org/unmarked/api/v1"
)

// SetupCouponWebhookWithManager registers the webhook for Coupon in the manager.
func SetupCouponWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr).For(&shopv1.Coupon{}).
		WithDefaulter(&CouponDefaulter{}).
		WithValidator(&CouponValidator{}).
		Complete()
}

// The codes that are not sold are in a secret.
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get
// +kubebuilder:rbac:groups=shop.example.org,resources=coupons,verbs=list;watch

// +kubebuilder:webhook:path=/mutate-shop-example-org-v1-coupon,mutating=true,failurePolicy=fail,sideEffects=None,groups=shop.example.org,resources=coupons,verbs=create;update,versions=v1,name=mcoupon-v1.kb.io,admissionReviewVersions=v1

// CouponDefaulter sets defaults.
type CouponDefaulter struct{}

// Default implements admission.CustomDefaulter.
func (d *CouponDefaulter) Default(_ context.Context, obj runtime.Object) error {
	if _, ok := obj.(*shopv1.Coupon); !ok {
		return fmt.Errorf("expected a Coupon, got %T", obj)
	}
	return nil
}

// +kubebuilder:webhook:path=/validate-shop-example-org-v1-coupon,mutating=false,failurePolicy=fail,sideEffects=None,groups=shop.example.org,resources=coupons,verbs=create;update;delete,versions=v1,name=vcoupon-v1.kb.io,admissionReviewVersions=v1

// CouponValidator validates.
type CouponValidator struct{}

// ValidateCreate implements admission.CustomValidator.
func (v *CouponValidator) ValidateCreate(_ context.Context, obj runtime.Object) (admission.Warnings, error) {
	if _, ok := obj.(*shopv1.Coupon); !ok {
		return nil, fmt.Errorf("expected a Coupon, got %T", obj)
	}
	return nil, nil
}

// ValidateUpdate implements admission.CustomValidator.
func (v *CouponValidator) ValidateUpdate(ctx context.Context, _, obj runtime.Object) (admission.Warnings, error) {
	return v.ValidateCreate(ctx, obj)
}

// ValidateDelete implements admission.CustomValidator.
func (v *CouponValidator) ValidateDelete(context.Context, runtime.Object) (admission.Warnings, error) {
	return nil, nil
}
