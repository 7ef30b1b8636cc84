package controller

import (
	"context"
	"os"
	"time"

	"git.example.org/shared/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/robfig/cron/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubectl/pkg/drain"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	opsv1 "git.example.org/fleet/libraries/api/v1"
)

const (
	// rotationFinalizer gives the nodes back.
	rotationFinalizer = "ops.example.org/rotation"

	// nodeFinalizer keeps a node until its instance is gone.
	nodeFinalizer string = opsDomain + "/instance"

	opsDomain = "ops.example.org"
)

// RotationReconciler replaces nodes, one after the other.
type RotationReconciler struct {
	client.Client
	Clientset   kubernetes.Interface
	GracePeriod time.Duration
	DryRun      bool
}

// +kubebuilder:rbac:groups=ops.example.org,resources=rotations,verbs=get;list;watch;update
// +kubebuilder:rbac:groups=ops.example.org,resources=rotations/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;delete
// +kubebuilder:rbac:groups="",resources=pods/eviction,verbs=create
// +kubebuilder:rbac:groups=apps,resources=daemonsets,verbs=get

// Reconcile replaces the next node.
func (r *RotationReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var rotation opsv1.Rotation
	if err := r.Get(ctx, req.NamespacedName, &rotation); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if controllerutil.AddFinalizer(&rotation, rotationFinalizer) {
		return ctrl.Result{}, r.Update(ctx, &rotation)
	}
	schedule, err := cron.ParseStandard(rotation.Spec.Schedule)
	if err != nil {
		return ctrl.Result{}, err
	}
	var node corev1.Node
	if err := r.Get(ctx, client.ObjectKey{Name: rotation.Status.LastNode}, &node); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if controllerutil.AddFinalizer(&node, nodeFinalizer) {
		return ctrl.Result{}, r.Update(ctx, &node)
	}
	helper := &drain.Helper{Ctx: ctx, Client: r.Clientset, GracePeriodSeconds: int(r.GracePeriod.Seconds())}
	if err := drain.RunNodeDrain(helper, node.Name); err != nil {
		return ctrl.Result{}, err
	}
	if err := retry.Do(ctx, func() error { return r.terminate(ctx, &node) }); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: time.Until(schedule.Next(time.Now()))}, nil
}

func (r *RotationReconciler) terminate(ctx context.Context, node *corev1.Node) error {
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(os.Getenv("AWS_REGION")))
	if err != nil {
		return err
	}
	_, err = ec2.NewFromConfig(cfg).TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{node.Spec.ProviderID}, DryRun: &r.DryRun})
	return err
}

// SetupWithManager sets up the controller with the Manager.
func (r *RotationReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&opsv1.Rotation{}).Complete(r)
}
