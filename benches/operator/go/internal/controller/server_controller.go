// Package controller reconciles Servers.
package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	benchv1alpha1 "github.com/operator-forge/benches/operator/api/v1alpha1"
)

const (
	serverFinalizer = "bench.example.com/finalizer"

	image = "docker.io/library/busybox:1.37"

	// typeAvailable is the condition that says whether the Deployment is as it should be.
	typeAvailable = "Available"
)

// ServerReconciler reconciles a Server object.
type ServerReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// Reconcile brings the cluster closer to what the Server wants: a finalizer, a Deployment, a condition.
func (r *ServerReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	log := logf.FromContext(ctx)

	server := &benchv1alpha1.Server{}
	if err := r.Get(ctx, req.NamespacedName, server); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}

	if !server.DeletionTimestamp.IsZero() {
		if controllerutil.RemoveFinalizer(server, serverFinalizer) {
			return ctrl.Result{}, r.Update(ctx, server)
		}
		return ctrl.Result{}, nil
	}

	if controllerutil.AddFinalizer(server, serverFinalizer) {
		// The event of this update brings the object back.
		return ctrl.Result{}, r.Update(ctx, server)
	}

	found := &appsv1.Deployment{}
	err := r.Get(ctx, req.NamespacedName, found)
	switch {
	case apierrors.IsNotFound(err):
		dep, err := r.deploymentForServer(server)
		if err != nil {
			return ctrl.Result{}, err
		}
		log.V(1).Info("Creating a Deployment")
		if err := r.Create(ctx, dep); err != nil {
			return ctrl.Result{}, err
		}
	case err != nil:
		return ctrl.Result{}, err
	case *found.Spec.Replicas != server.Spec.Size:
		found.Spec.Replicas = ptr.To(server.Spec.Size)
		if err := r.Update(ctx, found); err != nil {
			return ctrl.Result{}, err
		}
	}

	if meta.SetStatusCondition(&server.Status.Conditions, metav1.Condition{
		Type:               typeAvailable,
		Status:             metav1.ConditionTrue,
		Reason:             "Reconciled",
		Message:            "the Deployment is as it should be",
		ObservedGeneration: server.Generation,
	}) {
		return ctrl.Result{}, r.Status().Update(ctx, server)
	}
	return ctrl.Result{}, nil
}

// deploymentForServer returns the Deployment that the Server wants.
func (r *ServerReconciler) deploymentForServer(server *benchv1alpha1.Server) (*appsv1.Deployment, error) {
	labels := map[string]string{
		"app.kubernetes.io/name":       "server",
		"app.kubernetes.io/instance":   server.Name,
		"app.kubernetes.io/version":    "1.37",
		"app.kubernetes.io/managed-by": "ServerController",
	}
	dep := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name:      server.Name,
			Namespace: server.Namespace,
			Labels:    labels,
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(server.Spec.Size),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					SecurityContext: &corev1.PodSecurityContext{
						RunAsNonRoot:   ptr.To(true),
						SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
					},
					Containers: []corev1.Container{{
						Name:            "server",
						Image:           image,
						ImagePullPolicy: corev1.PullIfNotPresent,
						Command:         []string{"httpd", "-f"},
						Env:             []corev1.EnvVar{{Name: "SERVER_NAME", Value: server.Name}},
						Ports: []corev1.ContainerPort{{
							Name:          "http",
							ContainerPort: server.Spec.ContainerPort,
						}},
						Resources: corev1.ResourceRequirements{
							Requests: corev1.ResourceList{
								corev1.ResourceCPU:    resource.MustParse("10m"),
								corev1.ResourceMemory: resource.MustParse("64Mi"),
							},
							Limits: corev1.ResourceList{
								corev1.ResourceMemory: resource.MustParse("128Mi"),
							},
						},
						SecurityContext: &corev1.SecurityContext{
							RunAsNonRoot:             ptr.To(true),
							RunAsUser:                ptr.To(int64(1001)),
							AllowPrivilegeEscalation: ptr.To(false),
							Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
						},
					}},
				},
			},
		},
	}
	return dep, ctrl.SetControllerReference(server, dep, r.Scheme)
}

// SetupWithManager sets up the controller with the Manager.
func (r *ServerReconciler) SetupWithManager(mgr ctrl.Manager, maxConcurrentReconciles int) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&benchv1alpha1.Server{}).
		Owns(&appsv1.Deployment{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: maxConcurrentReconciles}).
		Named("server").
		Complete(r)
}
