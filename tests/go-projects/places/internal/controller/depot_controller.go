package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	railv1 "example.com/places/api/v1"
)

// DepotReconciler reconciles Depot objects.
type DepotReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=rail.example.com,resources=depots,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=rail.example.com,resources=depots/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=rail.example.com,resources=depots/finalizers,verbs=update
// +kubebuilder:rbac:groups=rail.example.com,resources=wagons,verbs=get;list;watch

// Reconcile moves the cluster towards the spec.
func (r *DepotReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var it railv1.Depot
	if err := r.Get(ctx, req.NamespacedName, &it); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return ctrl.Result{}, nil
}

// SetupWithManager sets up the controller with the Manager.
func (r *DepotReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&railv1.Depot{}).
		Watches(&railv1.Wagon{}, handler.EnqueueRequestsFromMapFunc(r.depotOf)).
		Complete(r)
}

// depotOf is the depot of a wagon.
func (r *DepotReconciler) depotOf(_ context.Context, obj client.Object) []reconcile.Request {
	wagon, ok := obj.(*railv1.Wagon)
	if !ok || wagon.Spec.DepotName == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: wagon.Namespace, Name: wagon.Spec.DepotName}}}
}
