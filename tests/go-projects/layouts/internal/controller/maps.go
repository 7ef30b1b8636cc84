package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "example.com/layouts/api/v1"
)

// widgetsOf are the widgets beside a secret.
func (r *WidgetReconciler) widgetsOf(ctx context.Context, secret client.Object) []ctrl.Request {
	var all cachev1.WidgetList
	if err := r.List(ctx, &all, client.InNamespace(secret.GetNamespace())); err != nil {
		return nil
	}
	var requests []ctrl.Request
	for i := range all.Items {
		requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&all.Items[i])})
	}
	return requests
}

// widgetsOfPaint are the widgets with the paint of a config map.
func (r *WidgetReconciler) widgetsOfPaint(ctx context.Context, paint *corev1.ConfigMap) []ctrl.Request {
	return r.widgetsOf(ctx, paint)
}
