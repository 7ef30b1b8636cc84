package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	shopv1 "example.org/unmarked/api/v1"
)

// BasketReconciler reconciles Basket objects.
type BasketReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=shop.example.org,resources=baskets,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=shop.example.org,resources=baskets/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=shop.example.org,resources=baskets/finalizers,verbs=update
// +kubebuilder:rbac:groups=shop.example.org,resources=coupons;orders,verbs=get;list;watch

// Reconcile moves the cluster towards the spec.
func (r *BasketReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var it shopv1.Basket
	if err := r.Get(ctx, req.NamespacedName, &it); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return ctrl.Result{}, nil
}

// SetupWithManager sets up the controller with the Manager.
func (r *BasketReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&shopv1.Basket{}).
		Complete(r)
}
