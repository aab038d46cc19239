/*
 * The mutations of one object, by name (`objectActions`). Each says for which kinds it is, checks its own arguments, and
 * makes one write with the caller's writer. `patch` and `runNow` need more than the object, so they are functions of
 * their own.
 */

import { randomBytes } from 'node:crypto'
import type { MutationName } from '../schema/gateway-types.ts'
import type { ObjectPatch } from '../../api-server/writes/object-patch.ts'
import { groupResourceOf, resourcePath } from '../../kubernetes/api-resource.ts'
import { fieldsOf, itemsOf, specOf, textOf } from '../../kubernetes/fields.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import { isJsonObject } from '../../lib/json.ts'
import { present } from '../../lib/options.ts'
import { quoted, shortened } from '../../lib/text.ts'
import { ClientError } from '../errors/client-error.ts'
import type { Kind } from '../model/kind.ts'
import { type CallerWriter, nameOf, type WriteWishes } from './caller-writer.ts'
import { isContent } from '../../kubernetes/field-changes.ts'
import type { WritePlace } from './write-errors.ts'
import type { ManifestReader } from './manifests.ts'
import { refusePaused, rollback } from './rollback.ts'
import type { WritePayload } from './write-payload.ts'

export interface ActionArguments extends WriteWishes {
  readonly type?: 'MERGE' | 'STRATEGIC' | 'JSON'
  readonly patch?: unknown
  readonly fieldValidation?: 'STRICT' | 'WARN' | 'IGNORE' | null
  readonly propagation?: 'BACKGROUND' | 'FOREGROUND' | 'ORPHAN' | null
  readonly gracePeriodSeconds?: number | null
  readonly replicas?: number
  readonly toRevision?: number | null
  readonly name?: string | null
  readonly container?: string
  readonly image?: string
  readonly labels?: unknown
  readonly annotations?: unknown
}

export type ObjectAction = (
  writer: CallerWriter,
  place: WritePlace,
  args: ActionArguments,
) => Promise<WritePayload>

const templated = ['deployments.apps', 'statefulsets.apps', 'daemonsets.apps']
const suspendable = ['cronjobs.batch', 'jobs.batch']

/** `mutations.ts` has the mutations that need more than one object. */
type ObjectActionName = Exclude<MutationName, 'apply' | 'create' | 'patch' | 'runNow'>

/** A mutation of the SDL that is missing here does not compile. */
export const objectActions: Readonly<Record<ObjectActionName, ObjectAction>> = {
  delete: deleteObject,
  scale,
  restart: only(templated, 'restart', restart),
  pauseRollout: only(['deployments.apps'], 'pauseRollout', (writer, place, args) =>
    merged(writer, place, args, { spec: { paused: true } }),
  ),
  resumeRollout: only(['deployments.apps'], 'resumeRollout', (writer, place, args) =>
    merged(writer, place, args, { spec: { paused: null } }),
  ),
  rollback: only(templated, 'rollback', rollback),
  suspend: only(suspendable, 'suspend', (writer, place, args) =>
    merged(writer, place, args, { spec: { suspend: true } }),
  ),
  resume: only(suspendable, 'resume', (writer, place, args) =>
    merged(writer, place, args, { spec: { suspend: false } }),
  ),
  cordon: only(['nodes'], 'cordon', (writer, place, args) =>
    merged(writer, place, args, { spec: { unschedulable: true } }),
  ),
  uncordon: only(['nodes'], 'uncordon', (writer, place, args) =>
    merged(writer, place, args, { spec: { unschedulable: null } }),
  ),
  evict: only(['pods'], 'evict', evict),
  setImage,
  label: (writer, place, args) =>
    merged(writer, place, args, { metadata: { labels: textsOf(args.labels, 'labels') } }),
  annotate: (writer, place, args) =>
    merged(writer, place, args, {
      metadata: { annotations: textsOf(args.annotations, 'annotations') },
    }),
}

/** The values of `fieldValidation`. As kubectl does, unknown fields are refused unless the caller says otherwise. */
export function validationOf({
  fieldValidation,
}: Pick<ActionArguments, 'fieldValidation'>): 'Strict' | 'Warn' | 'Ignore' {
  const values = { STRICT: 'Strict', WARN: 'Warn', IGNORE: 'Ignore' } as const
  return values[fieldValidation ?? 'STRICT']
}

/** Limits an action to some kinds. Throws `ClientError` for other kinds. */
function only(resources: readonly string[], name: string, action: ObjectAction): ObjectAction {
  return (writer, place, args) => {
    if (!resources.includes(groupResourceOf(place.kind.resource))) {
      throw notFor(name, place.kind, resources.join(', '))
    }
    return action(writer, place, args)
  }
}

function notFor(name: string, { typeName }: Kind, expected: string): ClientError {
  return new ClientError('BAD_USER_INPUT', `${name} is not for objects of ${typeName}`, {
    argument: 'id',
    type: typeName,
    hint: `give the id of an object of ${expected}`,
  })
}

/** Makes the mutation `patch`. Reviews the permission first, since reading a patch may take long. */
export async function patchObject(
  writer: CallerWriter,
  place: WritePlace,
  args: ActionArguments,
  manifests: ManifestReader,
): Promise<WritePayload> {
  await writer.review(place, { verb: 'patch' })
  const patch = objectPatchOf(args, await manifests.patchOf(args.patch, 'patch'))
  refuseQuoting(writer, place, patch)
  return await patched(writer, place, args, patch, validationOf(args))
}

function objectPatchOf({ type }: ActionArguments, content: object): ObjectPatch {
  const isSteps = Array.isArray(content)
  if (isSteps !== (type === 'JSON')) {
    throw new ClientError('BAD_USER_INPUT', `patch: this is not a patch of type ${type}`, {
      argument: 'patch',
      hint: 'a JSON patch is a list of steps, the others are an object',
    })
  }
  if (type === 'JSON') return { json: content as never }
  return type === 'STRATEGIC' ? { strategic: content } : { merge: content }
}

/**
 * Throws `ClientError` for steps of a JSON patch that would reveal withheld contents: `copy` and `move` bring them to
 * visible places, and `test` tells whether a guess is right.
 */
function refuseQuoting(writer: CallerWriter, place: WritePlace, patch: ObjectPatch): void {
  if (!('json' in patch)) return
  for (const step of patch.json) {
    const { op, path, from } = fieldsOf(step)
    if (op !== 'test' && op !== 'copy' && op !== 'move') continue
    const read = textOf(op === 'test' ? path : from) ?? ''
    if (!isContent(read) || writer.shows(place)) continue
    const message = `patch: ${op} reads ${quoted(read)}, which is withheld`
    throw new ClientError('UNSUPPORTED', message, {
      argument: 'patch',
      value: shortened(read),
      type: place.kind.typeName,
      hint: 'set values with add or replace, or use kubectl; nothing was written',
    })
  }
}

/** Patches an object as the caller. */
export function patched(
  writer: CallerWriter,
  place: WritePlace,
  wishes: WriteWishes,
  patch: ObjectPatch,
  fieldValidation: 'Strict' | 'Warn' | 'Ignore' = 'Strict',
  before?: Unstructured,
): Promise<WritePayload> {
  return writer.write(place, { verb: 'patch' }, wishes, {
    ...(before === undefined ? {} : { before }),
    sent: 'json' in patch ? patch.json : 'merge' in patch ? patch.merge : patch.strategic,
    send: ({ client }, options) =>
      client.patch(nameOf(place), patch, { ...options, fieldValidation }),
  })
}

function merged(
  writer: CallerWriter,
  place: WritePlace,
  wishes: WriteWishes,
  merge: object,
  before?: Unstructured,
): Promise<WritePayload> {
  return patched(writer, place, wishes, { merge }, 'Strict', before)
}

function deleteObject(
  writer: CallerWriter,
  place: WritePlace,
  args: ActionArguments,
): Promise<WritePayload> {
  const { propagation, gracePeriodSeconds } = args
  const policies = { BACKGROUND: 'Background', FOREGROUND: 'Foreground', ORPHAN: 'Orphan' } as const
  const further = present({
    propagationPolicy: propagation ? policies[propagation] : undefined,
    gracePeriodSeconds: secondsOf(gracePeriodSeconds),
  })
  return writer.remove(place, { verb: 'delete' }, args, ({ client }, options) =>
    client.delete(nameOf(place), { ...options, ...further }),
  )
}

function evict(
  writer: CallerWriter,
  place: WritePlace,
  { gracePeriodSeconds, ...wishes }: ActionArguments,
): Promise<WritePayload> {
  const seconds = secondsOf(gracePeriodSeconds)
  return evicted(writer, place, wishes, seconds)
}

/** Evicts a pod by the subresource `eviction`. Rejects with DISRUPTION_BUDGET while a budget forbids it. */
export function evicted(
  writer: CallerWriter,
  place: WritePlace,
  wishes: WriteWishes,
  gracePeriodSeconds: number | undefined,
): Promise<WritePayload> {
  const { namespace, name } = place
  const asked = { verb: 'create', subresource: 'eviction' } as const
  return writer.remove(place, asked, wishes, async ({ server }, options) => {
    const { dryRun, deadlineMs, preconditions } = options
    const deleteOptions = {
      ...present({ gracePeriodSeconds }),
      preconditions,
      ...(dryRun ? { dryRun: ['All'] } : {}),
    }
    const body = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name, namespace },
      deleteOptions,
    }
    const path = `${resourcePath(place.kind.resource, { namespace, name })}/eviction`
    await server.request('POST', path, { body, deadlineMs })
  })
}

async function scale(
  writer: CallerWriter,
  place: WritePlace,
  { replicas = 0, ...wishes }: ActionArguments,
): Promise<WritePayload> {
  const { kind } = place
  if (kind.resource.subresources?.includes('scale') === false) {
    throw notFor('scale', kind, 'a kind with the subresource scale: Deployments, StatefulSets')
  }
  if (replicas < 0) {
    throw new ClientError('BAD_USER_INPUT', `replicas: ${replicas} is less than 0`, {
      argument: 'replicas',
      value: replicas,
      hint: 'give 0 or more',
    })
  }
  return writer.write(place, { verb: 'patch', subresource: 'scale' }, wishes, {
    async send({ client }, { dryRun, deadlineMs, preconditions }) {
      const options = present({ dryRun, deadlineMs, preconditions })
      const patch = { merge: { spec: { replicas } } }
      await client.subresource('scale').patch(nameOf(place), patch, options)
      return undefined
    },
    // The answer is a Scale. Only the API server knows where a custom resource has the number.
    drawn: (before) =>
      specOf(before)['replicas'] === undefined
        ? before
        : { ...before, spec: { ...specOf(before), replicas } },
  })
}

const restartedAt = 'kubectl.kubernetes.io/restartedAt'

async function restart(
  writer: CallerWriter,
  place: WritePlace,
  args: ActionArguments,
): Promise<WritePayload> {
  const before = await writer.read(place)
  refusePaused(place, before, 'restart')
  const annotations = { [restartedAt]: timestamp(Date.now()) }
  const patch = { spec: { template: { metadata: { annotations } } } }
  return merged(writer, place, args, patch, before)
}

async function setImage(
  writer: CallerWriter,
  place: WritePlace,
  { container = '', image = '', ...wishes }: ActionArguments,
): Promise<WritePayload> {
  const path = podSpecPaths[groupResourceOf(place.kind.resource)]
  if (path === undefined) throw notFor('setImage', place.kind, Object.keys(podSpecPaths).join(', '))
  const before = await writer.read(place)
  const podSpec = path.reduce((within, step) => fieldsOf(within[step]), fieldsOf(before))
  const lists = ['containers', 'initContainers']
  const list = lists.find((one) => itemsOf(podSpec[one]).some(({ name }) => name === container))
  if (list === undefined) {
    const names = lists.flatMap((one) =>
      itemsOf(podSpec[one]).map(({ name }) => textOf(name) ?? ''),
    )
    throw new ClientError('BAD_USER_INPUT', `container: there is no ${JSON.stringify(container)}`, {
      argument: 'container',
      value: container,
      type: place.kind.typeName,
      hint: `there are ${names.join(', ')}`,
    })
  }
  // A merge by name would add a container that is removed in the meantime.
  const at = itemsOf(podSpec[list]).findIndex(({ name }) => name === container)
  const item = `/${[...path, list, at].join('/')}`
  const json = [
    { op: 'test', path: `${item}/name`, value: container },
    { op: 'add', path: `${item}/image`, value: image },
  ] as const
  return patched(writer, place, wishes, { json }, 'Strict', before)
}

const ofTemplate = ['spec', 'template', 'spec']
const podSpecPaths: Readonly<Record<string, readonly string[]>> = {
  pods: ['spec'],
  'deployments.apps': ofTemplate,
  'statefulsets.apps': ofTemplate,
  'daemonsets.apps': ofTemplate,
  'replicasets.apps': ofTemplate,
  replicationcontrollers: ofTemplate,
  'cronjobs.batch': ['spec', 'jobTemplate', ...ofTemplate],
}

/** `runNow`: creates a Job from a CronJob's template. `jobs`: the kind of Jobs. */
export async function runNow(
  writer: CallerWriter,
  place: WritePlace,
  jobs: Kind,
  { name: given, ...wishes }: ActionArguments,
): Promise<WritePayload> {
  if (groupResourceOf(place.kind.resource) !== 'cronjobs.batch') {
    throw notFor('runNow', place.kind, 'cronjobs.batch')
  }
  const cronJob = await writer.read(place)
  const { metadata, spec } = fieldsOf(specOf(cronJob)['jobTemplate'])
  const { labels, annotations } = fieldsOf(metadata)
  const { cluster, namespace } = place
  // A Job's name becomes a label of its pods: at most 63 characters.
  const name = given || `${place.name.slice(0, 46)}-manual-${randomBytes(4).toString('hex')}`
  const { apiVersion, kind, metadata: owner } = cronJob
  const job = {
    apiVersion,
    kind: jobs.resource.kind,
    metadata: {
      name,
      namespace,
      ...present({ labels }),
      annotations: { ...fieldsOf(annotations), 'cronjob.kubernetes.io/instantiate': 'manual' },
      // Like kubectl, leaves out blockOwnerDeletion, which needs a further permission.
      ownerReferences: [{ apiVersion, kind, name: owner.name, uid: owner.uid, controller: true }],
    },
    spec,
  }
  const at = { cluster, kind: jobs, namespace, name }
  return writer.write(at, { verb: 'create' }, wishes, {
    before: null,
    send: ({ client }, options) => client.create(job as never, options),
  })
}

function textsOf(value: unknown, argument: string): Readonly<Record<string, string | null>> {
  const isTexts =
    isJsonObject(value) &&
    Object.values(value).every((one) => one === null || typeof one === 'string')
  if (isTexts) return value as Readonly<Record<string, string | null>>
  throw new ClientError('BAD_USER_INPUT', `${argument}: expected an object of texts`, {
    argument,
    hint: 'give { "key": "value" }; null removes a key',
  })
}

function secondsOf(seconds: number | null | undefined): number | undefined {
  if (seconds === null || seconds === undefined) return undefined
  if (seconds >= 0) return seconds
  throw new ClientError('BAD_USER_INPUT', `gracePeriodSeconds: ${seconds} is less than 0`, {
    argument: 'gracePeriodSeconds',
    value: seconds,
    hint: 'give 0 or more, or leave it out',
  })
}
