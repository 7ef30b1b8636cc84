package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1beta1 "example.com/groups/api/cache/v1beta1"
)

// WarmerReconciler reconciles Warmer objects.
type WarmerReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=cache.example.com,resources=warmers,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=cache.example.com,resources=warmers/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=cache.example.com,resources=warmers/finalizers,verbs=update
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds,verbs=get;list;watch

// Reconcile moves the cluster towards the spec.
func (r *WarmerReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var it cachev1beta1.Warmer
	if err := r.Get(ctx, req.NamespacedName, &it); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return ctrl.Result{}, nil
}

// SetupWithManager sets up the controller with the Manager.
func (r *WarmerReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&cachev1beta1.Warmer{}).
		Named("warmer").
		Complete(r)
}
