import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { KubernetesObject } from '../kubernetes/object.ts'
import { microTimestamp } from '../kubernetes/timestamp.ts'
import type { ObjectReference } from '../kubernetes/wire/core-v1.ts'
import type { EventsEvent } from '../kubernetes/wire/events-v1.ts'
import {
  anObject,
  aString,
  checkedOptions,
  InvalidOptionError,
  oneOf,
  type OptionChecks,
} from '../lib/options.ts'

/** What has happened to an object. Texts are limited as by the API. */
export interface RecordedEvent {
  /** The object that the event is about. It may come from a cache. */
  readonly regarding: KubernetesObject | ObjectReference
  /** A second object, such as one that was made. */
  readonly related?: KubernetesObject | ObjectReference
  /** Default: `Normal`. */
  readonly type?: 'Normal' | 'Warning'
  /** Why, for programs: `Shipped`. At most 128 bytes. */
  readonly reason: string
  /** What was done or tried: `Ship`. At most 128 bytes. */
  readonly action: string
  /** For people. Cut at 1024 bytes. Of repetitions, only the first note is written. */
  readonly note?: string
}

/** Who reports events. */
export interface EventReporter {
  /** A qualified name. */
  readonly controller: string
  readonly instance: string
}

const eventChecks: OptionChecks<RecordedEvent> = {
  regarding: anObject,
  related: anObject,
  type: oneOf('Normal', 'Warning'),
  reason: aString,
  action: aString,
  note: aString,
}

/** The API's limits, in bytes. */
const maxReasonBytes = 128
const maxNoteBytes = 1024
const maxNameLength = 253

/** Throws `InvalidOptionError` if the API would refuse events of this reporter. */
export function eventReporter(controller: string, instance?: string): EventReporter {
  if (typeof controller !== 'string' || !qualifiedName.test(controller)) {
    const expected = 'a qualified name, such as example.com/my-controller'
    throw new InvalidOptionError('controller', controller, expected)
  }
  const name = controller.slice(controller.indexOf('/') + 1)
  const own = instance ?? cut(`${name}-${hostname()}`, maxReasonBytes)
  requireText('instance', own)
  return { controller, instance: own }
}

/** The Event that tells what has happened. Throws `InvalidOptionError` if the API would refuse it. */
export function eventOf(given: RecordedEvent, reporter: EventReporter): EventsEvent {
  const checked = checkedOptions('an event', given, eventChecks)
  const { type = 'Normal', reason, action, note = '', related } = checked
  requireText('reason', reason)
  requireText('action', action)
  const regarding = referenceTo('regarding', checked.regarding)
  const { namespace = '', name = '' } = regarding
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: {
      namespace: namespace === '' ? 'default' : namespace,
      name: eventName(name),
    },
    eventTime: microTimestamp(Date.now()),
    reportingController: reporter.controller,
    reportingInstance: reporter.instance,
    action,
    reason,
    regarding,
    ...(related === undefined ? {} : { related: referenceTo('related', related) }),
    note: cut(note, maxNoteBytes),
    type,
  }
}

/** Equal events are repetitions. Notes, and versions of the objects, may differ. */
export function seriesKey(event: EventsEvent): string {
  const { type, reason, action, regarding = {}, related = {} } = event
  return [type, reason, action, identityOf(regarding), identityOf(related)].join('\n')
}

/** Tells objects apart. Their versions may differ. */
export function identityOf({
  apiVersion,
  kind,
  namespace,
  name,
  uid,
  fieldPath,
}: ObjectReference): string {
  return [apiVersion, kind, namespace, name, uid, fieldPath].join('\t')
}

function referenceTo(option: string, target: KubernetesObject | ObjectReference): ObjectReference {
  anObject(option, target)
  const { apiVersion, kind, fieldPath } = target as ObjectReference
  const from = 'metadata' in target ? target.metadata : target
  const { namespace, name, uid, resourceVersion } = from
  for (const [member, value] of Object.entries({ apiVersion, kind, name })) {
    if (typeof value !== 'string' || value === '') {
      throw new InvalidOptionError(`${option}.${member}`, value, 'an object with kind and name')
    }
  }
  const reference = { apiVersion, kind, namespace, name, uid, resourceVersion, fieldPath }
  return Object.fromEntries(
    Object.entries(reference).filter(([, value]) => value !== undefined && value !== ''),
  )
}

/** The name of the object, as far as names of Events allow, and digits that no other Event has. */
function eventName(name: string): string {
  const unique = `.${Date.now().toString(16)}${randomBytes(4).toString('hex')}`
  const start = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, '-')
    .slice(0, maxNameLength - unique.length)
    .split('.')
    .map((part) => part.replaceAll(/^-+|-+$/g, ''))
    .filter((part) => part !== '')
    .join('.')
  return `${start === '' ? 'event' : start}${unique}`
}

function requireText(option: string, value: unknown): void {
  const isText = typeof value === 'string' && value !== ''
  if (isText && Buffer.byteLength(value) <= maxReasonBytes) return
  throw new InvalidOptionError(option, value, `text of at most ${maxReasonBytes} bytes`)
}

const qualifiedName =
  /^(?:(?=.{1,253}\/)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*\/)?[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?$/

/** The longest beginning that fits, with a sign where something is missing. */
function cut(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  const sign = '…'
  const kept = new TextDecoder().decode(bytes.subarray(0, maxBytes - Buffer.byteLength(sign)), {
    // Leaves out a character that is cut.
    stream: true,
  })
  return kept + sign
}
