import { uidOf, type Written } from '../relation-cluster.ts'
import { kindOfType } from './field-kinds.ts'

/** Fields of an object, with `~` before names of its own case, and `<here>`, `<there>`, `<mine>` (the object's own namespace) and `<uid TYPE NAME>`. */
export interface Form {
  readonly [member: string]: unknown
}

/** An object of a case: `Pod web`, or `Pod web@there` for one of its second namespace, or of the namespace that is named. */
export type Place = string

/** Objects, and where fields lead from them; from all others of the case, of the same types, they lead nowhere. */
export interface FieldCase {
  readonly objects: readonly (readonly [place: Place, form?: Form])[]
  /** By field, as in `Pod.node`: by object, whom it leads to. */
  readonly leads: Readonly<Record<string, Readonly<Record<Place, readonly Place[]>>>>
}

/** Where all fields of a case lead. */
export interface ExpectedLeads {
  readonly objects: readonly (Written & { readonly metadata: { readonly namespace?: string } })[]
  /** By the field and the type that it is asked of: by UID, the UIDs of those that it leads to, sorted. */
  readonly leads: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>
}

/** The second namespace of a case. */
const there = 'there'

/** Puts a case into namespaces of its own. */
export function settle({ objects, leads }: FieldCase, at: number): ExpectedLeads {
  const here = `field-${at}`
  const named = (text: string): string =>
    text
      .replaceAll('<here>', here)
      .replaceAll('<there>', `${here}-${there}`)
      .replaceAll('~', `f${at}-`)
  const place = (text: string): Placed => {
    const [type = '', rest = ''] = text.split(' ')
    const [name = '', said] = named(rest).split('@')
    const { namespaced } = kindOfType(type)
    const namespace = said === undefined ? here : said === there ? `${here}-${there}` : said
    return { type, name, ...(namespaced ? { namespace } : {}) }
  }
  const settled = (form: Form, own: Placed): Form =>
    JSON.parse(
      named(
        JSON.stringify(form)
          .replaceAll(/<uid ([^>]+)>/g, (_, text: string) => uidAt(place(text)))
          .replaceAll('<mine>', own.namespace ?? here),
      ),
    ) as Form
  const written = objects.map(([text, form = {}]) => {
    const { type, name, namespace } = place(text)
    const { apiVersion, kind } = kindOfType(type)
    const { metadata = {}, ...fields } = settled(form, place(text))
    const own = { name, ...(namespace === undefined ? {} : { namespace }), ...(metadata as Form) }
    return { apiVersion, kind, ...fields, metadata: own }
  })
  const places = objects.map(([text]) => place(text))
  const expected = new Map<string, Map<string, readonly string[]>>()
  for (const [field, byPlace] of Object.entries(leads)) {
    const positive = new Map(
      Object.entries(byPlace).map(([from, to]) => [
        uidAt(place(from)),
        to.map((one) => uidAt(place(one))).toSorted(),
      ]),
    )
    for (const type of typesOf(field, Object.keys(byPlace))) {
      const ofType = places.filter((one) => one.type === type).map(uidAt)
      const missing = [...positive.keys()].filter((uid) => !places.map(uidAt).includes(uid))
      if (missing.length > 0) throw new Error(`${field}: ${missing.join(', ')} are not there`)
      expected.set(`${field} ${type}`, new Map(ofType.map((uid) => [uid, positive.get(uid) ?? []])))
    }
  }
  return { objects: written, leads: expected }
}

interface Placed {
  readonly type: string
  readonly name: string
  readonly namespace?: string
}

const uidAt = ({ type, name, namespace }: Placed): string =>
  uidOf(kindOfType(type).kind, name, namespace)

/** A field of every kind is asked of the kinds that it is said to lead somewhere from. */
function typesOf(field: string, from: readonly string[]): readonly string[] {
  const [owner = ''] = field.split('.')
  if (owner !== 'KubernetesObject') return [owner]
  return [...new Set(from.map((place) => place.split(' ')[0] ?? ''))]
}
