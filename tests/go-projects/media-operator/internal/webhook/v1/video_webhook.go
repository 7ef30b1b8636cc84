package v1

// +kubebuilder:webhook:path=/mutate-media-example-com-v1-video,mutating=true,failurePolicy=ignore,sideEffects=None,groups=media.example.com,resources=videos,verbs=create;update;delete,versions=v1,name=mvideo-v1.kb.io,admissionReviewVersions=v1

// +kubebuilder:webhook:path=/check-video,mutating=false,failurePolicy=fail,sideEffects=None,groups=media.example.com,resources=videos,verbs=create;update;delete,versions=v1,name=vvideo-v1.kb.io,admissionReviewVersions=v1,timeoutSeconds=5
