/*
 * Gives a workload the template of an earlier revision (kubectl's `rollback.go`): Deployments keep their revisions as
 * ReplicaSets, StatefulSets and DaemonSets as ControllerRevisions, whose `data` is a patch.
 */

import type { JsonPatchOperation } from '../../api-server/writes/object-patch.ts'
import { groupResourceOf } from '../../kubernetes/api-resource.ts'
import { fieldsOf, numberOf, specOf } from '../../kubernetes/fields.ts'
import { labelSelectorOf, labelSelectorText } from '../../kubernetes/label-selector.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import { ClientError } from '../errors/client-error.ts'
import { type CallerWriter, nameOf, type WriteWishes } from './caller-writer.ts'
import { escaped } from '../../kubernetes/field-changes.ts'
import type { WritePlace } from './write-errors.ts'
import type { WritePayload } from './write-payload.ts'

const revisionAnnotation = 'deployment.kubernetes.io/revision'
const templateHash = 'pod-template-hash'

/** The annotations that a Deployment keeps at a rollback (kubectl's `annotationsToSkip`). */
const keptAnnotations: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  revisionAnnotation,
  'deployment.kubernetes.io/revision-history',
  'deployment.kubernetes.io/desired-replicas',
  'deployment.kubernetes.io/max-replicas',
  'deprecated.deployment.rollback.to',
])

interface Revision {
  readonly number: number
  readonly object: Unstructured
}

export async function rollback(
  writer: CallerWriter,
  place: WritePlace,
  { toRevision, ...wishes }: WriteWishes & { readonly toRevision?: number | null },
): Promise<WritePayload> {
  const before = await writer.read(place)
  refusePaused(place, before, 'rollback')
  const isDeployment = groupResourceOf(place.kind.resource) === 'deployments.apps'
  const revisions = await revisionsOf(writer, place, before, isDeployment)
  const wanted = toRevision ?? 0
  const found = wanted === 0 ? revisions[1] : revisions.find(({ number }) => number === wanted)
  if (found === undefined) {
    const { cluster, kind } = place
    const known = revisions.map(({ number }) => number).join(', ')
    const message = wanted === 0 ? 'there is no earlier revision' : `there is no revision ${wanted}`
    throw new ClientError('NOT_FOUND', message, {
      argument: 'toRevision',
      value: wanted === 0 ? null : wanted,
      cluster,
      type: kind.typeName,
      hint: known === '' ? 'its revisions are gone' : `there are ${known}`,
    })
  }
  const { object } = found
  return writer.write(place, { verb: 'patch' }, wishes, {
    before,
    send({ client }, options) {
      if (!isDeployment) {
        const patch = { strategic: fieldsOf(object['data']) as never }
        return client.patch(nameOf(place), patch, options)
      }
      const { metadata, ...template } = fieldsOf(specOf(object)['template'])
      const { labels, ...rest } = fieldsOf(metadata)
      const { [templateHash]: _, ...kept } = fieldsOf(labels)
      const value = { ...template, metadata: { ...rest, labels: kept } }
      const json: JsonPatchOperation[] = [{ op: 'replace', path: '/spec/template', value }]
      // Sets the annotations of the revision one by one, since others may be set in the meantime. Unlike kubectl, removes
      // none: other tools keep their annotations here.
      const path = '/metadata/annotations'
      const set = Object.entries(object.metadata.annotations ?? {})
        .filter(([key]) => !keptAnnotations.has(key))
        .map(
          ([key, text]) => ({ op: 'add', path: `${path}/${escaped(key)}`, value: text }) as const,
        )
      const isFirst = before.metadata.annotations === undefined
      if (set.length > 0 && isFirst) json.push({ op: 'add', path, value: {} })
      return client.patch(nameOf(place), { json: [...json, ...set] }, options)
    },
  })
}

/** A paused Deployment takes no new template: the change would wait unseen. */
export function refusePaused(
  { kind: { typeName } }: WritePlace,
  object: Unstructured,
  name: string,
): void {
  if (specOf(object)['paused'] !== true) return
  const message = `${name}: the rollout of this ${typeName} is paused`
  const hint = 'resume it first: resumeRollout'
  throw new ClientError('BAD_USER_INPUT', message, { argument: 'id', type: typeName, hint })
}

/** The revisions of a workload, the newest first. */
async function revisionsOf(
  writer: CallerWriter,
  place: WritePlace,
  workload: Unstructured,
  isDeployment: boolean,
): Promise<readonly Revision[]> {
  const { uid } = workload.metadata
  const resource = isDeployment
    ? { ...place.kind.resource, resource: 'replicasets', kind: 'ReplicaSet' }
    : { ...place.kind.resource, resource: 'controllerrevisions', kind: 'ControllerRevision' }
  const labelSelector = labelSelectorText(labelSelectorOf(fieldsOf(specOf(workload)['selector'])))
  const all = await writer.list(place, resource, { labelSelector })
  return all
    .filter(({ metadata }) =>
      metadata.ownerReferences?.some((owner) => owner.uid === uid && owner.controller === true),
    )
    .map((object) => ({
      object,
      number: isDeployment
        ? Number(object.metadata.annotations?.[revisionAnnotation] ?? 0)
        : (numberOf(object['revision']) ?? 0),
    }))
    .filter(({ number }) => number > 0)
    .toSorted((a, b) => b.number - a.number)
}
