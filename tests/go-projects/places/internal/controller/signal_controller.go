package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	railv1 "example.com/places/api/v1"
)

// SignalReconciler reconciles Signal objects.
type SignalReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=rail.example.com,resources=signals,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=rail.example.com,resources=signals/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=rail.example.com,resources=signals/finalizers,verbs=update

// Reconcile moves the cluster towards the spec.
func (r *SignalReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var it railv1.Signal
	if err := r.Get(ctx, req.NamespacedName, &it); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return ctrl.Result{}, nil
}

// SetupWithManager sets up the controller with the Manager.
func (r *SignalReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&railv1.Signal{}).
		Complete(r)
}
