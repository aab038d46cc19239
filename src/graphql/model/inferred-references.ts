import { definitionNameOf, type OpenApiSchema } from '../../kubernetes/open-api.ts'
import type { RelationDeclaration, TypeExtension } from '../sdl/sdl-document.ts'
import type { BareKind } from './kind.ts'
import type { Definitions, DefinitionScope } from './definitions.ts'
import type { PolymorphicRelationField, RelationField } from './kind.ts'

/** What references are inferred from. */
export interface InferenceContext {
  readonly definitions: Definitions
  /** All kinds that are served. */
  readonly kinds: readonly BareKind[]
  readonly hasField: (typeName: string, field: string) => boolean
}

const referenceName = /(?:Ref|Reference)s?$/
const place = { file: 'inferred references', line: 1 } as const

/** So many references of one kind, and so deep ones, are looked for. */
const maxReferences = 50
const maxDepth = 10

/**
 * What the schema of a kind says to be references: members called `…Ref` that have a `name` and a `kind`, or whose own name is
 * that of a kind, of the same API group or of core. Each is a field of the name that the API gives it, unless that is taken.
 */
export function inferredReferences(kind: BareKind, context: InferenceContext): TypeExtension {
  const { definitions, hasField } = context
  const relations = new Map<string, RelationDeclaration>()
  const scope = definitions.scopeOf(kind.resource)
  for (const found of referencesIn(definitions.schemaOf(kind.resource) ?? {}, scope, '', 0)) {
    const taken = relations.has(found.name) || hasField(kind.typeName, found.name)
    const name = taken ? found.longName : found.name
    if (relations.has(name) || hasField(kind.typeName, name)) continue
    const declaration = declarationOf(name, found, kind, context)
    if (declaration !== undefined) relations.set(name, declaration)
    if (relations.size >= maxReferences) break
  }
  const all = [...relations.values()]
  return { place, typeName: kind.typeName, optional: true, indexes: [], relations: all }
}

interface FoundReference {
  /** `secretStoreRef`. */
  readonly name: string
  /** With the member around it: `targetSecretStoreRef`. */
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
  const definition = definitionNameOf(schema)
  const { properties = {}, items } =
    definition === undefined ? schema : (scope.find(definition) ?? schema)
  if (items !== undefined) {
    yield* referencesIn(items, scope, `${path}[*]`, depth + 1)
    return
  }
  for (const [name, inner] of Object.entries(properties)) {
    if (!/^[A-Za-z]\w*$/.test(name) || name === 'metadata') continue
    const at = path === '' ? name : `${path}.${name}`
    if (referenceName.test(name)) {
      const list = inner.items ?? inner
      const members = new Set(Object.keys(list.properties ?? {}))
      if (members.has('name')) {
        const around = path.split('.').at(-1)?.replace('[*]', '') ?? ''
        const longName = `${around}${name.charAt(0).toUpperCase()}${name.slice(1)}`
        yield { name, longName, path: inner.items === undefined ? at : `${at}[*]`, members }
        continue
      }
    }
    yield* referencesIn(inner, scope, at, depth + 1)
  }
}

function declarationOf(
  name: string,
  { path, members, name: written }: FoundReference,
  { resource }: BareKind,
  { kinds }: InferenceContext,
): RelationDeclaration | undefined {
  const isList = path.includes('[*]')
  if (members.has('kind')) {
    const form = { directive: 'objectRef', arguments: { path: [path] } } as const
    return { place, name, type: 'ObjectRef', isList, form }
  }
  const meant = written.replace(/(?:Key)?(?:Ref|Reference)s?$/, '').toLowerCase()
  const named = kinds.filter((one) => one.resource.kind.toLowerCase() === meant)
  const to =
    named.find((one) => one.resource.group === resource.group) ??
    named.find((one) => one.resource.group === '')
  if (to === undefined) return undefined
  const namespaces = members.has('namespace') ? { namespacePath: [`${path}.namespace`] } : {}
  const form = {
    directive: 'reference',
    arguments: { path: [`${path}.name`], ...namespaces },
  } as const
  return {
    place,
    name,
    type: isList ? `${to.typeName}Connection` : to.typeName,
    isList: false,
    form,
  }
}

/** The objects that mean those of a kind by inferred references; absent where no kind has any. */
export function referencedByOf(
  typeName: string,
  inferred: readonly TypeExtension[],
  relationsOf: (typeName: string) => readonly RelationField[],
): PolymorphicRelationField | undefined {
  const relations = inferred.flatMap(({ typeName: to, relations: declared }) =>
    declared.flatMap(({ name, form }): readonly RelationField[] => {
      const target = relationsOf(to).find(({ definition }) => definition.name === name)
      const isMeant =
        form.directive === 'objectRef' ? target === undefined : target?.definition.to === typeName
      if (!isMeant) return []
      const of = `${to}.${name}`
      const definition = {
        form: 'reverse',
        name: `referencedBy=${of}`,
        from: typeName,
        to,
        of,
      } as const
      return [{ definition, many: true }]
    }),
  )
  if (relations.length === 0) return undefined
  const description =
    'The objects of custom kinds that mean this one, as the names of their fields tell.'
  return { name: 'referencedBy', relations, description }
}
