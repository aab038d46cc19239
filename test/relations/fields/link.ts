import type { FieldCase, Form, Place } from './field-case.ts'
import { kindOfType } from './field-kinds.ts'
import { all, at, targetName, targetUid } from './form.ts'

/** How objects of one type mean one of another. */
export interface LinkForms {
  /** Each of them means the target. */
  readonly meant: readonly Form[]
  /** What comes near to that, and means nobody. */
  readonly missed?: readonly Form[]
  /** Each means the one of the same name in the other namespace. */
  readonly abroad?: readonly Form[]
  /** Each means all of the target's type in its own namespace. */
  readonly everything?: readonly Form[]
  /** What the target has, and the one of the same name in the other namespace. */
  readonly target?: Form
  /** What one has that says nothing at all, where that is anything. */
  readonly bare?: Form
  /** What each that refers has besides. */
  readonly referrer?: Form
}

/**
 * A relation and its ways back: `link('Pod.node', 'Node.pods', { meant: [...] })`. Either may be a type without a field, or have
 * several, as in `Pod.deployment,workload`. Besides who is meant there are those that nobody means: one of another name and, where
 * the kind has namespaces, one of the same name in another, which only somebody there means by the same words.
 */
export function link(from: string, to: string, forms: LinkForms): FieldCase {
  const [referrer = '', fields = ''] = from.split('.')
  const [type = '', backs = ''] = to.split('.')
  const [isHere, isThere] = [kindOfType(referrer).namespaced, kindOfType(type).namespaced]
  const target: Place = `${type} ~to`
  const far: Place = isThere ? `${type} ~to@there` : target
  const aside: Place = `${type} ~to@<here>-aside`
  const about = (form: Form, place: Place): Form =>
    settledForm(all(forms.referrer ?? {}, form), place)
  const ofTarget = forms.target ?? {}
  const objects: (readonly [Place, Form])[] = [
    [target, settledForm(ofTarget, target)],
    [`${type} ~other`, settledForm(ofTarget, `${type} ~other`)],
    ...(isThere ? [far, aside] : []).map((place) => [place, settledForm(ofTarget, place)] as const),
    [`${referrer} ~bare`, all(forms.referrer ?? {}, forms.bare ?? {})],
  ]
  const leads: Record<Place, readonly Place[]> = {}
  const back: Record<Place, Place[]> = {}
  const refer = (name: string, form: Form, targets: readonly Place[]): void => {
    const place: Place = `${referrer} ~${name}`
    objects.push([place, form])
    if (targets.length === 0) return
    leads[place] = targets
    for (const one of targets) (back[one] ??= []).push(place)
  }
  for (const [index, form] of forms.meant.entries()) {
    refer(`by-${index}`, about(form, target), [target])
    // The same words in the other namespace mean who is there, unless they say where.
    if (isHere && !JSON.stringify(form).includes('<here>')) {
      refer(`by-${index}@there`, about(form, far), [far])
    }
  }
  for (const [index, form] of (forms.missed ?? []).entries()) {
    refer(`missed-${index}`, about(form, target), [])
  }
  for (const [index, form] of (forms.abroad ?? []).entries()) {
    refer(`abroad-${index}`, about(form, far), [far])
  }
  for (const [index, form] of (forms.everything ?? []).entries()) {
    refer(`every-${index}`, about(form, target), [target, `${type} ~other`])
  }
  // Who means somebody that is not there.
  const [first = {}] = forms.meant
  const lost = JSON.stringify(about(first, target)).replaceAll('~to', '~gone')
  objects.push([`${referrer} ~lost`, JSON.parse(lost) as Form])
  return {
    objects,
    leads: {
      ...named(referrer, fields, leads),
      ...named(type, backs, back),
    },
  }
}

/** A form about somebody. */
export function settledForm(form: Form, place: Place): Form {
  const [name = ''] = place.split(' ')[1]?.split('@') ?? []
  return JSON.parse(
    JSON.stringify(form).replaceAll(targetName, name).replaceAll(targetUid, `<uid ${place}>`),
  ) as Form
}

/** Where the fields of one type lead, by their full names; `*` is before those of every kind. */
export function named<T>(type: string, fields: string, leads: T): Readonly<Record<string, T>> {
  const names = fields.split(',').filter((name) => name !== '')
  return Object.fromEntries(
    names.map((name) => [
      name.startsWith('*') ? `KubernetesObject.${name.slice(1)}` : `${type}.${name}`,
      leads,
    ]),
  )
}

/** Whom an object names at one of some paths. */
export function reference(from: string, to: string, ...paths: readonly string[]): FieldCase {
  return link(from, to, { meant: paths.map((path) => at(path)) })
}

/** How references say the group of a kind. */
export type GroupMember = 'apiVersion' | 'apiGroup' | 'group'

/** Whom an object refers to as a whole, of whatever kind: not those of another kind or group. */
export function objectReference(
  from: string,
  to: string,
  path: string,
  groupMember: GroupMember = 'apiVersion',
  more: Form = {},
): FieldCase {
  const { apiVersion, kind } = kindOfType(to.split('.')[0] ?? '')
  const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : []
  const said = groupMember === 'apiVersion' ? apiVersion : group
  const unknown = groupMember === 'apiVersion' ? 'rel.unknown/v1' : 'rel.unknown'
  const ref = (members: object): Form =>
    at(path, { [groupMember]: said, kind, name: targetName, ...more, ...members })
  return link(from, to, {
    meant: [ref({})],
    missed: [ref({ kind: 'Unknown' }), ref({ [groupMember]: unknown })],
  })
}
