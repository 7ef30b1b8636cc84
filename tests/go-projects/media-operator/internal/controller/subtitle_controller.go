package controller

// SetupWithManager sets up the controller with the Manager.
func (r *SubtitleReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&mediav1.Subtitle{}).Complete(r)
}
