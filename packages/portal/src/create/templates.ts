/** Texts to begin with, one for each common kind. Each is one that an API server takes as it is. */
export interface Template {
  /** The kind's part of an address: `deployments.apps`. */
  readonly path: string
  readonly kind: string
  readonly text: string
}

const template = (path: string, text: string): Template => ({
  path,
  kind: /^kind: (\w+)/m.exec(text)?.[1] ?? '',
  text,
})

export const templates: readonly Template[] = [
  template(
    'deployments.apps',
    `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels:
    app.kubernetes.io/name: web
spec:
  replicas: 2
  selector:
    matchLabels:
      app.kubernetes.io/name: web
  template:
    metadata:
      labels:
        app.kubernetes.io/name: web
    spec:
      containers:
        - name: web
          image: registry.example/web:1.0
          ports:
            - name: http
              containerPort: 8080
          readinessProbe:
            httpGet:
              path: /
              port: http
          resources:
            requests:
              cpu: 100m
              memory: 128Mi
            limits:
              memory: 128Mi
`,
  ),
  template(
    'statefulsets.apps',
    `apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: store
  labels:
    app.kubernetes.io/name: store
spec:
  serviceName: store
  replicas: 3
  selector:
    matchLabels:
      app.kubernetes.io/name: store
  template:
    metadata:
      labels:
        app.kubernetes.io/name: store
    spec:
      containers:
        - name: store
          image: registry.example/store:1.0
          ports:
            - name: store
              containerPort: 6000
          readinessProbe:
            tcpSocket:
              port: store
          resources:
            requests:
              cpu: 100m
              memory: 256Mi
            limits:
              memory: 256Mi
          volumeMounts:
            - name: data
              mountPath: /data
  # Each pod gets a claim of its own, which stays when the pod goes.
  volumeClaimTemplates:
    - metadata:
        name: data
      spec:
        accessModes:
          - ReadWriteOnce
        resources:
          requests:
            storage: 10Gi
---
# Headless: it gives each pod a name, such as store-0.store.
apiVersion: v1
kind: Service
metadata:
  name: store
spec:
  clusterIP: None
  selector:
    app.kubernetes.io/name: store
  ports:
    - name: store
      port: 6000
      targetPort: store
`,
  ),
  template(
    'daemonsets.apps',
    `apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: agent
  labels:
    app.kubernetes.io/name: agent
spec:
  selector:
    matchLabels:
      app.kubernetes.io/name: agent
  updateStrategy:
    rollingUpdate:
      maxUnavailable: 10%
  template:
    metadata:
      labels:
        app.kubernetes.io/name: agent
    spec:
      # Also on nodes that take no other pods.
      tolerations:
        - operator: Exists
          effect: NoSchedule
      containers:
        - name: agent
          image: registry.example/agent:1.0
          resources:
            requests:
              cpu: 50m
              memory: 64Mi
            limits:
              memory: 64Mi
`,
  ),
  template(
    'horizontalpodautoscalers.autoscaling',
    `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: web
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: web
  minReplicas: 2
  maxReplicas: 10
  metrics:
    - type: Resource
      resource:
        name: cpu
        # Of what the containers request.
        target:
          type: Utilization
          averageUtilization: 70
`,
  ),
  template(
    'poddisruptionbudgets.policy',
    `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: web
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      app.kubernetes.io/name: web
`,
  ),
  template(
    'services',
    `apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  selector:
    app.kubernetes.io/name: web
  ports:
    - name: http
      port: 80
      targetPort: http
`,
  ),
  template(
    'ingresses.networking.k8s.io',
    `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
spec:
  rules:
    - host: web.example.com
      http:
        paths:
          - path: /
            pathType: Prefix
            backend:
              service:
                name: web
                port:
                  name: http
`,
  ),
  template(
    'networkpolicies.networking.k8s.io',
    `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: web
spec:
  podSelector:
    matchLabels:
      app.kubernetes.io/name: web
  policyTypes:
    - Ingress
  # From pods of the same namespace only.
  ingress:
    - from:
        - podSelector: {}
      ports:
        - port: http
`,
  ),
  template(
    'configmaps',
    `apiVersion: v1
kind: ConfigMap
metadata:
  name: web-settings
data:
  LOG_LEVEL: info
  settings.yaml: |
    greeting: hello
`,
  ),
  template(
    'secrets',
    `apiVersion: v1
kind: Secret
metadata:
  name: web-secret
type: Opaque
# Plain texts: the API server encodes them.
stringData:
  password: change-me
`,
  ),
  template(
    'jobs.batch',
    `apiVersion: batch/v1
kind: Job
metadata:
  name: once
spec:
  backoffLimit: 3
  ttlSecondsAfterFinished: 86400
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: registry.example/job:1.0
          command: ['/bin/sh', '-c', 'echo hello']
`,
  ),
  template(
    'cronjobs.batch',
    `apiVersion: batch/v1
kind: CronJob
metadata:
  name: nightly
spec:
  schedule: '0 2 * * *'
  timeZone: Etc/UTC
  concurrencyPolicy: Forbid
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: main
              image: registry.example/job:1.0
              command: ['/bin/sh', '-c', 'echo hello']
`,
  ),
  template(
    'namespaces',
    `apiVersion: v1
kind: Namespace
metadata:
  name: team
  labels:
    pod-security.kubernetes.io/enforce: baseline
`,
  ),
  template(
    'persistentvolumeclaims',
    `apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: data
spec:
  accessModes:
    - ReadWriteOnce
  resources:
    requests:
      storage: 10Gi
`,
  ),
  template(
    'serviceaccounts',
    `apiVersion: v1
kind: ServiceAccount
metadata:
  name: web
automountServiceAccountToken: false
`,
  ),
  template(
    'roles.rbac.authorization.k8s.io',
    `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: reader
rules:
  - apiGroups: ['']
    resources: [pods, configmaps]
    verbs: [get, list, watch]
`,
  ),
  template(
    'rolebindings.rbac.authorization.k8s.io',
    `apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: reader
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: reader
subjects:
  - kind: ServiceAccount
    name: web
    namespace: default
`,
  ),
]

/** Whether a text is nothing but templates, as they are. */
export function isOfTemplates(text: string): boolean {
  const known = new Set(templates.flatMap((one) => documentsOf(one.text)))
  return documentsOf(text).every(
    (part) =>
      part === '' ||
      known.has(part) ||
      /^apiVersion: \S+\nkind: \S+\nmetadata:\n {2}name:$/.test(part),
  )
}

function documentsOf(text: string): readonly string[] {
  return text.split(/^---$/m).map((part) => part.trim())
}

/** The text for a kind; without a template, what every object has. */
export function textFor(
  path: string,
  kind: { readonly apiVersion: string; readonly kind: string } | undefined,
): string {
  const found = templates.find((one) => one.path === path)
  if (found !== undefined) return found.text
  return kind === undefined
    ? ''
    : `apiVersion: ${kind.apiVersion}\nkind: ${kind.kind}\nmetadata:\n  name: \n`
}
