package install

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	modulesv1 "example.org/nolayout/api/v1"
)

// Reconciler reconciles Module objects.
type Reconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=modules.example.org,resources=modules,verbs=get;list;watch
// +kubebuilder:rbac:groups=modules.example.org,resources=modules/status,verbs=patch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch

// Reconcile moves the cluster towards the spec.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var it modulesv1.Module
	if err := r.Get(ctx, req.NamespacedName, &it); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return ctrl.Result{}, nil
}

// SetupWithManager sets up the controller with the Manager.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&modulesv1.Module{}).
		Owns(&appsv1.Deployment{}).
		Named("install").
		Complete(r)
}
