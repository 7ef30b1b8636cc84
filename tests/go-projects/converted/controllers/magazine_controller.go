package controllers

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pressv1 "example.org/converted/api/v1"
)

// MagazineReconciler reconciles Magazine objects.
type MagazineReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

//+kubebuilder:rbac:groups=press.example.org,resources=magazines,verbs=get;list;watch;create;update;patch;delete
//+kubebuilder:rbac:groups=press.example.org,resources=magazines/status,verbs=get;update;patch
//+kubebuilder:rbac:groups=press.example.org,resources=magazines/finalizers,verbs=update

// Reconcile moves the cluster towards the spec.
func (r *MagazineReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var it pressv1.Magazine
	if err := r.Get(ctx, req.NamespacedName, &it); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return ctrl.Result{}, nil
}

// SetupWithManager sets up the controller with the Manager.
func (r *MagazineReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&pressv1.Magazine{}).
		Complete(r)
}
