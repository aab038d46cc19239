/*
 * Finds where an object refers to another one, to show it to people. Reads a reference as `referencedKeys` does, but keeps
 * the path of each value. For a name rule, the place is the list item that is a part of the name, or else its first path.
 * The places of a selector are those of all selectors of the object.
 */

import { type Path, parsePath, type PathStep } from '../index/path.ts'
import type { KubernetesObject } from '../../kubernetes/object.ts'
import { parseNameTemplate, stemOf } from './name-template.ts'
import {
  isOfKind,
  keyIn,
  namespaceOtherwise,
  nameReader,
  type NameRule,
  placesOf,
  type ReferenceRelation,
} from './referenced-keys.ts'
import { readSelectors, type SelectsRelation } from './object-selector.ts'
import type { NumberedRelation } from './reference-relation.ts'
import type { RelationContext } from './relation.ts'

/** Paths with the positions of list items, such as `spec.volumes[2].configMap.name`. */
export type ReferencePlaces = (object: KubernetesObject, key: string) => readonly string[]

interface Found {
  readonly path: string
  readonly value: unknown
}

/** The places of an object's selectors, whichever of them selects the other object. */
export function selectorPlaces(definition: SelectsRelation): ReferencePlaces {
  const { path } = definition
  const parsed = parsePath(path)
  const read = readSelectors(definition, true)
  return (object) => {
    if (read(object).length === 0) return []
    const found = foundAt(parsed, whole(object)).map((one) => one.path)
    return found.length === 0 ? [path] : found
  }
}

/** Finds the paths of a reference to the object with a key. Throws as `referencedKeys` does. */
export function referencePlaces(
  definition: ReferenceRelation | NumberedRelation,
  context: RelationContext,
): ReferencePlaces {
  const isNamespaced = context.isNamespaced(definition.to)
  if (definition.form === 'numbered') {
    return (object, key) => placesByRule(definition.names, isNamespaced, object, key)
  }
  const otherwise = namespaceOtherwise(definition)
  const places = placesOf(definition)
  const isMeant = isOfKind(definition, context)
  const read = nameReader(definition)
  // The definition of a kind: every object names it by its API group and kind.
  if (definition.only !== undefined) return () => ['apiVersion', 'kind']
  return (object, key) => {
    let hasName = false
    const found = places.flatMap((place) =>
      foundAt(place.items, { path: '', value: object }).flatMap((item) => {
        const [text] = foundAt(place.name, item)
        const named = read(text?.value)
        if (text === undefined || named === undefined) return []
        hasName = true
        if (place.kind !== undefined && !isMeant(place, item.value)) return []
        const [said] = place.namespace === undefined ? [] : foundAt(place.namespace, item)
        const namespace = named.namespace || said?.value || otherwise(object)
        return keyIn(isNamespaced, named.name, namespace, object) === key ? [text.path] : []
      }),
    )
    const { names, isOtherwise } = definition
    return names === undefined || (isOtherwise === true && hasName)
      ? found
      : [...found, ...placesByRule(names, isNamespaced, object, key)]
  }
}

const inBraces = /\{([^{}]*)\}/g

function placesByRule(
  { templates, namespace, namespacePath }: NameRule,
  isNamespaced: boolean,
  object: KubernetesObject,
  key: string,
): readonly string[] {
  const [said] = namespacePath === undefined ? [] : foundAt(parsePath(namespacePath), whole(object))
  return templates.flatMap((rule) => {
    const isNumbered = rule.endsWith('#')
    const template = isNumbered ? rule.slice(0, -1) : rule
    const wanted = isNumbered ? stemOf(key) : key
    const paths = Array.from(template.matchAll(inBraces), ([, text = '']) => parsePath(text))
    const varying = paths.find(({ many }) => many) ?? paths[0]
    if (varying === undefined) return []
    return foundAt(varying, whole(object)).flatMap(({ path, value }) => {
      const fixed = template.replace(`{${varying.text}}`, () => String(value))
      const names = fixed.includes('{') ? parseNameTemplate(fixed).namesOf(object) : [fixed]
      const means = (name: string): boolean =>
        keyIn(isNamespaced, name, namespace ?? said?.value, object) === wanted
      return names.some(means) ? [path] : []
    })
  })
}

function whole(value: unknown): Found {
  return { path: '', value }
}

/** The values at a path below a value that was found, each with its own path. Without a path, that value. */
function foundAt(path: Pick<Path, 'steps'> | undefined, start: Found): readonly Found[] {
  let found: readonly Found[] = [start]
  for (const step of path?.steps ?? []) found = found.flatMap((one) => stepFrom(one, step))
  return found.filter(({ value }) => value !== undefined && value !== null)
}

function stepFrom({ path, value }: Found, step: PathStep): readonly Found[] {
  if (typeof value !== 'object' || value === null) return []
  if (step.form === 'field') {
    if (Array.isArray(value) || !Object.hasOwn(value, step.name)) return []
    const member = (value as Readonly<Record<string, unknown>>)[step.name]
    return [{ path: `${path}${memberText(step.name, path === '')}`, value: member }]
  }
  const items: readonly (readonly [string, unknown])[] = Array.isArray(value)
    ? value.map((item: unknown, at) => [`[${at}]`, item])
    : Object.entries(value).map(([name, member]) => [memberText(name, false), member])
  return items.flatMap(([text, item]) => {
    if (step.form !== 'each') {
      if (typeof item !== 'object' || item === null || !Object.hasOwn(item, step.member)) return []
      const member = (item as Readonly<Record<string, unknown>>)[step.member]
      if (step.form === 'matching' && String(member) !== step.value) return []
    }
    return [{ path: path + text, value: item }]
  })
}

const plain = /^[^.[\]"\s]+$/

function memberText(name: string, isFirst: boolean): string {
  if (!plain.test(name)) return `[${JSON.stringify(name)}]`
  return isFirst ? name : `.${name}`
}
