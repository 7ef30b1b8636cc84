package v1

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	ledgerv1 "example.com/groups/api/ledger/v1"
)

// SetupCodexWebhookWithManager registers the webhook for Codex in the manager.
func SetupCodexWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr).For(&ledgerv1.Codex{}).
		WithValidator(&CodexValidator{}).
		Complete()
}

// +kubebuilder:webhook:path=/validate-ledger-example-com-v1-codex,mutating=false,failurePolicy=fail,sideEffects=None,groups=ledger.example.com,resources=codices,verbs=create;update,versions=v1,name=vcodex-v1.kb.io,admissionReviewVersions=v1

// CodexValidator validates.
type CodexValidator struct{}

// ValidateCreate implements admission.CustomValidator.
func (v *CodexValidator) ValidateCreate(_ context.Context, obj runtime.Object) (admission.Warnings, error) {
	if _, ok := obj.(*ledgerv1.Codex); !ok {
		return nil, fmt.Errorf("expected a Codex, got %T", obj)
	}
	return nil, nil
}

// ValidateUpdate implements admission.CustomValidator.
func (v *CodexValidator) ValidateUpdate(ctx context.Context, _, obj runtime.Object) (admission.Warnings, error) {
	return v.ValidateCreate(ctx, obj)
}

// ValidateDelete implements admission.CustomValidator.
func (v *CodexValidator) ValidateDelete(context.Context, runtime.Object) (admission.Warnings, error) {
	return nil, nil
}
