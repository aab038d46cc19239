/*
 * The Events about an object, and the object that an Event is about. An index of Events has what each is about: a UID, if the
 * Event has one, so that Events of a former object with the same name do not count. Kubelets write the *name* of their Node
 * in its place, and some controllers leave it empty; then the index has the group, kind, namespace and name.
 *
 * The kubelet reports Events of a static pod by a hash of its configuration. The API server has a mirror of the pod, with a
 * UID of its own and this hash as an annotation (`kubernetes.io/config.mirror`). So pods have an index of these hashes.
 */

import {
  type KubernetesObject,
  objectKey,
  splitObjectKey,
  type Unstructured,
} from '../../kubernetes/object.ts'
import type {
  IndexFunction,
  Indexers,
  ObjectId,
  StoreView,
} from '../../informer/store/store-view.ts'
import { splitApiVersion } from '../../kubernetes/api-resource.ts'
import { anyOf, type Condition, hasKey, hasValue, type OriginView } from '../condition/condition.ts'
import {
  type GroupKind,
  originObject,
  type Relation,
  type RelationBase,
  type RelationContext,
  type RelationForm,
  type RelationOrigin,
} from './relation.ts'

/** The Events about the object. `to` is the type of core Events. */
export interface EventsRelation extends RelationBase {
  readonly form: 'events'
}

/** The index of Events by the object that they are about: the values of {@link eventKeysOf}. */
export const eventsAboutIndex = 'event:about'
const about = eventsAboutIndex
const related = 'event:related'
const named = 'event:named'
const namePrefix = 'name:'

/** The index of static pods by the UIDs that their Events have. */
export const mirrored = 'event:mirror'

/** The UID that Events of a static pod have; `undefined` for other pods. */
export function mirroredUidOf({ metadata }: KubernetesObject): string | undefined {
  return metadata.annotations?.['kubernetes.io/config.mirror']
}

const mirrorIndexers: Indexers = {
  [mirrored]: (pod) => {
    const uid = mirroredUidOf(pod)
    return uid === undefined || !isUid(uid) ? [] : [uid]
  },
}

/** Whether a resource is pods: only pods may have mirrors. */
export function mayBeMirrored({ group, kind }: GroupKind): boolean {
  return group === '' && kind === 'Pod'
}

/** The object that an Event is about. Reads both forms of Event: `involvedObject` and `regarding`. */
const aboutOf: IndexFunction = (event) => {
  const { involvedObject, regarding } = event as Unstructured
  return referenceKeys(involvedObject ?? regarding)
}

/** The related object of an Event, in the same form. */
const relatedOf: IndexFunction = (event) => referenceKeys((event as Unstructured)['related'])

/** The groups and kinds of objects that Events refer to without a UID. */
const namedKindsOf: IndexFunction = (event) =>
  [...aboutOf(event), ...relatedOf(event)]
    .filter((key) => !isUid(key))
    .map((key) => key.slice(namePrefix.length).split('/', 2).join('/'))

function referenceKeys(reference: unknown): readonly string[] {
  if (typeof reference !== 'object' || reference === null) return []
  const { uid, kind, namespace, name, apiVersion } = reference as Readonly<Record<string, unknown>>
  if (typeof uid === 'string' && isUid(uid) && uid !== name) return [uid]
  if (typeof kind !== 'string' || typeof name !== 'string') return []
  const group =
    typeof apiVersion === 'string' && apiVersion !== ''
      ? splitApiVersion(apiVersion).group
      : anyGroup
  return [nameReference(group, kind, typeof namespace === 'string' ? namespace : '', name)]
}

/** UIDs are index values as they are, so that a look-up needs no other string. */
function isUid(value: string): boolean {
  return value !== '' && !value.startsWith(namePrefix)
}

/** The group of a reference without `apiVersion`, such as the kubelet's. */
const anyGroup = '*'

function nameReference(group: string, kind: string, namespace: string, name: string): string {
  return `${namePrefix}${group}/${kind}/${namespace}/${name}`
}

const eventIndexers: Indexers = {
  [about]: aboutOf,
  [related]: relatedOf,
  [named]: namedKindsOf,
}

/**
 * The Events about an object of any kind, as a condition on the store of Events; on request also the Events that name it as
 * related.
 */
function eventsAbout(origin: RelationOrigin): Condition {
  const { withRelated = false } = origin
  const keys = [...eventKeysOf(origin.view, origin.id), ...mirrorKeysOf(origin)]
  const own = hasValue(about, keys)
  return withRelated ? anyOf([own, hasValue(related, keys)]) : own
}

/** The index values by which Events may refer to an object, other than a static pod. */
export function eventKeysOf(view: OriginView, id: ObjectId): readonly string[] {
  return [...uidKeysOf(view, id), ...nameKeysOf(view, id)]
}

function mirrorKeysOf(origin: RelationOrigin): readonly string[] {
  const { view, id } = origin
  if (!mayBeMirrored(view.resource)) return []
  if (view.hasIndex(mirrored)) return view.index(mirrored).valuesOf(id)
  const uid = mirroredUidOf(originObject(origin))
  return uid === undefined ? [] : [uid]
}

function uidKeysOf(view: OriginView, id: ObjectId): readonly string[] {
  const uid = view.uidOf(id)
  return uid === '' ? [] : [uid]
}

function nameKeysOf(view: OriginView, id: ObjectId): readonly string[] {
  const { namespace, name } = splitObjectKey(view.keyOf(id))
  const { group, kind } = view.resource
  return [
    nameReference(group, kind, namespace, name),
    nameReference(anyGroup, kind, namespace, name),
  ]
}

/** Whether any Events refer to objects of a kind without a UID. */
function areNamed({ resource }: OriginView, events: StoreView): boolean {
  const { group, kind } = resource
  const kinds = events.index(named)
  return [group, anyGroup].some((one) => kinds.posting(`${one}/${kind}`) !== undefined)
}

export const eventsForm: RelationForm<EventsRelation> = {
  compile: compileEvents,
  backwards: () => ({ followBack: reportedObject }),
  staysInNamespace: () => true,
  isVague: () => true,
  words: () => 'about it',
}

function compileEvents(definition: EventsRelation, context: RelationContext): Relation {
  const { from, to } = definition
  const kind = context.groupKindOf?.(from)
  const isMirrored = kind !== undefined && mayBeMirrored(kind)
  return {
    definition,
    reads: [to],
    indexers: { ...(isMirrored ? { [from]: mirrorIndexers } : {}), [to]: eventIndexers },
    follow: eventsAbout,
    followAll({ view, withRelated = false, part, budget }, ids) {
      const events = part(to).view
      const keysOfOne = areNamed(view, events) ? eventKeysOf : uidKeysOf
      const all: string[] = []
      for (const id of ids) all.push(...keysOfOne(view, id))
      if (isMirrored && view.hasIndex(mirrored)) {
        const mirrors = view.index(mirrored)
        for (const id of ids) all.push(...mirrors.valuesOf(id))
      }
      budget.spend('tests', all.length)
      // Most objects have no Events, so the condition only includes values that exist in this tick.
      const reported = (index: string): Condition => {
        const found = events.index(index)
        const keys = all.filter((key) => found.posting(key) !== undefined)
        return hasValue(index, keys)
      }
      return withRelated ? anyOf([reported(about), reported(related)]) : reported(about)
    },
  }
}

/** The object that an Event is about, if it is of the kind of a store. `undefined` if the store lacks an index. */
function reportedObject(origin: RelationOrigin, store: StoreView): Condition | undefined {
  const { view, id } = origin
  const { resource } = store
  const [value] = view.hasIndex(about)
    ? view.index(about).valuesOf(id)
    : aboutOf(originObject(origin))
  if (value === undefined) return hasKey([])
  if (isUid(value)) {
    const isUidOf = hasValue('uid', [value])
    if (!mayBeMirrored(resource)) return isUidOf
    return store.hasIndex(mirrored) ? anyOf([isUidOf, hasValue(mirrored, [value])]) : undefined
  }
  const [group, kind, namespace = '', name = ''] = value.slice(namePrefix.length).split('/')
  const isSame = kind === resource.kind && (group === anyGroup || group === resource.group)
  return hasKey(isSame ? [objectKey(namespace === '' ? { name } : { namespace, name })] : [])
}
