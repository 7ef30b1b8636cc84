package controller

// VideoReconciler reconciles a Video object
type VideoReconciler struct {
	client.Client
	Region string
}

// +kubebuilder:rbac:groups=media.example.com,resources=videos,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=media.example.com,resources=videos/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=media.example.com,resources=videos/finalizers,verbs=update
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get
// +kubebuilder:rbac:groups="",resources=secrets,resourceNames=encoder,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments/scale,verbs=get;patch
// +kubebuilder:rbac:groups=media.example.com,resources=channels,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch

// Reconcile encodes the video.
func (r *VideoReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	return ctrl.Result{}, nil
}

// SetupWithManager sets up the controller with the Manager.
func (r *VideoReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&mediav1.Video{}).
		Owns(&batchv1.Job{}).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(r.videosOf)).
		Named("video").
		Complete(r)
}
