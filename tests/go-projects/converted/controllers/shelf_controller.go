package controllers

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pressv1alpha1 "example.org/converted/api/v1alpha1"
)

// ShelfReconciler reconciles Shelf objects.
type ShelfReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

//+kubebuilder:rbac:groups=press.example.org,resources=shelves,verbs=get;list;watch;create;update;patch;delete
//+kubebuilder:rbac:groups=press.example.org,resources=shelves/status,verbs=get;update;patch
//+kubebuilder:rbac:groups=press.example.org,resources=shelves/finalizers,verbs=update

// Reconcile moves the cluster towards the spec.
func (r *ShelfReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var it pressv1alpha1.Shelf
	if err := r.Get(ctx, req.NamespacedName, &it); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return ctrl.Result{}, nil
}

// SetupWithManager sets up the controller with the Manager.
func (r *ShelfReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&pressv1alpha1.Shelf{}).
		Complete(r)
}
