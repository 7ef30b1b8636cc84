package quota

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	modulesv1 "example.org/nolayout/api/v1"
)

// Controller reconciles Module objects.
type Controller struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=modules.example.org,resources=modules,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=resourcequotas,verbs=get;list;watch

// Reconcile moves the cluster towards the spec.
func (r *Controller) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var it modulesv1.Module
	if err := r.Get(ctx, req.NamespacedName, &it); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return ctrl.Result{}, nil
}

// SetupWithManager sets up the controller with the Manager.
func (r *Controller) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&modulesv1.Module{}).
		Named("quota").
		Watches(&corev1.ResourceQuota{}, &handler.EnqueueRequestForObject{}).
		Complete(r)
}
