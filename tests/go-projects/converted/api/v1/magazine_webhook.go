package v1

import ctrl "sigs.k8s.io/controller-runtime"

// Hub marks this version as the one that others are converted to.
func (*Magazine) Hub() {}

// SetupWebhookWithManager serves the conversion.
func (m *Magazine) SetupWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr).For(m).Complete()
}
