/** The arguments of every write. */
const wishes = `
    "Stores nothing; the answer shows what would be stored."
    dryRun: Boolean
    "The manager of the fields that are set; \`informerql\` if absent."
    fieldManager: String`

/** The arguments of a write to an object that the caller has looked at. */
const known = `
    "The \`id\` of the object. Another object with its name is never written."
    id: ID!`

const looked = `
    """
    The \`metadata.resourceVersion\` that the caller looked at: if the object has changed since, nothing
    is written. Any state if absent.
    """
    resourceVersion: String${wishes}`

const validation = `
    "What happens to fields that the schema of the kind does not know; \`STRICT\` if absent."
    fieldValidation: FieldValidation`

const place = `
    "The name of the cluster; the default cluster if absent."
    cluster: String
    "The namespace of documents that name none."
    namespace: String`

/** The writes, as SDL, in the form of \`kindTypesSdl\`. Each is made with the credentials of the caller. */
export const writeTypesSdl: string = `
type Mutation {
  """
  Applies objects as \`kubectl apply --server-side\` does: creates each, or sets its given fields and
  gives up those that the field manager had set before. One payload for each document, in their order;
  a document that fails is null and has an error of its own.
  """
  apply(
    "YAML or JSON as text, with one or several documents; or an object, or a list of them."
    manifest: JSON!${place}
    "Takes over fields of other managers, which are a CONFLICT otherwise."
    force: Boolean${validation}${wishes}
  ): [WritePayload]
  "Creates one object. ALREADY_EXISTS if there is one of its name."
  create(
    "YAML or JSON as text, or an object; \`metadata.generateName\` lets the API server find a name."
    manifest: JSON!${place}${validation}${wishes}
  ): WritePayload
  "Changes parts of an object."
  patch(${known}
    "The format of the patch."
    type: PatchType!
    "The patch: an object, or for \`JSON\` a list of steps; also as YAML or JSON text."
    patch: JSON!${validation}${looked}
  ): WritePayload
  "Deletes an object. It stays, with a \`deletionTimestamp\`, until its finalizers and its grace period have ended."
  delete(${known}
    "What happens to the objects that it owns; the default of the kind if absent."
    propagation: Propagation
    "The grace period in seconds; 0 deletes at once. The default of the object if absent."
    gracePeriodSeconds: Int
    "The \`metadata.resourceVersion\` that the caller looked at."
    resourceVersion: String
    "Deletes nothing."
    dryRun: Boolean
  ): WritePayload
  "Sets the number of replicas, by the subresource \`scale\`."
  scale(${known}
    "The number of replicas."
    replicas: Int!${looked}
  ): WritePayload
  "Replaces the pods of a Deployment, StatefulSet or DaemonSet step by step, as \`kubectl rollout restart\` does."
  restart(${known}${looked}): WritePayload
  "Pauses the rollout of a Deployment: changes of its template wait."
  pauseRollout(${known}${looked}): WritePayload
  "Resumes the rollout of a Deployment."
  resumeRollout(${known}${looked}): WritePayload
  "Gives a Deployment, StatefulSet or DaemonSet the template of an earlier revision, as \`kubectl rollout undo\` does."
  rollback(${known}
    "The revision; the one before the present one if absent."
    toRevision: Int${looked}
  ): WritePayload
  "Suspends a CronJob or a Job."
  suspend(${known}${looked}): WritePayload
  "Resumes a suspended CronJob or Job."
  resume(${known}${looked}): WritePayload
  "Runs a CronJob now: creates a Job from its template, as \`kubectl create job --from\` does. The object is the Job."
  runNow(${known}
    "The name of the Job; made from the name of the CronJob if absent."
    name: String${wishes}
  ): WritePayload
  "Makes a node unschedulable: it gets no further pods."
  cordon(${known}${looked}): WritePayload
  "Makes a node schedulable."
  uncordon(${known}${looked}): WritePayload
  "Evicts a pod: deletes it unless a PodDisruptionBudget forbids that now (DISRUPTION_BUDGET)."
  evict(${known}
    "The grace period in seconds; that of the pod if absent."
    gracePeriodSeconds: Int
    "Evicts nothing."
    dryRun: Boolean
  ): WritePayload
  "Sets the image of a container of a workload's template, of a CronJob's or a Pod."
  setImage(${known}
    "The name of the container or init container."
    container: String!
    "The image: \`registry/name:tag\`."
    image: String!${looked}
  ): WritePayload
  "Sets labels of an object."
  label(${known}
    "The labels by key: \`{ \\"team\\": \\"shop\\" }\`. Null removes a label; others stay."
    labels: JSON!${looked}
  ): WritePayload
  "Sets annotations of an object."
  annotate(${known}
    "The annotations by key. Null removes an annotation; others stay."
    annotations: JSON!${looked}
  ): WritePayload
}

type WriteSubscription {
  """
  Empties a node as \`kubectl drain\` does: makes it unschedulable and evicts its pods, which respects
  PodDisruptionBudgets: an eviction that one forbids is tried again until the deadline. It begins with the
  subscription, ends by itself, and stops when the subscriber leaves. Pods of DaemonSets and static pods stay.
  """
  drain(
    "The \`id\` of the node."
    id: ID!
    "The grace period of each pod in seconds; that of the pod if absent."
    gracePeriodSeconds: Int
    "How long the drain may take, in seconds; at most, and by default, what the gateway allows."
    deadlineSeconds: Int
    "Evicts pods with data in an \`emptyDir\`, too: it is lost. They are refused otherwise."
    deleteEmptyDirData: Boolean
    "Evicts pods without a controller, too: nothing starts them again. They are refused otherwise."
    force: Boolean
    "Evicts nothing; the progress shows what would be evicted, and what not."
    dryRun: Boolean
  ): DrainProgress
}

"How the drain of a node goes on. Each frame is the whole of it."
type DrainProgress {
  "The name of the node."
  node: String!
  "The state of the drain."
  state: DrainState!
  "Why it was refused or has failed; null otherwise."
  message: String
  "The number of pods that have to go."
  total: Int!
  "The number of pods that are gone."
  gone: Int!
  "Whether it was a dry run."
  dryRun: Boolean!
  "The pods of the node when the drain began."
  pods: [DrainedPod!]!
}

"A pod of a node that is drained."
type DrainedPod {
  "The namespace of the pod."
  namespace: String!
  "The name of the pod."
  name: String!
  "How far it is."
  state: DrainedPodState!
  "Why it is blocked, stays, is refused or has failed; null otherwise."
  reason: String
}

"The states of a drain."
enum DrainState {
  "Pods are being evicted, or have not ended yet."
  EVICTING
  "All pods that had to go are gone."
  DONE
  "Pods would be lost, so nothing was done."
  REFUSED
  "Some pods are left: see \`message\`."
  FAILED
}

"The states of a pod whose node is drained."
enum DrainedPodState {
  "It waits for its turn."
  PENDING
  "A PodDisruptionBudget forbids its eviction now; it is tried again."
  BLOCKED
  "It was evicted, and has not ended yet."
  TERMINATING
  "It is gone."
  GONE
  "It stays, as it belongs to the node."
  SKIPPED
  "It would be lost, so nothing was done."
  REFUSED
  "It could not be evicted."
  FAILED
}

"What a write has done; of a dry run, what it would do."
type WritePayload {
  """
  The object as the API server answered, and all that it leads to in the caches. Null if it is gone, and
  for a dry run in another version than the gateway serves.
  """
  object: KubernetesObject
  """
  The fields that differ from the object before the write, at most 1000. Empty if the caller may not get
  the object, which \`warnings\` says.
  """
  changes: [FieldChange!]!
  "The new \`metadata.resourceVersion\`; null if the object is gone."
  resourceVersion: String
  "What the API server warns of: deprecated versions, unknown fields."
  warnings: [String!]!
  "Whether it was a dry run: nothing was stored."
  dryRun: Boolean!
  """
  Whether the cache did not yet have the write when its deadline passed: lists may still show the state
  before it. Otherwise each list that is asked from now on shows the write.
  """
  behind: Boolean!
}

"One field that a write changes."
type FieldChange {
  """
  The place of the field (RFC 6901): \`/spec/replicas\`. Of an item that goes away, its place before;
  empty for the whole object.
  """
  path: String!
  "The value before; null if there was none."
  before: JSON
  "The value after; null if there is none."
  after: JSON
  "The manager that owned the field before; null if none did."
  manager: String
  "Whether the values are withheld, as those of Secrets are."
  masked: Boolean!
}

"The formats of patches."
enum PatchType {
  "JSON merge patch (RFC 7386): null removes a member, lists are replaced as a whole."
  MERGE
  "Strategic merge patch: lists are merged by key. Not for custom resources."
  STRATEGIC
  "JSON patch (RFC 6902): a list of steps."
  JSON
}

"What a deletion does to the objects that the deleted one owns."
enum Propagation {
  "They are deleted after it."
  BACKGROUND
  "They are deleted before it."
  FOREGROUND
  "They stay, without an owner."
  ORPHAN
}

"What a write does with fields that the schema of the kind does not know."
enum FieldValidation {
  "Refuses the write."
  STRICT
  "Drops them and warns."
  WARN
  "Drops them."
  IGNORE
}
`
