package controller

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "example.com/layouts/api/v1"
)

// hold makes the lease of a thing.
func (r *ThingReconciler) hold(ctx context.Context, thing *cachev1.Thing) error {
	lease := coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: thing.Namespace, Name: thing.Name}}
	return client.IgnoreAlreadyExists(r.Create(ctx, &lease))
}
