# Runs inside `process-node run`, with the image `answer`; PROCESS_NODE and ANSWER are programs. Each check ends the script if it fails.
# shellcheck shell=sh
set -eu

# Waits up to 20 s until a command prints something.
until_prints() {
    wanted=$1
    shift
    for _ in $(seq 100); do
        found=$("$@" 2>&1) || true
        [ "$found" != "$wanted" ] || return 0
        sleep 0.2
    done
    echo "error: \`$*\` prints \`$found\`, not \`$wanted\`" >&2
    return 1
}

# Runs a Pod until it ends, and prints its termination message: pod NAME ARGUMENTS...
run() {
    name=$1
    shift
    arguments=$(printf ', "%s"' "$@")
    kubectl apply -f - >/dev/null <<POD
apiVersion: v1
kind: Pod
metadata: {name: $name}
spec:
  restartPolicy: Never
  containers:
    - name: main
      image: answer
      args: [${arguments#, }]
      terminationMessagePolicy: FallbackToLogsOnError
      volumeMounts: [{name: data, mountPath: /data}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
POD
    kubectl wait --for=jsonpath='{.status.containerStatuses[0].state.terminated}' pod/"$name" --timeout=30s >/dev/null
    kubectl get pod "$name" -o jsonpath='{.status.phase} {.status.containerStatuses[0].state.terminated.message}'
}

check() {
    [ "$2" = "$3" ] || {
        echo "error: $1: \`$2\`, not \`$3\`" >&2
        exit 1
    }
}

kubectl apply -f - >/dev/null <<ALL
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: text}
data: {text: one}
---
apiVersion: v1
kind: Service
metadata: {name: answers}
spec: {selector: {app: answers}, ports: [{name: http, port: 80, targetPort: http}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: answers}
spec:
  replicas: 2
  selector: {matchLabels: {app: answers}}
  template:
    metadata: {labels: {app: answers}, annotations: {word: first}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
        - name: main
          image: answer
          args: [serve, \$(TEXT)-\$(WORD)]
          env:
            - {name: TEXT, valueFrom: {configMapKeyRef: {name: text, key: text}}}
            - {name: WORD, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['word']"}}}
          ports: [{name: http, containerPort: 8080}]
          readinessProbe: {httpGet: {path: /, port: http}, periodSeconds: 1}
ALL

# Two replicas listen on the same port, each in a network of its own. A third Pod reaches them through the Service.
kubectl rollout status deployment/answers --timeout=30s >/dev/null
answer=$(run asks ask answers.default.svc:80)
check "the Service leads to a Pod" "${answer#Succeeded answers-*-* }" one-first

# The environment is read anew when a container starts.
pod=$(kubectl get pods -l app=answers -o jsonpath='{.items[0].metadata.name}')
kubectl annotate pod "$pod" word=second --overwrite >/dev/null
"$PROCESS_NODE" kill "$pod" main
until_prints 1 kubectl get pod "$pod" -o jsonpath='{.status.containerStatuses[0].restartCount}'
until_prints true kubectl get pod "$pod" -o jsonpath='{.status.containerStatuses[0].ready}'
check "the signal is reported" "$(kubectl get pod "$pod" -o jsonpath='{.status.containerStatuses[0].lastState.terminated.exitCode}')" 137
ip=$(kubectl get pod "$pod" -o jsonpath='{.status.podIP}')
check "the annotation's new value" "$(run asks-again ask "$ip:8080")" "Succeeded $pod one-second"

# What a Pod gets from another within 2 s, from inside the network of the first.
asks() {
    # shellcheck disable=SC2153 # `answer` is another name.
    nsenter -t "$(cat "$PROCESS_NODE_DIR/pods/default/$1/network.pid")" -n timeout 2 "$ANSWER" print "$2:8080" 2>/dev/null || echo nothing
}

# A partition cuts two Pods off from each other, and from nothing else. An isolated Pod reaches nobody.
other=$(kubectl get pods -l app=answers -o jsonpath='{.items[1].metadata.name}')
check "before the partition" "$(asks "$other" "$ip")" "$pod one-second"
"$PROCESS_NODE" partition "$pod" "$other"
check "a Pod that is cut off" "$(asks "$other" "$ip")" nothing
check "a third Pod" "$(run asks-beside ask "$ip:8080")" "Succeeded $pod one-second"
"$PROCESS_NODE" heal
check "after the partition" "$(asks "$other" "$ip")" "$pod one-second"
"$PROCESS_NODE" isolate "$pod"
check "an isolated Pod" "$(asks "$other" "$ip")" nothing
until_prints false kubectl get pod "$pod" -o jsonpath='{.status.containerStatuses[0].ready}'
"$PROCESS_NODE" heal
until_prints true kubectl get pod "$pod" -o jsonpath='{.status.containerStatuses[0].ready}'
check "after the isolation" "$(asks "$other" "$ip")" "$pod one-second"

# A paused process answers nobody, and goes on where it was.
"$PROCESS_NODE" pause "$pod" main
check "a paused Pod" "$(asks "$other" "$ip")" nothing
"$PROCESS_NODE" resume "$pod" main
check "a resumed Pod" "$(asks "$other" "$ip")" "$pod one-second"

# A rollout replaces both.
kubectl set env deployment/answers TEXT=two >/dev/null
kubectl rollout status deployment/answers --timeout=30s >/dev/null
answer=$(run asks-new ask answers.default.svc:80)
check "the new Pods" "${answer#Succeeded answers-*-* }" two-first

# A Service whose port gets another name is served anew, on the same address.
service=$(kubectl get service answers -o jsonpath='{.spec.clusterIP}'):80
kubectl patch service answers --type=json -p '[{"op": "replace", "path": "/spec/ports/0/name", "value": "web"}]' >/dev/null
sleep 1
answers() { timeout 2 "$ANSWER" print "$service" | sed 's/.* //'; }
until_prints two-first answers

# A disk outlives its Pods, and ends with its claim.
check "a new disk" "$(run writes remember hello)" "Succeeded "
check "the same disk" "$(run reads remember bye)" "Succeeded hello"
# A container answers until its hook has ended.
kubectl apply -f - >/dev/null <<POD
apiVersion: v1
kind: Pod
metadata: {name: hooked}
spec:
  terminationGracePeriodSeconds: 5
  containers:
    - name: main
      image: answer
      args: [serve, still]
      lifecycle: {preStop: {exec: {command: [sh, -c, "sleep 1; /answer print 127.0.0.1:8080 >/data/hook"]}}}
      volumeMounts: [{name: data, mountPath: /data}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
POD
kubectl wait --for=condition=Ready pod/hooked --timeout=30s >/dev/null
kubectl delete pod hooked >/dev/null
check "the hook" "$(cat "$PROCESS_NODE_DIR/volumes/default/data/hook")" "hooked still"
# A lost disk is empty.
"$PROCESS_NODE" lose-disk data
check "the lost disk" "$(run reads-nothing remember again)" "Succeeded "
kubectl delete pod writes reads reads-nothing asks asks-again asks-beside asks-new >/dev/null
kubectl delete pvc data >/dev/null
until_prints "" kubectl get pv -o name
[ ! -e "$PROCESS_NODE_DIR/volumes/default/data" ]

# A container waits for a key that its environment needs, and for nothing that is optional.
kubectl apply -f - >/dev/null <<'POD'
apiVersion: v1
kind: Pod
metadata: {name: waits}
spec:
  restartPolicy: Never
  containers:
    - name: main
      image: answer
      args: [fail, $(LATER) $(KEY) $(OBJECT) $$(LATER)]
      env:
        - {name: LATER, valueFrom: {configMapKeyRef: {name: text, key: later}}}
        - {name: KEY, valueFrom: {configMapKeyRef: {name: text, key: never, optional: true}}}
        - {name: OBJECT, valueFrom: {secretKeyRef: {name: never, key: never, optional: true}}}
      envFrom: [{secretRef: {name: never, optional: true}}]
      terminationMessagePolicy: FallbackToLogsOnError
POD
until_prints "CreateContainerConfigError: there is no key \`later\`" kubectl get pod waits -o \
    jsonpath='{.status.containerStatuses[0].state.waiting.reason}: {.status.containerStatuses[0].state.waiting.message}'
kubectl patch configmap text --patch '{"data": {"later": "now"}}' >/dev/null
# shellcheck disable=SC2016 # The node leaves references without a variable as they are.
until_prints 'now $(KEY) $(OBJECT) $(LATER) 0' kubectl get pod waits -o \
    jsonpath='{.status.containerStatuses[0].state.terminated.message} {.status.containerStatuses[0].restartCount}'

# The log stands for a termination message that a failed container did not write.
kubectl apply -f - >/dev/null <<POD
apiVersion: v1
kind: Pod
metadata: {name: fails}
spec:
  restartPolicy: Never
  containers:
    - {name: main, image: answer, args: [fail, no disk], terminationMessagePolicy: FallbackToLogsOnError}
POD
until_prints "Failed 3 no disk" kubectl get pod fails -o \
    jsonpath='{.status.phase} {.status.containerStatuses[0].state.terminated.exitCode} {.status.containerStatuses[0].state.terminated.message}'
check "its log" "$("$PROCESS_NODE" log fails main)" "no disk"

# A path of a mount may hold every character, and lead to one file. A link in a volume does not lead out of it.
kubectl apply -f - >/dev/null <<'POD'
apiVersion: v1
kind: Pod
metadata: {name: mounts}
spec:
  restartPolicy: Never
  initContainers:
    - name: links
      image: answer
      command: [sh, -c, "ln -s /etc /data/out"]
      volumeMounts: [{name: data, mountPath: /data}]
    - name: reads
      image: answer
      command: [sh, -c, "cat \"/a\nrw /etc /b/text\" /one >/dev/termination-log; [ ! -e /b ]"]
      volumeMounts:
        - {name: text, mountPath: "/a\nrw /etc /b"}
        - {name: text, mountPath: /one, subPath: text, readOnly: true}
  containers:
    - name: main
      image: answer
      command: [cat, /host/passwd]
      volumeMounts: [{name: data, mountPath: /host, subPath: out}]
  volumes:
    - {name: data, emptyDir: {}}
    - {name: text, configMap: {name: text}}
POD
until_prints "oneone: StartError: subPath \`out\` leads out of its volume" kubectl get pod mounts -o jsonpath='{.status.initContainerStatuses[1].state.terminated.message}{": "}{.status.containerStatuses[0].state.terminated.reason}{": "}{.status.containerStatuses[0].state.terminated.message}'

# A container without an image waits for it.
kubectl run absent --image=absent --restart=Never >/dev/null
until_prints ErrImagePull kubectl get pod absent -o jsonpath='{.status.containerStatuses[0].state.waiting.reason}'
kubectl delete pod absent >/dev/null

# The API server comes back after a kill. Pods run on meanwhile.
before=$(kubectl get pods -l app=answers -o jsonpath='{.items[*].metadata.uid}')
"$PROCESS_NODE" restart-api-server
until_prints deployment.apps/answers kubectl get deployments -o name
sleep 3
check "the Pods" "$(kubectl get pods -l app=answers -o jsonpath='{.items[*].metadata.uid}')" "$before"
check "their restarts" "$(kubectl get pods -l app=answers -o jsonpath='{.items[*].status.containerStatuses[0].restartCount}')" "0 0"
until_prints "true true" kubectl get pods -l app=answers -o jsonpath='{.items[*].status.containerStatuses[0].ready}'

# A claim disappears while nobody can watch it: its disk ends, and a new claim of the same name has an empty one.
claim() {
    kubectl apply -f - >/dev/null <<'CLAIM'
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: lost}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
CLAIM
    kubectl wait --for=jsonpath='{.status.phase}'=Bound pvc/lost --timeout=30s >/dev/null
}
claim
volume=$(kubectl get pvc lost -o jsonpath='{.spec.volumeName}')
touch "$PROCESS_NODE_DIR/volumes/default/lost/old"
kill -STOP "$(cat "$PROCESS_NODE_DIR/kube-apiserver.pid")"
key=$(printf /registry/persistentvolumeclaims/default/lost | base64 -w 0)
curl --fail --silent --show-error --unix-socket "$PROCESS_NODE_DIR/client.sock" \
    http://etcd/v3/kv/deleterange --data "{\"key\": \"$key\"}" >/dev/null
"$PROCESS_NODE" restart-api-server
until_prints "" kubectl get pv "$volume" --ignore-not-found -o name
claim
check "the new disk" "$(ls "$PROCESS_NODE_DIR/volumes/default/lost")" ""
