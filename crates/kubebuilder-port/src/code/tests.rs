use super::*;

fn words<'a>(words: impl IntoIterator<Item = &'a String>) -> Vec<&'a str> {
    words.into_iter().map(String::as_str).collect()
}

#[test]
fn calls_of_the_builder() {
    let code = Code::read(
        "
    return ctrl.NewControllerManagedBy(mgr).
        For(&mediav1.Video{}). // not Owns(&v1.Pod{})
        /* nor */ Owns(&appsv1.Deployment{}, builder.MatchEveryOwner).
        Owns( &Job{}).
        Owns(new(batchv1.CronJob)).
        Watches(\n&corev1.Secret{}, // of the Video\n handler).
        Watches(source, handler).
        Watches(&corev1.Pod{}, handler.EnqueueRequestForOwner(s, m, &mediav1.Video{})).
        Watches(&source.Kind{Type: &corev1.Node{}}, h).
        WatchesRawSource(source.Kind(mgr.GetCache(), &corev1.ConfigMap{}, h)).
        Complete(r)
    text := `x.Owns(&v1.Service{})`
    client.Watch(ctx, &v1.PodList{})
    ctrl.NewWebhookManagedBy(mgr).For(&mediav1.Playlist{}).Complete()",
    );
    assert_eq!(words(&code.built.primary), ["Video"]);
    assert_eq!(
        words(&code.built.owned),
        ["CronJob", "Deployment", "Job", "Pod"]
    );
    assert_eq!(words(&code.built.watched), ["ConfigMap", "Node", "Secret"]);
}

#[test]
fn watches_of_older_projects() {
    let code = Code::read(
        "c.Watch(&source.Kind{Type: &v1.Box{}}, &handler.EnqueueRequestForObject{})
         c.Watch(&source.Kind{Type: &corev1.Pod{}}, &handler.EnqueueRequestForOwner{OwnerType: &v1.Box{}})",
    );
    assert_eq!(words(&code.built.primary), ["Box"]);
    assert_eq!(words(&code.built.owned), ["Pod"]);
}

#[test]
fn markers_in_comments() {
    let code = Code::read(
        "//+kubebuilder:rbac:groups=a,resources=b,verbs=get\n\
         /* // +kubebuilder:rbac:groups=a,resources=c,verbs=get */\n\
         x := `\n// +kubebuilder:rbac:groups=a,resources=d,verbs=get\n`\n\
         // +kubebuilder:webhook:path=/e\n",
    );
    let rules: Vec<_> = code.rules.iter().map(|it| it.marker.as_str()).collect();
    assert_eq!(rules, ["+kubebuilder:rbac:groups=a,resources=b,verbs=get"]);
    assert_eq!(code.admissions[0].values("path"), ["/e"]);
}

#[test]
fn flags() {
    let code = Code::read(
        r#"
    flag.StringVar(&addr, "metrics-bind-address", "0", "usage")
    flag.DurationVar(&resync, "resync", time.Minute, "usage \"x\"")
    name := flag.String("region", "eu", "usage")
    pflag.IntVarP(&n, "workers", "w", 1, "usage")
    cmd.Flags().StringSlice("zones", nil, "usage")
    cmd.PersistentFlags().Var(&v, "value", "usage")
    flag.Parse()
    opts.BindFlags(flag.CommandLine)
    fmt.Println("flag.Usage", "x")
    zap.String("key", "value")
    const chart = "chart-dir"
    flag.StringVar(&c.dir, chart, f("/a", 1), "usage")
    flag.Func("feature", "usage", func(a string) error { return nil })
"#,
    );
    let expected = [
        "metrics-bind-address",
        "resync",
        "region",
        "workers",
        "zones",
        "value",
        "chart-dir",
        "feature",
    ];
    assert_eq!(code.flags, expected);
}

#[test]
fn declarations() {
    let code = Code::read(
        r#"
    package v1
    import "a/b"
    import (
        // A comment.
        c "d/e"
        . "f"
    )
    const videoFinalizer = "media.example.com/finalizer"
    var finalizers string = "no finalizer at all"
    const leaderID = "1a2b.example.com"
    const nodeFinalizer string = domain + "/node"
    const domain = "example.com"
    type Config struct {
        cfg.ControllerManagerConfigurationSpec `json:",inline"`
    }
    func (*Video) Hub() {}
    func (src *Playlist) ConvertTo(hub conversion.Hub) error { return nil }
    func init() { SchemeBuilder.Register(&Video{}, &VideoList{}) }
    func main() {
        ctrl.Options{LeaderElectionID: leaderID}
        controllerutil.AddFinalizer(video, "example.com/other")
    }
"#,
    );
    assert_eq!(code.imports, ["a/b", "d/e", "f"]);
    let sets = [
        (
            &code.finalizers,
            vec![
                "example.com/node",
                "example.com/other",
                "media.example.com/finalizer",
            ],
        ),
        (&code.configurations, vec!["Config"]),
        (&code.hubs, vec!["Video"]),
        (&code.spokes, vec!["Playlist"]),
        (&code.registered, vec!["Video", "VideoList"]),
    ];
    for (found, expected) in sets {
        assert_eq!(words(found), expected);
    }
    assert_eq!(code.lease.as_deref(), Some("1a2b.example.com"));
    assert!(code.has_methods);
    let endless = Code::read("const aFinalizer = \"a/\" + aFinalizer + aFinalizer");
    assert!(endless.finalizers.is_empty());
    let plain =
        Code::read("func init() {}\nfunc f() func() { return func(a int) error { return nil } }");
    assert!(!plain.has_methods);
}
