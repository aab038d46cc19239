/*
 * The containers whose logs are read. The pods come from a subscription that the gateway makes as the caller, so that
 * access, selectors and owners mean the same as elsewhere. Its frames are folded into the present pods (`#apply`), and
 * their statuses into containers with their runs (`containersOf`).
 */

import { isObjectType } from 'graphql'
import { valueBytes } from '../../informer/codec/template.ts'
import type { FrameStream } from '../../lib/frame-stream.ts'
import { ClientError, type ClientErrorCode } from '../errors/client-error.ts'
import { decodeObjectId } from '../model/object-id.ts'
import type { Caller } from '../prepare/caller-server.ts'
import type { ClusterGap, KindLogsArguments } from '../schema/gateway-types.ts'
import type { ServedSchema } from '../served/served-schema.ts'

/** Subscribes as a caller does. Never rejects. */
export type Subscribe = (
  request: { readonly query: string; readonly variables: Readonly<Record<string, unknown>> },
  caller: Caller,
) => Promise<FrameStream>

/** A container of a pod, from the pod's status. */
export interface ContainerView {
  readonly cluster: string
  readonly namespace: string
  readonly pod: string
  readonly uid: string
  readonly container: string
  /** When the pod was created, by RFC 3339. */
  readonly createdAt: string
  /** The id of the latest run that has begun; `undefined` before the first. */
  readonly run: string | undefined
  readonly phase: 'waiting' | 'running' | 'ended'
  /** The run before the last restart, if there was one. */
  readonly previousRun: string | undefined
  /** Why the container does not run. */
  readonly reason: string | undefined
  readonly message: string | undefined
}

interface FollowedPodsOptions {
  readonly subscribe: Subscribe
  readonly caller: Caller
  /** The most pods of one workload. */
  readonly maxPods: number
  /** Runs a work when it is its turn, unless the logs are over by then. */
  readonly inTurn: (work: () => void) => Promise<void>
  readonly changed: () => void
}

export class FollowedPods {
  readonly #frames: FrameStream
  readonly #options: FollowedPodsOptions
  #isPumping = false
  /** By the id of the requested object: a pod, or an owner of pods. */
  readonly #objects = new Map<string, FollowedObject>()
  #heldBytes = 0
  readonly #hidden = new Set<string>()
  #isSynced = false
  #gaps: readonly ClusterGap[] = []
  #error: unknown
  readonly #madeAnew: ClientError[] = []

  /** Rejects with the error that prevents the subscription. */
  static async open(
    served: ServedSchema,
    args: KindLogsArguments,
    options: FollowedPodsOptions,
  ): Promise<FollowedPods> {
    const { subscribe, caller, maxPods } = options
    const frames = await subscribe(podsRequest(served, args, maxPods), caller)
    const pods = new FollowedPods(frames, options)
    frames.onReady(() => void pods.#pump())
    await pods.#pump()
    if (pods.#error !== undefined) {
      frames.close()
      throw pods.#error
    }
    return pods
  }

  private constructor(frames: FrameStream, options: FollowedPodsOptions) {
    this.#frames = frames
    this.#options = options
  }

  get isSynced(): boolean {
    return this.#isSynced
  }

  /** Whether none of the requested objects exists. */
  get isEmpty(): boolean {
    return this.#objects.size === 0
  }

  /** The errors of requested objects that are gone, where others were made in their place. Each is told once. */
  takeMadeAnew(): readonly ClientError[] {
    return this.#madeAnew.splice(0)
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  get gaps(): readonly ClusterGap[] {
    return this.#gaps
  }

  /** Whether the pods of a cluster are not known at present: they may be there although they are not among these. */
  isMissing(cluster: string): boolean {
    return this.#gaps.some((gap) => gap.cluster === cluster && gap.code !== 'NOT_SERVED')
  }

  get error(): unknown {
    return this.#error
  }

  /** Whether a pod is gone because the caller may no longer see it. */
  isHidden(uid: string): boolean {
    return this.#hidden.has(uid)
  }

  /** The requested objects that have pods. */
  *owners(): Generator<Owner, void, void> {
    for (const { owner } of this.#objects.values()) if (owner !== undefined) yield owner
  }

  /** All containers, by cluster, namespace and name, in the order of their start in the pod. */
  containers(): readonly ContainerView[] {
    const pods = new Map<string, FollowedPod>()
    for (const object of this.#objects.values())
      for (const pod of object.pods) pods.set(pod.uid, pod)
    const inOrder = [...pods.values()].toSorted((a, b) => (a.order < b.order ? -1 : 1))
    return inOrder.flatMap(({ containers }) => containers)
  }

  close(): void {
    this.#frames.close()
  }

  async #pump(): Promise<void> {
    if (this.#isPumping) return
    this.#isPumping = true
    await this.#options.inTurn(() => {
      this.#isPumping = false
      const frames = this.#frames
      for (let payload = frames.take(); payload !== undefined; payload = frames.take()) {
        this.#apply(JSON.parse(payload.toString()) as Payload)
      }
      if (frames.end?.form === 'failed') this.#error ??= frames.end.errors[0]
      this.#options.changed()
    })
  }

  #apply({ data, errors }: Payload): void {
    const frame = data?.pods
    // The error of a gap says that one of several clusters is missing: the others go on.
    const isGap = ({ extensions }: ToldError): boolean =>
      frame?.incomplete.some(
        ({ cluster, code }) => cluster === extensions?.['cluster'] && code === extensions.code,
      ) === true
    for (const error of errors ?? []) {
      if (isGap(error)) continue
      const { code = 'INTERNAL', successor, ...details } = error.extensions ?? {}
      const facts = successor === undefined ? undefined : { successor }
      const told = new ClientError(code as ClientErrorCode, error.message, { ...details, facts })
      if (facts === undefined) this.#error ??= told
      else this.#madeAnew.push(told)
    }
    if (frame === undefined || frame === null) return
    if (frame.reset) for (const id of this.#objects.keys()) this.#put(id, undefined)
    for (const { type, removal, objectId, object } of frame.changes) {
      if (removal === 'HIDDEN') {
        for (const { uid } of this.#objects.get(objectId)?.pods ?? []) this.#hidden.add(uid)
      }
      if (type === 'REMOVED') this.#put(objectId, undefined)
      else if (object !== null) this.#put(objectId, followedObject(object))
    }
    this.#isSynced = frame.synced
    this.#gaps = frame.incomplete
  }

  #put(objectId: string, object: FollowedObject | undefined): void {
    this.#heldBytes += (object?.bytes ?? 0) - (this.#objects.get(objectId)?.bytes ?? 0)
    if (object === undefined) this.#objects.delete(objectId)
    else this.#objects.set(objectId, object)
  }
}

interface ToldError {
  readonly message: string
  readonly extensions?: { readonly code?: string; readonly [detail: string]: unknown }
}

interface Payload {
  readonly errors?: readonly ToldError[]
  readonly data?: {
    readonly pods: {
      readonly reset: boolean
      readonly synced: boolean
      readonly incomplete: readonly ClusterGap[]
      readonly changes: readonly {
        readonly type: string
        readonly removal: string | null
        readonly objectId: string
        readonly object: ObjectText | null
      }[]
    } | null
  } | null
}

interface FollowedObject {
  readonly pods: readonly FollowedPod[]
  readonly owner: Owner | undefined
  readonly bytes: number
}

interface Owner {
  readonly cluster: string
  readonly type: string
  readonly namespace: string | undefined
  readonly name: string
  readonly uid: string
}

interface FollowedPod {
  readonly uid: string
  /** A text that sorts pods by cluster, namespace and name. */
  readonly order: string
  readonly containers: readonly ContainerView[]
}

interface OwnerText {
  readonly __typename: string
  readonly clusterName: string
  readonly namespace?: string
  readonly name: string
  readonly uid: string
  readonly pods: { readonly nodes: readonly PodText[] } | null
}

type ObjectText = PodText | OwnerText

function followedObject(object: ObjectText): FollowedObject {
  let owner: Owner | undefined
  let texts: readonly PodText[] = []
  if ('pods' in object) {
    const { __typename: type, clusterName: cluster, namespace, name, uid } = object
    owner = { cluster, type, namespace, name, uid }
    texts = object.pods?.nodes ?? []
  } else if ('spec' in object) texts = [object]
  const pods = texts.map((pod): FollowedPod => {
    const { uid, clusterName, namespace, name } = pod
    return { uid, order: [clusterName, namespace, name].join('\n'), containers: containersOf(pod) }
  })
  return { pods, owner, bytes: valueBytes(pods) }
}

interface ContainerText {
  readonly name: string
  readonly restartCount: number
  readonly containerID: string | null
  readonly state: {
    readonly running: { readonly startedAt: string | null } | null
    readonly waiting: { readonly reason: string | null; readonly message: string | null } | null
    readonly terminated: ExitText | null
  } | null
  readonly lastState: { readonly terminated: ExitText | null } | null
}

interface ExitText {
  readonly containerID: string | null
  readonly reason: string | null
  readonly exitCode: number | null
}

type Names = readonly { readonly name: string }[] | null

interface PodText {
  readonly clusterName: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly creationTimestamp: string
  readonly spec: Readonly<
    Record<'initContainers' | 'containers' | 'ephemeralContainers', Names>
  > | null
  readonly status:
    | (Readonly<
        Record<
          'initContainerStatuses' | 'containerStatuses' | 'ephemeralContainerStatuses',
          readonly ContainerText[] | null
        >
      > & { readonly reason: string | null; readonly phase: string | null })
    | null
}

const statusFields = `{ name restartCount containerID
  state { running { startedAt } waiting { reason message } terminated { containerID reason exitCode } }
  lastState { terminated { containerID reason exitCode } } }`

const podFields = `clusterName namespace name uid creationTimestamp
  spec { initContainers { name } containers { name } ephemeralContainers { name } }
  status { phase reason initContainerStatuses ${statusFields} containerStatuses ${statusFields}
    ephemeralContainerStatuses ${statusFields} }`

/** How long changes of the pods are gathered. */
const coalesceMs = 50

function framesOf(fields: string): string {
  return `{ reset synced incomplete { cluster type code message since }
    changes { type removal objectId object { ${fields} } } }`
}

/** The subscription that follows the pods of a request. Throws `ClientError` and `ObjectIdError`. */
function podsRequest(
  served: ServedSchema,
  args: KindLogsArguments,
  maxPods: number,
): { readonly query: string; readonly variables: Readonly<Record<string, unknown>> } {
  const { ids, cluster, clusters, clusterSelector, ...filters } = args
  if (ids !== undefined && ids !== null) {
    const fields = [...new Set(ids.map((id) => fieldsOf(served, id, maxPods)))].join(' ')
    const query = `subscription PodsOfLogs($ids: [ID!]!, $coalesceMs: Int) {
      pods: objects(ids: $ids, coalesceMs: $coalesceMs) ${framesOf(fields)} }`
    return { query, variables: { ids, coalesceMs } }
  }
  const { namespace, namespaces, labelSelector, where } = filters
  const query = `subscription PodsOfLogs($cluster: String, $clusters: [String!], $clusterSelector: String,
    $namespace: String, $namespaces: [String!], $labelSelector: String, $where: PodWhere, $coalesceMs: Int) {
    pods: pods(cluster: $cluster, clusters: $clusters, clusterSelector: $clusterSelector, namespace: $namespace,
      namespaces: $namespaces, labelSelector: $labelSelector, where: $where, coalesceMs: $coalesceMs)
      ${framesOf(podFields)} }`
  const given = { cluster, clusters, clusterSelector, namespace, namespaces, labelSelector, where }
  const present = Object.entries(given).filter(([, value]) => value !== undefined && value !== null)
  return { query, variables: { ...Object.fromEntries(present), coalesceMs } }
}

/** The selection for an object by its id: the pod itself, or the pods that its kind leads to. */
function fieldsOf({ kindOf, schema }: ServedSchema, id: string, maxPods: number): string {
  const { group, kind: name } = decodeObjectId(id)
  const kind = kindOf(group, name)
  const pod = kindOf('', 'Pod')
  if (kind !== undefined && kind === pod) return `... on ${kind.typeName} { ${podFields} }`
  const type = kind && schema.getType(kind.typeName)
  const pods = isObjectType(type) ? type.getFields()['pods'] : undefined
  if (kind !== undefined && String(pods?.type) === `${pod?.typeName}Connection`) {
    const own = `__typename clusterName ${kind.resource.namespaced ? 'namespace ' : ''}name uid`
    return `... on ${kind.typeName} { ${own} pods(first: ${maxPods}) { nodes { ${podFields} } } }`
  }
  throw new ClientError('BAD_USER_INPUT', `ids: a ${name} has no pods`, {
    argument: 'ids',
    value: id,
    hint: 'give the id of a Pod, or of an object with pods, such as a Deployment, a Job or a Service',
  })
}

function containersOf(pod: PodText): readonly ContainerView[] {
  const { clusterName: cluster, namespace, name, uid, creationTimestamp: createdAt, spec } = pod
  const { status } = pod
  const at = { cluster, namespace, pod: name, uid, createdAt }
  const statuses = [
    ...(status?.initContainerStatuses ?? []),
    ...(status?.containerStatuses ?? []),
    ...(status?.ephemeralContainerStatuses ?? []),
  ]
  const names = [
    ...(spec?.initContainers ?? []),
    ...(spec?.containers ?? []),
    ...(spec?.ephemeralContainers ?? []),
  ]
  return names.map(({ name: container }) => {
    const found = statuses.find((one) => one.name === container)
    return { ...at, container, ...stateOf(found, status?.reason ?? status?.phase ?? undefined) }
  })
}

function runOf({ containerID }: ExitText, run: number): string {
  return containerID ?? `run ${run}`
}

type ViewedState = Pick<ContainerView, 'run' | 'phase' | 'previousRun' | 'reason' | 'message'>

function stateOf(status: ContainerText | undefined, phase: string | undefined): ViewedState {
  const { running, waiting, terminated } = status?.state ?? {}
  const last = status?.lastState?.terminated ?? undefined
  const restarts = status?.restartCount ?? 0
  const previousRun = last && runOf(last, restarts - 1)
  if (running) {
    const run = status?.containerID ?? `run ${restarts}`
    return { run, phase: 'running', previousRun, reason: undefined, message: undefined }
  }
  if (terminated) {
    const message = `exit code ${terminated.exitCode ?? 0}`
    const run = runOf(terminated, restarts)
    return { run, phase: 'ended', previousRun, reason: terminated.reason ?? 'Terminated', message }
  }
  // A container that waits for its restart shows the log of its last run.
  const reason = waiting?.reason ?? phase ?? 'Pending'
  const message = waiting?.message ?? undefined
  return { run: previousRun, phase: 'waiting', previousRun, reason, message }
}
