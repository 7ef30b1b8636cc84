module git.example.org/fleet/libraries

go 1.24.0

require (
	git.example.org/shared/retry v0.4.2
	github.com/Masterminds/sprig/v3 v3.3.0
	github.com/aws/aws-sdk-go-v2/config v1.29.0
	github.com/aws/aws-sdk-go-v2/service/ec2 v1.200.0
	github.com/jackc/pgx/v5 v5.7.2
	github.com/robfig/cron/v3 v3.0.1
	github.com/spf13/cobra v1.8.1
	github.com/spf13/pflag v1.0.5
	helm.sh/helm/v3 v3.17.0
	k8s.io/api v0.33.0
	k8s.io/apimachinery v0.33.0
	k8s.io/client-go v0.33.0
	k8s.io/kubectl v0.33.0
	sigs.k8s.io/controller-runtime v0.21.0
)

require github.com/go-logr/logr v1.4.2 // indirect

replace git.example.org/shared/retry => ../retry
