package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	cachev1 "example.com/layouts/api/v1"
)

/*
Former permissions, kept for the record:
+kubebuilder:rbac:groups=storage.k8s.io,resources=storageclasses,verbs=get
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=create;delete
*/

// ThingReconciler reconciles Thing objects.
type ThingReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=cache.example.com,resources=things,verbs=get;list;watch;update;patch;
// +kubebuilder:rbac:groups=cache.example.com, resources=things/status, verbs=get; update; patch
// +kubebuilder:rbac:groups="cache.example.com",resources="things/finalizers",verbs=update
// +kubebuilder:rbac:groups=cache.example.com,resources=gizmos;gizmos/status,verbs=get;list;watch
// +kubebuilder:rbac:groups=`apps`,resources=`deployments`,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups={"batch"},resources={jobs,cronjobs},verbs={get,list,watch,create,delete}
// +kubebuilder:rbac:groups=core,resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups=core,resources=pods,verbs=delete
// +kubebuilder:rbac:groups="",resources=pods/log,verbs=get
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;create;update

// Reconcile holds the lease of a thing while it works.
func (r *ThingReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var thing cachev1.Thing
	if err := r.Get(ctx, req.NamespacedName, &thing); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if err := r.hold(ctx, &thing); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, nil
}

// SetupWithManager sets up the controller with the Manager.
func (r *ThingReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&cachev1.Thing{}). // not Owns(&corev1.Service{}), as services stay
		Owns(&appsv1.Deployment{}).
		Owns(
			// one job for each size
			new(batchv1.Job),
		).
		/* Owns(&batchv1.CronJob{}). */
		Watches(
			&corev1.Pod{}, // of any owner
			// The objects in this call are not watched:
			handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), &cachev1.Thing{}),
		).
		Complete(r)
}
