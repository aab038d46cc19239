/** How a way to be broken is told. */
export interface ToldShape {
  readonly after: string
  /** The message of the first row, with `…` for what varies, or whose words it has, in brackets. */
  readonly words: string
  /** The analyzer of k8sgpt that looks for it. */
  readonly k8sgpt: string
}

const told = (after: string, words: string, k8sgpt = 'none'): ToldShape => ({
  after,
  words,
  k8sgpt,
})

/** By what is wrong, as the shapes have it: all that have a row. */
export const toldShapes: Readonly<Record<string, ToldShape>> = {
  'Containers of a Deployment crash again and again': told(
    'at once',
    'container main: …; ended with Error, exit code 1',
    'Pod',
  ),
  'A container that crashes again and again runs just now': told(
    'at once, for 10 minutes',
    'container main: restarted 7 times; ended with exit code 1',
  ),
  'A container that has crashed runs again, and is not ready yet': told(
    'at once',
    'container main: restarted once; ended with Error, exit code 1',
  ),
  'A container takes more memory than its limit': told(
    'at once',
    'container main: …; ended with OOMKilled, exit code 137',
    'Pod',
  ),
  'An image cannot be pulled, and the rollout is past its deadline': told(
    'at once',
    'container main: …',
    'Pod',
  ),
  'An init container fails': told(
    'at once',
    'container init: …; ended with Error, exit code 2',
    'Pod',
  ),
  'No node has room for a pod': told('at once', '(the scheduler)', 'Pod'),
  'A pod of a StatefulSet runs, and has not been ready for 10 minutes': told(
    '10 minutes',
    '(the kubelet)',
    'Pod, StatefulSet',
  ),
  'A pod of a DaemonSet runs, and has not been ready for 10 minutes': told(
    '10 minutes',
    '(the kubelet)',
    'Pod, DaemonSet',
  ),
  'A rollout is past its deadline, and its pods do not say why': told(
    'its deadline',
    '(the Deployment)',
    'Deployment',
  ),
  'A Deployment that was complete has had too few replicas for 10 minutes': told(
    '10 minutes',
    '(the Deployment)',
    'Deployment',
  ),
  'A quota, or an admission webhook, refuses the pods of a Deployment': told(
    'at once',
    '(the API server)',
    'ReplicaSet',
  ),
  'A node evicted pods, and left them behind': told('at once', '(the kubelet)', 'Pod'),
  'A Job has failed more often than it may': told('at once', '(the Job)', 'Job'),
  'The last run of a CronJob has failed': told('at once', '(the Job)', 'Job'),
  'A node does not report; pods of two Deployments are on it': told(
    'some 50 s, when Kubernetes says so',
    '(the Node)',
    'Node',
  ),
  'A node runs out of memory and of disk space': told('at once', '(the Node)', 'Node'),
  'A PersistentVolumeClaim has lost its volume': told(
    'at once',
    'the volume that it was bound to is gone',
  ),
  'A PersistentVolumeClaim has had no volume for 10 minutes': told(
    '10 minutes',
    '(the claim)',
    'PersistentVolumeClaim',
  ),
  'A HorizontalPodAutoscaler has no metrics': told(
    'at once',
    '(the autoscaler)',
    'HorizontalPodAutoscaler',
  ),
  'A HorizontalPodAutoscaler is at its maximum': told('at once', '(the autoscaler)'),
  'The server of an APIService does not answer': told('at once', '(the APIService)'),
  'A certificate has expired': told('at once', '(the Certificate)'),
  'A custom resource has not been ready for 10 minutes': told('10 minutes', '(the object)'),
  'Warning Events about a pod repeat, and nothing else is wrong with it': told(
    'the third time',
    '(the Event)',
  ),
  'Warning Events about a pod repeat, and the pod says what is wrong': told(
    'at once',
    'container main: …',
    'Pod',
  ),
  'A Deployment that was complete has had too few replicas for 10 minutes, and some are ready':
    told('10 minutes', '(the Deployment)', 'Deployment'),
  'One of three pods crashes again and again': told('at once', 'container main: …', 'Pod'),
  'A pod that is ready has crashed some minutes ago': told(
    'at once, for 10 minutes',
    'container main: restarted … times; ended with exit code 1',
  ),
  'A readiness probe fails again and again, and no pod is ready': told(
    'the third time',
    'Readiness probe failed: …',
    'Pod',
  ),
  'A volume cannot be mounted, and the containers are not created for 10 minutes': told(
    'the third time',
    '(the kubelet)',
    'Pod',
  ),
  'A StatefulSet waits for a claim that is not bound': told(
    'at once',
    '(the provisioner)',
    'Pod, PersistentVolumeClaim',
  ),
  'Pods of several Deployments ask for a label that no Node has': told(
    'at once',
    'no Node has shape.example.com/os=linux',
    'Pod',
  ),
  'No scheduler has said anything of a pod for 10 minutes': told(
    '10 minutes',
    'no node has been chosen for it',
  ),
  'A quota refuses a pod of a Deployment, and the node of another pod is down': told(
    'at once',
    '(the API server)',
    'ReplicaSet, Node',
  ),
  'A Service selects pods that there are not, and no workload makes': told(
    'at once',
    'no pod has app=web',
    'Service',
  ),
  'An Ingress, a route or a webhook leads to a Service without pods': told(
    'at once',
    'no pod has app=web',
    'Service',
  ),
  'The pods of a Service crash': told(
    'at once',
    'container main: …; ended with Error, exit code 1',
    'Pod, Service',
  ),
  'An Ingress leads to a Service that does not exist': told(
    'at once',
    'Service web does not exist',
    'Ingress',
  ),
  'An Ingress leads to a port that its Service does not have': told(
    'at once',
    'Service web has no port 8080',
  ),
  'A route of the Gateway API leads to a Service that does not exist': told(
    'at once',
    'Service web does not exist',
    'HTTPRoute',
  ),
  'The Service of an admission webhook does not exist': told(
    'at once',
    'check.example.com: Service default/gone does not exist',
    'ValidatingWebhookConfiguration',
  ),
  'The Service of a webhook that may fail (`failurePolicy: Ignore`) does not exist': told(
    'at once',
    'check.example.com: Service default/gone does not exist',
    'MutatingWebhookConfiguration',
  ),
  'The Service of an admission webhook has no ready pod': told(
    'at once',
    'check.example.com: Service …/hook has no ready pod',
    'ValidatingWebhookConfiguration',
  ),
  'A PodDisruptionBudget allows no disruption although all pods are healthy': told(
    'at once',
    'allows no disruption although all 3 pods are healthy: minAvailable is 3',
    'PodDisruptionBudget',
  ),
  'A run of a CronJob may begin no more (`startingDeadlineSeconds`)': told(
    'its deadline',
    'no run has begun at …, as the schedule */5 * * * * says; …',
  ),
  'A Service has pods, and none of them is ready': told(
    '10 minutes',
    '(the kubelet)',
    'Pod, Service',
  ),
  'A CronJob has missed its schedule': told(
    '10 minutes after it was due',
    'no run has begun at …, as the schedule 0 * * * * says; the last one was that of …',
  ),
  'A Job without a deadline has run for more than 12 hours': told(
    '12 hours',
    'has run for more than 12 hours, and has no deadline',
  ),
  'A ResourceQuota is used up to more than 95 %': told(
    'at once',
    'requests.memory: 9984Mi of 10Gi used',
  ),
  'A ResourceQuota is used up': told('at once', 'requests.memory: 10Gi of 10Gi used'),
  'A workload refers to a ConfigMap that does not exist': told(
    'at once',
    'ConfigMap more does not exist, ConfigMap settings does not exist',
  ),
  'A workload refers to a Secret that does not exist': told(
    'at once',
    'Secret token does not exist',
  ),
  'A workload refers to a ServiceAccount that does not exist': told(
    'at once',
    'ServiceAccount robot does not exist',
  ),
  'A workload refers to a PriorityClass that does not exist': told(
    'at once',
    'PriorityClass urgent does not exist',
  ),
  'A PersistentVolumeClaim names a StorageClass that does not exist': told(
    'at once',
    'StorageClass nope does not exist',
    'PersistentVolumeClaim',
  ),
  'The TLS Secret of an Ingress does not exist': told(
    'at once',
    'Secret shop-tls does not exist',
    'Ingress',
  ),
  'A certificate has expired, whatever its condition says': told(
    'at once',
    'the certificate has expired at …',
  ),
  'A certificate is in its last days, and has not been renewed': told(
    '7 days before its end, or half way from its renewal',
    'the certificate expires at …, and has not been renewed',
  ),
  'A finalizer holds up a deletion for 10 minutes': told(
    '10 minutes',
    'waits for the finalizer example.com/keep',
  ),
}
