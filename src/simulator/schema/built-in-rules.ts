/*
 * The rules of built-in kinds. An object is walked along the OpenAPI schema of its kind, as the captured server
 * publishes it: that tells the types of the fields, which of them are required, and which values an enumeration has.
 * `type-rules.ts` adds by type what no schema says. `served-resource.ts` names the kinds that are checked.
 */

import { fieldsOf, itemsOf } from '../../kubernetes/fields.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import { definitionNameOf } from '../../kubernetes/open-api.ts'
import { isJsonObject } from '../../lib/json.ts'
import { type KindSchema, resolvedSchema, type Schema, type Schemas } from '../api/captured-api.ts'
import { valueAt } from '../api/json.ts'
import type { ObjectRules } from '../api/served-resource.ts'
import { type FieldProblem, requiredAt } from '../api/status-refusal.ts'
import { atLeast, isEmpty, oneOf, type Previous } from './field-checks.ts'
import { typeRules } from './type-rules.ts'

export function builtInRules(groupResource: string, kind: KindSchema): ObjectRules {
  return {
    // Secrets are stored without `stringData`: its values become `data`.
    settle: (object) => {
      const { stringData, data, ...rest } = object
      if (groupResource !== 'secrets' || !isJsonObject(stringData)) return object
      const encoded = Object.entries(stringData).map(([key, value]) => [
        key,
        Buffer.from(String(value)).toString('base64'),
      ])
      return { ...rest, data: { ...fieldsOf(data), ...Object.fromEntries(encoded) } }
    },
    problems: (object, before, part) => {
      if (part === 'status') return []
      const isMounted = groupResource === 'statefulsets.apps'
      return kindProblems(isMounted ? withClaims(object) : object, kind, before)
    },
  }
}

/** The problems of an object of a kind, without those of its metadata and its status. */
export function kindProblems(
  object: Unstructured,
  { root = {}, schemas }: KindSchema,
  before: Unstructured | undefined,
): readonly FieldProblem[] {
  return typeProblems(object, { type: object.kind, schema: root }, '', {
    schemas,
    previous: before && { value: before },
  })
}

/** A type by its short name, and its schema. */
interface NamedType {
  readonly type: string
  readonly schema: Schema
}

function typeOf(schema: Schema, schemas: Schemas): NamedType {
  const name = definitionNameOf(schema) ?? ''
  return { type: name.slice(name.lastIndexOf('.') + 1), schema: resolvedSchema(schema, schemas) }
}

/**
 * The problems of a value of a type, and of all that is in it. A member that is a struct in Go has the default `{}`: it
 * is never absent there, so its own members are looked at anyway.
 */
function typeProblems(
  value: unknown,
  { type, schema }: NamedType,
  path: string,
  { schemas, previous }: { readonly schemas: Schemas; readonly previous?: Previous },
): readonly FieldProblem[] {
  const rules = (Object.hasOwn(typeRules, type) ? typeRules[type] : undefined) ?? {}
  const object = fieldsOf(value)
  if (typeof rules === 'function') return rules(value, path, {}, previous)
  const { self, ...own } = rules
  const found: FieldProblem[] =
    typeof self === 'function' ? [...self(value, path, {}, previous)] : []
  for (const name of new Set([...Object.keys(schema.properties ?? {}), ...Object.keys(own)])) {
    const member = schema.properties?.[name] ?? {}
    const part = object[name]
    const at = path === '' ? name : `${path}.${name}`
    if (at === 'status') continue
    const before = previous && { value: fieldsOf(previous.value)[name] }
    const rule = own[name]
    if (typeof rule === 'object') {
      found.push(...rule.instead(part, at, object, before))
      continue
    }
    const isRequired = schema.required?.includes(name) === true && !isStruct(member)
    const bySchema = schemaProblems(part, member, at, isRequired)
    const problems = bySchema.length > 0 ? bySchema : (rule?.(part, at, object, before) ?? [])
    found.push(...problems)
    if (member.items !== undefined) {
      const item = typeOf(member.items, schemas)
      for (const [index, one] of (Array.isArray(part) ? part : []).entries()) {
        found.push(...typeProblems(one, item, `${at}[${index}]`, { schemas }))
      }
    } else if (isJsonObject(part) || isStruct(member)) {
      const context = { schemas, ...(before && { previous: before }) }
      found.push(...typeProblems(part, typeOf(member, schemas), at, context))
    }
  }
  return found
}

const isStruct = ({ default: value }: Schema): boolean =>
  isJsonObject(value) && Object.keys(value).length === 0

/**
 * The problems that the schema tells of, and a number below 0, which is wrong nearly everywhere. Whether a number may be
 * 0 is for `type-rules.ts` to say.
 */
function schemaProblems(
  value: unknown,
  member: Schema,
  at: string,
  isRequired: boolean,
): readonly FieldProblem[] {
  const { enum: supported, items, type } = member
  const isNumber = type === 'integer' || definitionNameOf(member)?.endsWith('.IntOrString') === true
  if (isRequired && !isNumber && isEmpty(value)) return [requiredAt(at)]
  if (typeof value === 'number' && value < 0) return atLeast(0)(value, at, {})
  if (supported !== undefined) return oneOf(...supported)(value, at, {})
  const ofItems = items?.enum
  if (ofItems === undefined || !Array.isArray(value)) return []
  return value.flatMap((item, index) => oneOf(...ofItems)(item, `${at}[${index}]`, {}))
}

/** A StatefulSet whose template has a volume for each volume claim, as its pods do: mounts may name them. */
function withClaims(statefulSet: Unstructured): Unstructured {
  const { template, volumeClaimTemplates, ...spec } = fieldsOf(statefulSet['spec'])
  const claims = itemsOf(volumeClaimTemplates).map((one) => {
    const name = valueAt(one, 'metadata.name')
    return { name, persistentVolumeClaim: { claimName: name } }
  })
  if (claims.length === 0) return statefulSet
  const pods = fieldsOf(valueAt(template, 'spec'))
  const names = new Set(claims.map(({ name }) => name))
  const others = itemsOf(pods['volumes']).filter(({ name }) => !names.has(name))
  const mounted = { ...fieldsOf(template), spec: { ...pods, volumes: [...claims, ...others] } }
  return { ...statefulSet, spec: { ...spec, volumeClaimTemplates, template: mounted } }
}
