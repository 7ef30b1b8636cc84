package rack

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	modulesv1alpha1 "example.org/nolayout/api/v1alpha1"
)

// RackReconciler reconciles Rack objects.
type RackReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=modules.example.org,resources=racks,verbs=get;list;watch
// +kubebuilder:rbac:groups=modules.example.org,resources=racks/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=modules.example.org,resources=modules,verbs=get;list;watch

// Reconcile moves the cluster towards the spec.
func (r *RackReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var it modulesv1alpha1.Rack
	if err := r.Get(ctx, req.NamespacedName, &it); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return ctrl.Result{}, nil
}

// SetupWithManager sets up the controller with the Manager.
func (r *RackReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&modulesv1alpha1.Rack{}).
		Complete(r)
}
