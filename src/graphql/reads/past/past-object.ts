/*
 * `object(id:, at:)` and `objectByRef(…, at:)`: one object in a past state. An `id` means the object itself, and none of its
 * name before; a name means the object that had it then. The text of the archive becomes an object as that of a direct read
 * does. An object that did not exist then is null; one that is not known has an error that says of which time.
 */

import type { ArchiveGap, PastQuestion } from '../../../archive/archive-calls.ts'
import { isRecord } from '../../../lib/json.ts'
import { ArgumentError } from '../../../query/condition/argument-error.ts'
import { ClientError } from '../../errors/client-error.ts'
import type { KubernetesObject } from '../../../kubernetes/object.ts'
import type { ObjectIdentity, PastMoment } from '../../model/object-id.ts'
import type { ClusterKind } from '../../prepare/kind-view.ts'
import { pastObject, type StoredObject } from '../direct/direct-reads.ts'
import type { ReadRun } from '../read-run.ts'
import { gapMessage, partOfObject, type PastIdentity, pastIdentity, timeOf } from './past-places.ts'

export type PastArguments = { readonly [M in keyof PastMoment]?: string | null }

export function isOfPast({ at = null, atVersion = null }: PastArguments): boolean {
  return at !== null || atVersion !== null
}

/** The object as it was; `undefined` if there was none, or while something is lacking. Throws `ClientError`. */
export function readPastObject(
  run: ReadRun,
  identity: ObjectIdentity,
  { at = null, atVersion = null }: PastArguments,
): StoredObject | undefined {
  if (at !== null && atVersion !== null) {
    const hint = 'name a time by `at`, or a version by `atVersion`'
    throw new ArgumentError('atVersion', 'cannot be given together with `at`', { hint })
  }
  const object = pastIdentity(run, identity)
  if (object === undefined) return undefined
  const { at: place, key, uid } = object
  if (place === undefined) throw notKept(identity)
  if (key === undefined) return unknownObject(run, object, place, at)
  if (!object.isAllowed) return undefined
  if (run.served.kindOf(identity.group, identity.kind) !== place.kind) throw notServed(place)
  const { group, resource } = place.kind.resource
  const timeMs = Date.parse(at ?? '')
  const [when, past]: [PastQuestion['at'], PastMoment] =
    atVersion === null
      ? [{ timeMs }, { at: new Date(timeMs).toISOString() }]
      : [{ resourceVersion: atVersion }, { atVersion }]
  const asked = { cluster: place.cluster, group, resource, key, ...(uid && { uid }), at: when }
  const found = run.direct.archive('objectAt', asked)
  switch (found?.state) {
    case undefined:
      return undefined
    case 'found':
      return storedPast(run, place, found.text, past)
    case 'absent':
      if (atVersion === null) return undefined
      throw noSuchVersion(place, atVersion)
    case 'unknown':
      throw gapError(place, found.gap)
  }
}

function storedPast(
  run: ReadRun,
  place: ClusterKind,
  text: string,
  past: PastMoment,
): StoredObject {
  run.budget.spend('bytes', text.length)
  const object: unknown = JSON.parse(text)
  if (!isRecord(object)) throw new TypeError('a past object is no object')
  const { apiVersion, resource } = place.kind
  return pastObject(place, { apiVersion, kind: resource.kind, ...object } as KubernetesObject, past)
}

/** An object whose UID nothing knows: it may have been before the archive, or in a gap of it. */
function unknownObject(
  run: ReadRun,
  object: PastIdentity,
  place: ClusterKind,
  at: string | null,
): undefined {
  const part = partOfObject(object)
  if (part === undefined || !object.isAllowed) return undefined
  const sinceMs = at === null ? 0 : Date.parse(at)
  const times = { sinceMs, untilMs: at === null ? Date.now() : sinceMs + 1 }
  const found = run.direct.archive('changes', { parts: [part], ...times, limit: 1 })
  const [gap] = found?.gaps ?? []
  if (gap !== undefined) throw gapError(place, gap)
  return undefined
}

function gapError({ cluster, kind }: ClusterKind, gap: ArchiveGap): ClientError {
  const { typeName: type } = kind
  const facts = { from: timeOf(gap.fromMs), to: timeOf(gap.toMs) }
  return new ClientError(gap.code, gapMessage(gap, type), { cluster, type, facts })
}

function notKept({ cluster, kind }: ObjectIdentity): ClientError {
  const facts = { from: null, to: null }
  return new ClientError('NOT_ARCHIVED', `the archive does not keep ${kind}`, { cluster, facts })
}

function notServed({ cluster, kind }: ClusterKind): ClientError {
  const message = `${kind.typeName} is not served any more, so its objects have no type`
  const hint = 'read its changes: they have the fields'
  return new ClientError('NOT_FOUND', message, { cluster, hint })
}

function noSuchVersion({ cluster, kind }: ClusterKind, version: string): ClientError {
  const { typeName: type } = kind
  const message = `the archive has no version ${JSON.stringify(version)} of this ${type}`
  const hint = 'take the `resourceVersion` of a change of the object'
  const details = { argument: 'atVersion', value: version, cluster, type, hint }
  return new ClientError('NOT_FOUND', message, details)
}
