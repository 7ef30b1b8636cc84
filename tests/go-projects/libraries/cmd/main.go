package main

import (
	"flag"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	opsv1 "git.example.org/fleet/libraries/api/v1"
	"git.example.org/fleet/libraries/internal/controller"
)

const chartDirFlag = "chart-dir"

var (
	scheme = runtime.NewScheme()

	region   = flag.String("cloud-region", "", "The region, if AWS_REGION is not set.")
	zones    []string
	features = map[string]string{}
)

type level int

func (l *level) String() string   { return strings.Repeat("v", int(*l)) }
func (l *level) Set(string) error { *l++; return nil }

func main() {
	var (
		probeAddr, metricsAddr, namespaces, chartDir string
		elect, secure, dryRun                        bool
		lease, renew, sync, grace                    time.Duration
		workers                                      int
		verbosity                                    level
	)
	flag.StringVar(&probeAddr, "health-probe-bind-address", ":8081", "The address of the probes.")
	flag.StringVar(&metricsAddr, "metrics-bind-address", "0", "The address of the metrics.")
	flag.BoolVar(&secure, "metrics-secure", true, "Whether metrics are served by HTTPS.")
	flag.BoolVar(&elect, "leader-elect", false, "Whether only one manager is active.")
	flag.DurationVar(&lease, "leader-elect-lease-duration", 15*time.Second, "How long a lease holds.")
	flag.DurationVar(&renew, "leader-elect-renew-deadline", 10*time.Second, "How long renewing may take.")
	flag.DurationVar(&sync, "sync-period", 10*time.Hour, "How often all objects are reconciled.")
	flag.IntVar(&workers, "concurrent-reconciles", 1, "How many objects are reconciled at once.")
	flag.StringVar(&namespaces, "watch-namespace", os.Getenv("WATCH_NAMESPACE"), "The namespaces, with commas.")
	flag.DurationVar(
		&grace,
		"drain-grace-period", // of pods
		time.Minute,
		"How long pods have.",
	)
	flag.StringVar(&chartDir, chartDirFlag, "/charts", "The directory of the charts.")
	flag.Var(&verbosity, "chatty", "Say more; may be repeated.")
	flag.Func("feature", "A feature and its state: name=on", func(text string) error {
		name, state, _ := strings.Cut(text, "=")
		features[name] = state
		return nil
	})
	// flag.StringVar(&old, "retired", "", "It is not used.")

	opts := zap.Options{Development: true}
	opts.BindFlags(flag.CommandLine)
	pflag.CommandLine.AddGoFlagSet(flag.CommandLine)
	pflag.StringSliceVarP(&zones, "zones", "z", nil, "The zones whose nodes are replaced.")
	maxNodes := pflag.Int("max-nodes", 3, "How many nodes are replaced on a day.")

	cmd := &cobra.Command{
		Use: "manager",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctrl.SetLogger(zap.New(zap.UseFlagOptions(&opts)))
			ctrl.Log.Info("starting", "zones", zones, "max", *maxNodes, "region", *region, "help", `try flag.Bool("example")`)
			mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
				Scheme:                  scheme,
				HealthProbeBindAddress:  probeAddr,
				LeaderElection:          elect,
				LeaderElectionID:        "rotation-leader",
				LeaderElectionNamespace: os.Getenv("POD_NAMESPACE"),
				LeaseDuration:           &lease,
				RenewDeadline:           &renew,
				Cache:                   cache.Options{SyncPeriod: &sync},
			})
			if err != nil {
				return err
			}
			if err := (&controller.RotationReconciler{Client: mgr.GetClient(), GracePeriod: grace, DryRun: dryRun}).SetupWithManager(mgr); err != nil {
				return err
			}
			if err := (&controller.BundleReconciler{Client: mgr.GetClient(), ChartDir: chartDir}).SetupWithManager(mgr); err != nil {
				return err
			}
			return mgr.Start(cmd.Context())
		},
	}
	cmd.Flags().BoolVarP(&dryRun, "dry-run", "n", false, "Whether nothing is terminated.")
	cmd.PersistentFlags().String("pager-url", "", "Who is told about failures.")
	_ = cmd.MarkPersistentFlagRequired("pager-url")
	cmd.Flags().AddFlagSet(pflag.CommandLine)

	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		os.Exit(1)
	}
	if err := opsv1.AddToScheme(scheme); err != nil {
		os.Exit(1)
	}
	if err := cmd.ExecuteContext(ctrl.SetupSignalHandler()); err != nil {
		os.Exit(1)
	}
}
