package pod

import (
	"context"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// +kubebuilder:webhook:path=/mutate-pods,mutating=true,failurePolicy=ignore,sideEffects=None,groups="",resources=pods,verbs=create,versions=v1,name=pods.shop.example.org,admissionReviewVersions=v1

// Injector adds the till to pods.
type Injector struct {
	Decoder admission.Decoder
}

// Handle implements admission.Handler.
func (h *Injector) Handle(_ context.Context, req admission.Request) admission.Response {
	var it corev1.Pod
	if err := h.Decoder.Decode(req, &it); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	return admission.Allowed("")
}
