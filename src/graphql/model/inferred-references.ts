/*
 * References that the schemas of custom kinds suggest by the names of their members: a member `…Ref` that has a `name`,
 * and either a `kind` or a name that ends with the name of a kind of the same API group or the core group (`secretRef`,
 * `tokenSecretRef`). Each becomes a field with the member's name or, if that is taken, with the parent's name before it.
 * If both are taken, it counts for `usedBy` only. The search is bounded in depth and in number.
 */

import { definitionNameOf, type OpenApiSchema } from '../../kubernetes/open-api.ts'
import type { RelationDeclaration, TypeExtension } from '../sdl/sdl-document.ts'
import { camelCaseWords } from '../../lib/letter-case.ts'
import type { DefinitionScope } from './definitions.ts'
import type { BareKind, PolymorphicRelationField, RelationField } from './kind.ts'
import type { KindCatalog } from './kind-catalog.ts'
import { type DeclaredRelations, usesOfAny } from './declared-relations.ts'

const referenceName = /(?:Ref|Reference|KeySelector)s?$/
/** A selector of a key has a `key`. Other selectors may select by labels. */
const selectorName = /KeySelectors?$/
const place = { file: 'inferred references', line: 1 } as const

/** Bounds of the search in one kind. References beyond the fields count for `usedBy` only. */
const maxFields = 50
const maxReferences = 500
const maxDepth = 10

/** The references that the schema of a kind suggests. */
export function inferredReferences(kind: BareKind, catalog: KindCatalog): TypeExtension {
  const { definitions } = catalog
  const relations = new Map<string, RelationDeclaration>()
  const scope = definitions.scopeOf(kind.resource)
  for (const found of referencesIn(definitions.schemaOf(kind.resource) ?? {}, scope, '', 0)) {
    const isFree = (one: string): boolean =>
      !relations.has(one) && !catalog.hasField(kind.typeName, one)
    const field = relations.size < maxFields ? [found.name, found.longName].find(isFree) : undefined
    const name = field ?? `uses(${found.path})`
    const declaration = declarationOf(name, found, kind, catalog)
    if (declaration === undefined) continue
    relations.set(name, field === undefined ? { ...declaration, isHidden: true } : declaration)
    if (relations.size >= maxReferences) break
  }
  const all = [...relations.values()]
  return { place, typeName: kind.typeName, optional: true, indexes: [], relations: all }
}

interface FoundReference {
  /** `secretStoreRef`. */
  readonly name: string
  /** With the parent's name: `targetSecretStoreRef`. */
  readonly longName: string
  readonly path: string
  readonly members: ReadonlySet<string>
}

function* referencesIn(
  schema: OpenApiSchema,
  scope: DefinitionScope,
  path: string,
  depth: number,
): Generator<FoundReference, void> {
  if (depth > maxDepth) return
  const { properties = {}, items } = resolved(schema, scope)
  if (items !== undefined) {
    yield* referencesIn(items, scope, `${path}[*]`, depth + 1)
    return
  }
  for (const [name, inner] of Object.entries(properties)) {
    if (!/^[A-Za-z]\w*$/.test(name) || name === 'metadata') continue
    const at = path === '' ? name : `${path}.${name}`
    if (referenceName.test(name)) {
      const list = resolved(inner.items ?? inner, scope)
      const members = new Set(Object.keys(list.properties ?? {}))
      if (members.has('name') && (members.has('key') || !selectorName.test(name))) {
        const around = path.split('.').at(-1)?.replace('[*]', '') ?? ''
        const longName = `${around}${name.charAt(0).toUpperCase()}${name.slice(1)}`
        yield { name, longName, path: inner.items === undefined ? at : `${at}[*]`, members }
        continue
      }
    }
    yield* referencesIn(inner, scope, at, depth + 1)
  }
}

/** A schema, or the definition that it refers to. */
function resolved(schema: OpenApiSchema, scope: DefinitionScope): OpenApiSchema {
  const definition = definitionNameOf(schema)
  return definition === undefined ? schema : (scope.find(definition) ?? schema)
}

function declarationOf(
  name: string,
  { path, members, name: written }: FoundReference,
  { resource }: BareKind,
  { kinds, leftOut }: KindCatalog,
): RelationDeclaration | undefined {
  const isList = path.includes('[*]')
  if (members.has('kind')) {
    const args = { path: [path] }
    return { place, name, type: 'ObjectRef', isList, directive: 'objectRef', arguments: args }
  }
  // A relation to a kind that the profile leaves out is passed over later.
  const to = kindNamedBy(written, resource.group, [...kinds, ...leftOut])
  if (to === undefined) return undefined
  const namespaces = members.has('namespace') ? { namespacePath: [`${path}.namespace`] } : {}
  return {
    place,
    name,
    type: isList ? `${to.typeName}Connection` : to.typeName,
    isList: false,
    directive: 'reference',
    arguments: { path: [`${path}.name`], ...namespaces },
  }
}

/**
 * The kind in the name of a member: `Secret` of `secretRef`, `tokenSecretRef` and `apiSecretKeyRef`. Only whole words
 * count. The longest name wins (`ConfigMap` over `Map`), then the kind of the own group. If two different names have the
 * same length, the member is ambiguous and gives no reference.
 */
function kindNamedBy(
  member: string,
  group: string,
  kinds: readonly BareKind[],
): BareKind | undefined {
  const before = member.replace(referenceName, '')
  // The last word, the last two, and so on, in lower case.
  const endings = new Set(
    [before, before.replace(/Key$/, '')]
      .map(camelCaseWords)
      .flatMap((words) => words.map((_, at) => words.slice(at).join('').toLowerCase())),
  )
  const [first, ...others] = kinds
    .filter(({ resource }) => resource.group === group || resource.group === '')
    .filter(({ resource }) => endings.has(resource.kind.toLowerCase()))
    .toSorted(
      ({ resource: a }, { resource: b }) =>
        b.kind.length - a.kind.length || Number(b.group === group) - Number(a.group === group),
    )
  const [kind, length] = [first?.resource.kind.toLowerCase(), first?.resource.kind.length]
  const isOpen = others.some(
    ({ resource: other }) => other.kind.length === length && other.kind.toLowerCase() !== kind,
  )
  return isOpen ? undefined : first
}

/** The reverse of all inferred references to a kind; `undefined` if there are none. `users`: its `usedBy`, by what they reverse. */
export function referencedByOf(
  typeName: string,
  inferred: readonly TypeExtension[],
  known: DeclaredRelations,
  users: ReadonlyMap<string, RelationField>,
): PolymorphicRelationField | undefined {
  const relations = inferred.flatMap(({ typeName: to, relations: declared }) => {
    const leading = declared.filter(({ name }) => known.find(to, name)?.definition.to === typeName)
    const ofAny = users.get(`${to}.${usesOfAny}`)
    const isAny = declared.some(({ directive }) => directive === 'objectRef')
    const named = leading.map(({ name }): RelationField => {
      const of = `${to}.${name}`
      const definition = {
        form: 'reverse',
        name: `referencedBy=${of}`,
        from: typeName,
        to,
        of,
      } as const
      return { definition, many: true }
    })
    return isAny && ofAny !== undefined ? [...named, ofAny] : named
  })
  if (relations.length === 0) return undefined
  const description =
    'The objects of custom kinds that refer to this one, as inferred from the names of their fields.'
  return { name: 'referencedBy', relations, description }
}
