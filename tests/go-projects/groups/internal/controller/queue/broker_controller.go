package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	queuev1 "example.com/groups/api/queue/v1"
)

// BrokerReconciler reconciles Broker objects.
type BrokerReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=queue.example.com,resources=brokers,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=queue.example.com,resources=brokers/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=queue.example.com,resources=brokers/finalizers,verbs=update

// Reconcile moves the cluster towards the spec.
func (r *BrokerReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var it queuev1.Broker
	if err := r.Get(ctx, req.NamespacedName, &it); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return ctrl.Result{}, nil
}

// SetupWithManager sets up the controller with the Manager.
func (r *BrokerReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&queuev1.Broker{}).
		Named("broker").
		Complete(r)
}
