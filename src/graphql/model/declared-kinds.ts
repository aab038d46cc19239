import type { CodedError } from '../../lib/coded-error.ts'
import type { EndedRule } from '../../query/index/index-definition.ts'
import type { ReferenceOfAnyKind } from '../../query/relation/relation-definition.ts'
import type { GroupAliases } from '../naming/api-groups.ts'
import { graphqlNameOf } from '../naming/field-name.ts'
import type { RelationDirective } from '../sdl/sdl-directives.ts'
import type { SdlError } from '../sdl/sdl-error.ts'
import type { TypeExtension } from '../sdl/sdl-document.ts'
import type { CustomResourceVersion } from './custom-resource-definition.ts'
import { customResourceIndexes } from './custom-resource-indexes.ts'
import type { Definitions } from './definitions.ts'
import { healthIndex } from './health-index.ts'
import { everyKindType, ofEachKind } from './every-kind.ts'
import { functionIndexes, type IndexFunctions, unknownListFields } from './index-functions.ts'
import { inferredReferences, referencedByOf } from './inferred-references.ts'
import type { BareKind, Kind, PolymorphicRelationField, RelationField } from './kind.ts'
import { polymorphicRelationsOf, reversesOf } from './polymorphic-relations.ts'
import { endedRuleOf, isUse, usedByField, usersOf } from './uses.ts'
import { isInjectedField, nativePropertiesOf } from './native-properties.ts'
import { schemaAtPath, type SchemaAtPath } from './schema-at-path.ts'
import { sdlChoices } from './sdl-choices.ts'
import { isReservedIndexName, SdlIndexes } from './sdl-indexes.ts'
import { SdlObjectRefs } from './sdl-object-refs.ts'
import { SdlRelations } from './sdl-relations.ts'
import { type DormantDeclaration, UnknownTypes } from './unknown-types.ts'

/** What is declared of kinds. */
export interface DeclaredKindsOptions {
  readonly kinds: readonly BareKind[]
  readonly extensions: readonly TypeExtension[]
  readonly definitions: Definitions
  /** By `group/version/kind`. */
  readonly customResources: ReadonlyMap<string, CustomResourceVersion>
  readonly indexFunctions: IndexFunctions
  readonly aliases: GroupAliases
  /** Whether references of custom kinds are inferred from the names of their fields. */
  readonly inferReferences: boolean
  /** Whether a type is served, but no part of the schema: what speaks of it is passed over. */
  readonly isLeftOut: (typeName: string) => boolean
}

/** Kinds with what is declared of them. */
export interface DeclaredKinds {
  readonly kinds: readonly Kind[]
  /** What is wrong with the declarations. */
  readonly problems: readonly CodedError[]
  /** What waits for kinds that are not served. */
  readonly dormant: readonly DormantDeclaration[]
  /** The references to whatever kind that may be read backwards. */
  readonly ofAnyKind: readonly ReferenceOfAnyKind[]
}

/** Kinds with their indexes and relations, and what is wrong with the declarations; pauses between kinds. */
export function* declaredKinds(options: DeclaredKindsOptions): Generator<void, DeclaredKinds> {
  const { kinds, definitions, isLeftOut } = options
  const byType = new Map(kinds.map((kind) => [kind.typeName, kind]))
  const unknown = new UnknownTypes([...byType.keys()], options.aliases)
  const problems: CodedError[] = []
  const hasOwnField = ownFields(byType, definitions)
  const crdOf = ({ apiVersion, resource }: BareKind): CustomResourceVersion | undefined =>
    options.customResources.get(`${apiVersion}/${resource.kind}`)
  problems.push(...unknownTargets(options, byType, unknown))
  const extensions = ofEachKind(options.extensions, {
    kinds,
    categoriesOf: (kind) => crdOf(kind)?.categories ?? [],
    hasField: hasOwnField,
  })
  const custom = options.inferReferences ? kinds.filter((kind) => crdOf(kind) !== undefined) : []
  const inferred = withoutDeclared(
    custom.map((kind) => inferredReferences(kind, { definitions, kinds, hasField: hasOwnField })),
    extensions,
  )
  const known = [...extensions, ...inferred].filter(({ typeName, optional, place }) => {
    if (byType.has(typeName)) return true
    if (optional || isLeftOut(typeName)) return false
    const problem = unknown.problem(typeName, place, `there is no type ${typeName} of a kind`)
    if (problem !== undefined) problems.push(problem)
    return false
  })
  const ofType = Map.groupBy(known, ({ typeName }) => typeName)
  yield
  const lists = new Set(kinds.map(({ listField }) => listField))
  problems.push(...unknownListFields(options.indexFunctions, (field) => lists.has(field)))
  const indexes = new Map<string, Kind['indexes']>()
  for (const kind of kinds) {
    const own = ofType.get(kind.typeName) ?? []
    indexes.set(kind.typeName, indexesOf(kind, own, options, problems))
    yield
  }
  const hasEvents = byType.get('Event')?.resource.group === ''
  const at = (typeName: string, path: string): SchemaAtPath => {
    const kind = byType.get(typeName)
    return kind === undefined ? { form: 'absent' } : schemaAtPath(kind, path, definitions)
  }
  const relations = new SdlRelations({
    isKind: (typeName) => byType.has(typeName),
    isLeftOut,
    unknownType: (typeName, place, message) => unknown.problem(typeName, place, message),
    hasField: hasOwnField,
    at,
    given: [
      ...(byType.get('Namespace')?.resource.group === '' ? kinds.flatMap(namespaceOf) : []),
      ...(byType.has(definitionType)
        ? kinds.flatMap((kind) => definitionOf(kind, crdOf(kind), hasOwnField))
        : []),
    ],
    written: [...extensions, ...inferred],
    events: hasEvents ? kinds.map(({ typeName }) => eventsOf(typeName)) : [],
  })
  problems.push(...(yield* relations.addAll(known)))
  const relationNamed = (typeName: string, field: string): RelationField | undefined =>
    relations.of(typeName).find(({ definition }) => definition.name === field)
  const objectRefs = new SdlObjectRefs({
    hasField: (typeName, field) =>
      hasOwnField(typeName, field) || relationNamed(typeName, field) !== undefined,
    relationNamed,
    at,
  })
  problems.push(...objectRefs.addAll(known))
  const typeNames = [...byType.keys()]
  const relationsOf = (of: string): readonly RelationField[] => relations.of(of)
  const { choices, refused, problems: ofChoices } = sdlChoices(known, { relationNamed, at })
  problems.push(...ofChoices)
  const mixed = new Map(
    typeNames.map((typeName) => {
      const found = polymorphicRelationsOf(typeName, ofType.get(typeName) ?? [], {
        relationsOf,
        typeNames,
        hasField: hasOwnField,
        ofAnyKind: relations.ofAnyKind,
        choices,
        refused,
      })
      problems.push(...found.problems)
      const instances = typeName === definitionType ? [instancesOf(typeNames, relationsOf)] : []
      const isTaken = hasOwnField(typeName, 'referencedBy')
      const by = isTaken ? undefined : referencedByOf(typeName, inferred, relationsOf)
      return [typeName, [...found.fields, ...instances, ...(by === undefined ? [] : [by])]]
    }),
  )
  yield
  const uses = kinds.flatMap(({ typeName }) => relations.of(typeName).filter(isUse))
  const usersOfKind = (typeName: string): readonly RelationField[] => {
    const isTaken =
      hasOwnField(typeName, usedByField) ||
      relations.of(typeName).some(({ definition }) => definition.name === usedByField)
    return isTaken ? [] : usersOf(typeName, uses)
  }
  const endings: SdlError[] = []
  return {
    kinds: kinds.map((kind) => ({
      ...kind,
      indexes: indexes.get(kind.typeName) ?? [],
      relations: relations.of(kind.typeName),
      objectRefs: objectRefs.of(kind.typeName),
      mixed: mixed.get(kind.typeName) ?? [],
      usedBy: usersOfKind(kind.typeName),
      ...ended(endedRuleOf(kind.typeName, ofType.get(kind.typeName) ?? [], endings)),
      ...(hasEvents ? { events: eventsOf(kind.typeName) } : {}),
    })),
    problems: [...problems, ...endings],
    dormant: unknown.dormant,
    ofAnyKind: relations.ofAnyKind,
  }
}

/** What the user says of every kind is checked once, and then passed over by those that it does not hold for. */
function unknownTargets(
  { extensions, isLeftOut }: DeclaredKindsOptions,
  byType: ReadonlyMap<string, BareKind>,
  unknown: UnknownTypes,
): readonly SdlError[] {
  return extensions
    .filter(({ typeName, optional }) => typeName === everyKindType && !optional)
    .flatMap(({ relations }) =>
      relations.flatMap(({ name, type, place, form }) => {
        const target = type.replace(/Connection$/, '')
        const isOfAny = isOfAnyKind(form.directive)
        if (isOfAny || target === everyKindType || byType.has(target) || isLeftOut(target))
          return []
        const message = `${everyKindType}.${name}: there is no type ${type}`
        return unknown.problem(target, place, message) ?? []
      }),
    )
}

function isOfAnyKind(directive: RelationDirective): boolean {
  return ['objectRef', 'sameLabel', 'chooses', 'chosenBy'].includes(directive)
}

/** What is declared wins over what is inferred. */
function withoutDeclared(
  inferred: readonly TypeExtension[],
  declared: readonly TypeExtension[],
): readonly TypeExtension[] {
  const names = new Set(
    declared.flatMap(({ typeName, relations }) =>
      relations.map(({ name }) => `${typeName}.${name}`),
    ),
  )
  return inferred.map((extension) => ({
    ...extension,
    relations: extension.relations.filter(
      ({ name }) => !names.has(`${extension.typeName}.${name}`),
    ),
  }))
}

const definitionType = 'CustomResourceDefinition'

/** From each kind that a CRD brings to its CRD. */
function definitionOf(
  { typeName }: BareKind,
  crd: CustomResourceVersion | undefined,
  hasOwnField: (typeName: string, field: string) => boolean,
): readonly RelationField[] {
  if (crd === undefined || hasOwnField(typeName, 'definition')) return []
  const [name, from, to] = ['definition', typeName, definitionType]
  const only = crd.definition
  const definition = { form: 'reference', name, from, to, paths: [], only, many: false } as const
  return [{ definition, many: false, description: 'The definition of the kind.' }]
}

function instancesOf(
  typeNames: readonly string[],
  relationsOf: (typeName: string) => readonly RelationField[],
): PolymorphicRelationField {
  const [name, from, field] = ['instances', definitionType, 'definition']
  const relations = reversesOf({ name, from, field }, typeNames, relationsOf)
  return { name, relations, description: 'The objects of the kind that it defines.' }
}

function ended(rule: EndedRule | undefined): Pick<Kind, 'ended'> {
  return rule === undefined ? {} : { ended: rule }
}

function indexesOf(
  kind: BareKind,
  extensions: readonly TypeExtension[],
  { definitions, customResources, indexFunctions }: DeclaredKindsOptions,
  problems: CodedError[],
): Kind['indexes'] {
  const { typeName, apiVersion, resource } = kind
  const at = (path: string): SchemaAtPath => schemaAtPath(kind, path, definitions)
  const declared = new SdlIndexes({ typeName, apiVersion, at, given: [healthIndex(resource)] })
  for (const { optional, indexes } of extensions) {
    for (const declaration of indexes) {
      const problem = declared.add(declaration)
      // That caches of Secrets hold metadata only is no news to the package.
      const isExpected = optional && kind.metadataOnly && problem?.problem === 'unknown-field'
      if (problem !== undefined && !isExpected) problems.push(problem)
    }
  }
  const made = functionIndexes(kind, indexFunctions, (name) => declared.has(name))
  problems.push(...made.problems)
  const known = [...declared.definitions(), ...made.indexes]
  const version = customResources.get(`${apiVersion}/${resource.kind}`)
  if (version === undefined) return known
  const names = new Set(known.map(({ name }) => name))
  const isTaken = (name: string): boolean => names.has(name) || isReservedIndexName(name)
  const found = customResourceIndexes({ typeName, version, isTaken, at })
  problems.push(...found.problems)
  return [...known, ...found.indexes]
}

/** Whether a kind has a field of its own, by type name and the field's name in GraphQL. */
function ownFields(
  kinds: ReadonlyMap<string, BareKind>,
  definitions: Definitions,
): (typeName: string, field: string) => boolean {
  const native = new Map<BareKind, ReadonlySet<string>>()
  return (typeName, field) => {
    const kind = kinds.get(typeName)
    if (kind === undefined) return false
    let fields = native.get(kind)
    if (fields === undefined) {
      fields = new Set(nativePropertiesOf(kind, definitions).map(graphqlNameOf))
      native.set(kind, fields)
    }
    return isInjectedField(field, kind.resource) || fields.has(field)
  }
}

/** From each namespaced kind to its Namespace, and back to those of the kind, unless a field of every kind has the name. */
function namespaceOf({ typeName, listField, resource }: BareKind): readonly RelationField[] {
  if (!resource.namespaced) return []
  const [name, from, to] = ['namespace', typeName, 'Namespace']
  const paths = ['metadata.namespace']
  const definition = { form: 'reference', name, from, to, paths, many: false } as const
  const up = { definition, many: false, description: 'The namespace that the object is in.' }
  if (isInjectedField(listField, { ...resource, namespaced: false })) return [up]
  const of = `${from}.${name}`
  const back = { form: 'reverse', name: listField, from: to, to: from, of } as const
  return [up, { definition: back, many: true }]
}

function eventsOf(typeName: string): NonNullable<Kind['events']> {
  return {
    definition: { form: 'events', name: 'events', from: typeName, to: 'Event' },
    many: true,
  }
}
