/*
 * Reads the keys of the objects that an object refers to by name. A reference has places: paths of a name and, within the
 * same list item, of its namespace, kind and group. A namespaced reference uses the namespace beside the name, or else the
 * object's own; without either, it refers to nothing. Names may also follow a pattern, or be composed by a rule.
 */

import type { IndexFunction } from '../../informer/store/store-view.ts'
import { splitApiVersion } from '../../kubernetes/api-resource.ts'
import { type KubernetesObject, objectKey } from '../../kubernetes/object.ts'
import { parsePath, type Path, valueAt, valuesAt } from '../index/path.ts'
import { parseNameTemplate } from './name-template.ts'
import {
  type GroupKind,
  type RelationBase,
  type RelationContext,
  RelationDefinitionError,
  relationName,
} from './relation.ts'

/** The object refers to others by name: `Pod.node` by `spec.nodeName`. */
export interface ReferenceRelation extends RelationBase {
  readonly form: 'reference'
  /** Paths of the names; several if the API has several places for them. */
  readonly paths: readonly string[]
  /**
   * Paths of the namespaces, for references across namespaces: one for each of {@link paths}, with the same beginning
   * up to its last `[*]`. If absent, references are within the object's own namespace.
   */
  readonly namespacePaths?: readonly string[]
  /** The path of the namespace of references without one at {@link namespacePaths}; absent: the object's own namespace. */
  readonly namespaceOtherwise?: string
  /** Paths of the kinds, like {@link namespacePaths}. References to other kinds do not belong to this relation. */
  readonly kindPaths?: readonly string[]
  /** Paths of API groups or an `apiVersion`, like {@link kindPaths}. A missing group means any. */
  readonly groupPaths?: readonly string[]
  /** Whether a reference without a kind refers to this kind; else it refers to nothing. */
  readonly isDefaultKind?: boolean
  /** How the texts at {@link paths} are written if they are no plain names: `system:serviceaccount:{namespace}:{name}`. */
  readonly pattern?: string
  /** Paths of whole references: `kind`, `name`, with `apiVersion`, `apiGroup` or `group`, and `namespace`. */
  readonly refPaths?: readonly string[]
  readonly names?: NameRule
  /** Whether {@link names} apply only if no path has a name. */
  readonly isOtherwise?: boolean
  /** The key of the one object that every object of this kind refers to. */
  readonly only?: string
  /** False if the object does not use the others, so that it does not appear in their `usedBy`. */
  readonly uses?: false
  readonly many: boolean
}

/** Names composed from values of the object. */
export interface NameRule {
  /**
   * Text with paths in braces, such as `{metadata.name}-{spec.volumes[*].name}`; `#` at the end stands for any number.
   * Each template yields names.
   */
  readonly templates: readonly string[]
  readonly namespacePath?: string
  /** A constant namespace. Without this and a path, the namespace is the object's own. */
  readonly namespace?: string
}

/** Throws {@link RelationDefinitionError} and `PathError`. */
export function referencedKeys(
  definition: ReferenceRelation,
  context: RelationContext,
): IndexFunction {
  const { names, isOtherwise, to } = definition
  const otherwise = namespaceOtherwise(definition)
  const isNamespaced = context.isNamespaced(to)
  const places = placesOf(definition)
  const isMeant = isOfKind(definition, context)
  const read = nameReader(definition)
  const namedKeys = names === undefined ? undefined : keysByRule(names, isNamespaced)
  return (object) => {
    const keys: string[] = []
    let hasName = false
    for (const place of places) {
      for (const item of place.items === undefined ? [object] : valuesAt(place.items, object)) {
        const named = read(place.name === undefined ? item : valueAt(place.name, item))
        if (named === undefined) continue
        hasName = true
        if (place.kind !== undefined && !isMeant(place, item)) continue
        const said = place.namespace === undefined ? undefined : valueAt(place.namespace, item)
        const namespace = named.namespace || said || otherwise(object)
        const key = keyIn(isNamespaced, named.name, namespace, object)
        if (key !== undefined) keys.push(key)
      }
    }
    const isNamed = names !== undefined && !(isOtherwise === true && hasName)
    if (isNamed && namedKeys !== undefined) keys.push(...namedKeys(object))
    return keys
  }
}

/** A name, with the namespace if the same text has it. */
interface ReadName {
  readonly name: string
  readonly namespace?: string | undefined
}

/** Reads the texts at the paths of a reference: plain names, or names by its pattern. */
export function nameReader({
  pattern,
}: ReferenceRelation): (value: unknown) => ReadName | undefined {
  if (pattern === undefined) {
    return (name) => (typeof name === 'string' && name !== '' ? { name } : undefined)
  }
  const escaped = pattern.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`)
  // A namespace has no dots: `{namespace}.{name}` ends it at the first one.
  const named = escaped.replace('{name}', '(?<name>[^:/]+)')
  const form = new RegExp(`^${named.replace('{namespace}', '(?<namespace>[^:/.]+)')}$`)
  return (value) => {
    const { name, namespace } = (typeof value === 'string' && form.exec(value)?.groups) || {}
    return name === undefined ? undefined : { name, namespace }
  }
}

/** Where a relation's references are. Throws {@link RelationDefinitionError} and `PathError`. */
export function placesOf(definition: ReferenceRelation): readonly Place[] {
  const { paths, namespacePaths, kindPaths, groupPaths, refPaths = [] } = definition
  const beside: [string, readonly string[] | undefined][] = [
    ['namespace', namespacePaths],
    ['kind', kindPaths],
    ['group', groupPaths],
  ]
  for (const [what, texts] of beside) {
    if (texts === undefined || texts.length === paths.length) continue
    throw new RelationDefinitionError(
      relationName(definition),
      `must have as many ${what} paths as paths`,
      'give each path its own',
    )
  }
  return [
    ...paths.map((path, at) =>
      placeOf(definition, path, {
        namespace: namespacePaths?.[at],
        kind: kindPaths?.[at],
        group: groupPaths?.[at],
      }),
    ),
    ...refPaths.map(placeOfReference),
  ]
}

export function isOfKind(
  { to, isDefaultKind }: ReferenceRelation,
  context: RelationContext,
): (place: Place, item: unknown) => boolean {
  return kindTest(context.groupKindOf?.(to), isDefaultKind === true)
}

/**
 * The keys by a name rule, or the parts before the number at their end. Throws `NameTemplateError` and `PathError`.
 */
export function keysByRule(rule: NameRule, isNamespaced: boolean): IndexFunction {
  const templates = rule.templates.map((text) => parseNameTemplate(text))
  const namespacePath = rule.namespacePath === undefined ? undefined : parsePath(rule.namespacePath)
  return (object) => {
    const said =
      rule.namespace ?? (namespacePath === undefined ? undefined : valueAt(namespacePath, object))
    // If the rule has a namespace path and the object has no value there, there is no reference.
    if (namespacePath !== undefined && typeof said !== 'string') return none
    return templates.flatMap((template) =>
      template.namesOf(object).flatMap((name) => keyIn(isNamespaced, name, said, object) ?? []),
    )
  }
}

const none: readonly string[] = []

/** Reads the namespace of references that name none themselves. */
export function namespaceOtherwise({
  namespaceOtherwise: text,
}: ReferenceRelation): (object: KubernetesObject) => unknown {
  if (text === undefined) return () => undefined
  const path = parsePath(text)
  return (object) => valueAt(path, object)
}

/** The key that a name refers to; `undefined` if it needs a namespace and has none. */
export function keyIn(
  isNamespaced: boolean,
  name: string,
  said: unknown,
  { metadata }: KubernetesObject,
): string | undefined {
  if (!isNamespaced) return name
  const namespace = typeof said === 'string' && said !== '' ? said : metadata.namespace
  return namespace === undefined ? undefined : objectKey({ namespace, name })
}

/** Where references are: a list of items, and paths within each item. */
export interface Place {
  /** `undefined`: the object itself is the only item. */
  readonly items: Path | undefined
  /** `undefined`: the item itself is the name. */
  readonly name: Path | undefined
  readonly namespace: Path | undefined
  readonly kind: Path | undefined
  /** The first one with a value counts. */
  readonly groups: readonly Path[]
}

function kindTest(
  meant: GroupKind | undefined,
  isDefault: boolean,
): (place: Place, item: unknown) => boolean {
  return ({ kind, groups }, item) => {
    const said = kind === undefined ? undefined : valueAt(kind, item)
    if (said === undefined || said === '' ? !isDefault : said !== meant?.kind) return false
    for (const path of groups) {
      const group = valueAt(path, item)
      if (typeof group === 'string') return groupIn(group, path) === meant?.group
    }
    return true
  }
}

/** An `apiVersion` includes the group. */
function groupIn(text: string, { steps }: Path): string {
  const last = steps.at(-1)
  return last?.form === 'field' && last.name === 'apiVersion' ? splitApiVersion(text).group : text
}

/** The path of a whole reference, whose members have their usual names. */
function placeOfReference(text: string): Place {
  const [name, namespace, kind] = ['name', 'namespace', 'kind'].map(parsePath)
  const groups = ['apiVersion', 'apiGroup', 'group'].map(parsePath)
  return { items: parsePath(text), name, namespace, kind, groups }
}

function placeOf(
  definition: ReferenceRelation,
  text: string,
  beside: Readonly<Record<'namespace' | 'kind' | 'group', string | undefined>>,
): Place {
  const path = parsePath(text)
  const itemSteps = path.steps.findLastIndex(({ form }) => form !== 'field') + 1
  const shared = JSON.stringify(path.steps.slice(0, itemSteps))
  const within = (what: string, other: string | undefined): Path | undefined => {
    if (other === undefined) return undefined
    const { steps } = parsePath(other)
    const rest = part({ text: other, steps, many: false }, itemSteps)
    if (shared === JSON.stringify(steps.slice(0, itemSteps)) && !rest.many && rest.steps.length > 0)
      return rest
    throw new RelationDefinitionError(
      relationName(definition),
      `the ${what} at ${other} does not stand beside the name at ${text}`,
      'let both paths share all up to the last [*]',
    )
  }
  const group = within('group', beside.group)
  return {
    items: itemSteps === 0 ? undefined : part(path, 0, itemSteps),
    name: itemSteps === path.steps.length ? undefined : part(path, itemSteps),
    namespace: within('namespace', beside.namespace),
    kind: within('kind', beside.kind),
    groups: group === undefined ? [] : [group],
  }
}

function part({ text, steps }: Path, from: number, to?: number): Path {
  const some = steps.slice(from, to)
  return { text, steps: some, many: some.some(({ form }) => form !== 'field') }
}
