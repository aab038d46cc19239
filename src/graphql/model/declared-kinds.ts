import type { CodedError } from '../../lib/coded-error.ts'
import type { EndedRule } from '../../query/index/index-definition.ts'
import { type ReferenceOfAnyKind, relationName } from '../../query/relation/relation.ts'
import { relationDirectives } from '../../query/relation/relations.ts'
import type { RelationDeclaration, TypeExtension } from '../sdl/sdl-document.ts'
import { pathProblem, type SdlError } from '../sdl/sdl-error.ts'
import { customResourceIndexes } from './custom-resource-indexes.ts'
import { functionIndexes, type IndexFunctions, unknownListFields } from './index-functions.ts'
import { inferredReferences, referencedByOf } from './inferred-references.ts'
import {
  type BareKind,
  type ChosenObjects,
  everyKindType,
  type Kind,
  type PolymorphicRelationField,
  type RelationField,
  usedByField,
} from './kind.ts'
import {
  isInjectedField,
  KindCatalog,
  type KindCatalogOptions,
  namespaceField,
} from './kind-catalog.ts'
import { PolymorphicRelations } from './polymorphic-relations.ts'
import { isReservedIndexName, SdlIndexes } from './sdl-indexes.ts'
import { SdlObjectRefs } from './sdl-object-refs.ts'
import { SdlRelations } from './sdl-relations.ts'
import { SdlUses } from './sdl-uses.ts'
import type { DormantDeclaration } from './unknown-types.ts'

/** The kinds, and the declarations for them. */
export interface DeclaredKindsOptions extends KindCatalogOptions {
  readonly extensions: readonly TypeExtension[]
  readonly indexFunctions: IndexFunctions
  /** Whether references of custom kinds are inferred from the names of their fields. */
  readonly inferReferences: boolean
}

/** The kinds with their indexes and relations. */
export interface DeclaredKinds {
  readonly kinds: readonly Kind[]
  /** The problems of the declarations. */
  readonly problems: readonly CodedError[]
  /** The declarations that wait for kinds which are not served yet. */
  readonly dormant: readonly DormantDeclaration[]
  /** The references to objects of any kind that `@reverse` may name. */
  readonly ofAnyKind: readonly ReferenceOfAnyKind[]
}

/** Adds the declared, inferred and given indexes and relations to the kinds. Yields between kinds. */
export function* declaredKinds(options: DeclaredKindsOptions): Generator<void, DeclaredKinds> {
  const { kinds, indexFunctions } = options
  const catalog = new KindCatalog(options)
  const problems: CodedError[] = [...unknownTargets(options.extensions, catalog)]
  const written = options.extensions.flatMap((extension) =>
    extension.typeName === everyKindType ? ofEachKind(extension, catalog) : [extension],
  )
  const infer = (of: readonly BareKind[]): readonly TypeExtension[] =>
    options.inferReferences ? inferredFor(of, catalog, written) : []
  const inferred = infer(kinds)
  const uses = new SdlUses(written, catalog, infer(catalog.leftOut))
  problems.push(...uses.problems)
  const extensions = [...written, ...uses.extensions]
  const known = [...extensions, ...inferred].filter(({ typeName, optional, place }) => {
    if (catalog.has(typeName)) return true
    if (optional || catalog.isLeftOut(typeName)) return false
    const message = `there is no type ${typeName} of a kind`
    const problem = catalog.unknown.problem(typeName, place, message)
    if (problem !== undefined) problems.push(problem)
    return false
  })
  const ofType = Map.groupBy(known, ({ typeName }) => typeName)
  yield
  const lists = new Set(kinds.map(({ listField }) => listField))
  problems.push(...unknownListFields(indexFunctions, (field) => lists.has(field)))
  const indexes = new Map<string, Kind['indexes']>()
  for (const kind of kinds) {
    const own = ofType.get(kind.typeName) ?? []
    indexes.set(kind.typeName, indexesOf(kind, catalog, own, indexFunctions, problems))
    yield
  }
  const hasEvents = catalog.get('Event')?.resource.group === ''
  const hasNamespaces = catalog.get('Namespace')?.resource.group === ''
  const relations = new SdlRelations(catalog, {
    given: [
      ...(hasNamespaces ? kinds.flatMap(namespaceOf) : []),
      ...(catalog.has(definitionType) ? kinds.flatMap((kind) => definitionOf(kind, catalog)) : []),
    ],
    written: [...extensions, ...inferred],
    events: hasEvents ? kinds.map(({ typeName }) => eventsOf(typeName)) : [],
  })
  problems.push(...(yield* relations.addAll(known)))
  const objectRefs = new SdlObjectRefs(catalog, relations)
  problems.push(...objectRefs.addAll(known))
  const polymorphic = new PolymorphicRelations(known, catalog, relations)
  const polymorphicOf = ({ typeName }: BareKind): readonly PolymorphicRelationField[] => {
    const isTaken = catalog.hasField(typeName, 'referencedBy')
    const by = isTaken ? undefined : referencedByOf(typeName, inferred, relations)
    return [
      ...polymorphic.of(typeName),
      ...(typeName === definitionType ? [instancesOf(polymorphic)] : []),
      ...(by === undefined ? [] : [by]),
    ]
  }
  const usersByKind = usersOf(
    kinds.flatMap(({ typeName }) => relations.of(typeName)),
    relations.ofAnyKind,
    polymorphic.usedChoices,
  )
  yield
  const endedProblems: SdlError[] = []
  const declared = kinds.map((kind): Kind => {
    const { typeName } = kind
    const ended = endedRuleOf(typeName, ofType.get(typeName) ?? [], endedProblems)
    return {
      ...kind,
      indexes: indexes.get(typeName) ?? [],
      relations: relations.of(typeName).filter(({ isHidden }) => !isHidden),
      uses: relations.of(typeName).filter(({ isHidden }) => isHidden),
      objectRefs: objectRefs.of(typeName),
      polymorphic: polymorphicOf(kind),
      usedBy: usersByKind.get(typeName) ?? [],
      leftOutUsers: uses.leftOutUsers(typeName),
      ...(ended === undefined ? {} : { ended }),
      ...(hasEvents ? { events: eventsOf(typeName) } : {}),
    }
  })
  return {
    kinds: declared,
    problems: [...problems, ...polymorphic.problems, ...endedProblems],
    dormant: catalog.unknown.dormant,
    ofAnyKind: relations.ofAnyKind,
  }
}

/**
 * The unknown types among the targets of the user's declarations of every kind. They are reported once; afterwards each
 * kind passes the declarations over that do not fit it.
 */
function unknownTargets(
  extensions: readonly TypeExtension[],
  catalog: KindCatalog,
): readonly SdlError[] {
  return extensions
    .filter(({ typeName, optional }) => typeName === everyKindType && !optional)
    .flatMap(({ relations }) => relations)
    .flatMap(({ name, type, place, directive }) => {
      const target = type.replace(/Connection$/, '')
      const isKnown = target === everyKindType || catalog.has(target) || catalog.isLeftOut(target)
      if (isKnown || !relationDirectives.has(directive)) return []
      const message = `${everyKindType}.${name}: there is no type ${type}`
      return catalog.unknown.problem(target, place, message) ?? []
    })
}

/** A declaration of every kind as one of each kind that it fits. */
function ofEachKind(extension: TypeExtension, catalog: KindCatalog): readonly TypeExtension[] {
  const fits = (kind: BareKind, { name, arguments: args }: RelationDeclaration): boolean => {
    if (catalog.hasField(kind.typeName, name)) return false
    const { category } = args as { readonly category?: readonly string[] | null }
    const own = catalog.customResourceOf(kind)?.categories ?? []
    return !category || own.some((one) => category.includes(one))
  }
  return catalog.kinds.flatMap((kind) => {
    const relations = extension.relations.filter((relation) => fits(kind, relation))
    // A kind whose schema lacks the paths passes the declaration over: it is optional.
    return relations.length === 0
      ? []
      : [{ ...extension, typeName: kind.typeName, optional: true, indexes: [], relations }]
  })
}

/** The inferred references of custom kinds. A declared relation of the same name wins. */
function inferredFor(
  kinds: readonly BareKind[],
  catalog: KindCatalog,
  declared: readonly TypeExtension[],
): readonly TypeExtension[] {
  const names = new Set(
    declared.flatMap(({ typeName, relations }) =>
      relations.map(({ name }) => `${typeName}.${name}`),
    ),
  )
  return kinds
    .filter((kind) => catalog.customResourceOf(kind) !== undefined)
    .map((kind) => {
      const extension = inferredReferences(kind, catalog)
      const isNew = ({ name }: RelationDeclaration): boolean =>
        !names.has(`${kind.typeName}.${name}`)
      return { ...extension, relations: extension.relations.filter(isNew) }
    })
}

function indexesOf(
  kind: BareKind,
  catalog: KindCatalog,
  extensions: readonly TypeExtension[],
  functions: IndexFunctions,
  problems: CodedError[],
): Kind['indexes'] {
  const { typeName } = kind
  const declared = new SdlIndexes(kind, catalog)
  for (const { optional, indexes } of extensions) {
    for (const declaration of indexes) {
      const problem = declared.add(declaration)
      // The package declares indexes of Secrets that a metadata-only cache cannot have.
      const isExpected = optional && kind.metadataOnly && problem?.problem === 'unknown-field'
      if (problem !== undefined && !isExpected) problems.push(problem)
    }
  }
  const made = functionIndexes(kind, functions, (name) => declared.has(name))
  problems.push(...made.problems)
  const known = [...declared.definitions(), ...made.indexes]
  const version = catalog.customResourceOf(kind)
  if (version === undefined) return known
  const names = new Set(known.map(({ name }) => name))
  const found = customResourceIndexes({
    typeName,
    version,
    isTaken: (name) => names.has(name) || isReservedIndexName(name),
    at: (path) => catalog.at(typeName, path),
  })
  problems.push(...found.problems)
  return [...known, ...found.indexes]
}

/**
 * The relation of a namespaced kind to its Namespace, and the reverse one of the Namespace unless a field of every kind has
 * its name.
 */
function namespaceOf({ typeName, listField, resource }: BareKind): readonly RelationField[] {
  if (!resource.namespaced) return []
  const [name, from, to] = [namespaceField, typeName, 'Namespace']
  const paths = ['metadata.namespace']
  const definition = { form: 'reference', name, from, to, paths, many: false } as const
  const up = { definition, many: false, description: 'The namespace that the object is in.' }
  if (isInjectedField(listField, { ...resource, namespaced: false })) return [up]
  const of = `${from}.${name}`
  const back = { form: 'reverse', name: listField, from: to, to: from, of } as const
  return [up, { definition: back, many: true, description: `Every ${from} in the namespace.` }]
}

const definitionType = 'CustomResourceDefinition'

/** The relation of a custom kind to its CRD. */
function definitionOf(kind: BareKind, catalog: KindCatalog): readonly RelationField[] {
  const crd = catalog.customResourceOf(kind)
  if (crd === undefined || catalog.hasField(kind.typeName, 'definition')) return []
  const [name, from, to] = ['definition', kind.typeName, definitionType]
  const only = crd.definition
  const definition = { form: 'reference', name, from, to, paths: [], only, many: false } as const
  return [{ definition, many: false, description: 'The definition of the kind.' }]
}

/** The relation of a CRD to the objects of its kind. */
function instancesOf(polymorphic: PolymorphicRelations): PolymorphicRelationField {
  const relations = polymorphic.reversesOf('instances', definitionType, 'definition')
  return { name: 'instances', relations, description: 'The objects of the kind that it defines.' }
}

function eventsOf(typeName: string): RelationField {
  return {
    definition: { form: 'events', name: 'events', from: typeName, to: 'Event' },
    many: true,
  }
}

/**
 * The reverse of each use, by the type of the used objects. References to any kind, and choices, count for the types
 * that others use, too.
 */
function usersOf(
  relations: readonly RelationField[],
  ofAnyKind: readonly ReferenceOfAnyKind[],
  choices: readonly ChosenObjects[],
): ReadonlyMap<string, readonly RelationField[]> {
  const uses = relations.flatMap(({ definition }) =>
    (definition.form === 'reference' || definition.form === 'numbered') && definition.uses === true
      ? [definition]
      : [],
  )
  const anyUses = ofAnyKind.filter((one) => one.uses === true)
  const byType = Array.from(
    Map.groupBy(uses, ({ to }) => to),
    ([from, users]) => {
      const reverses = [...users, ...anyUses].map((user): RelationField => {
        const of = relationName(user)
        const name = `${usedByField}(${of})`
        return { definition: { form: 'reverse', name, from, to: user.from, of }, many: true }
      })
      const choosers = choices.map(({ field, path, relation, kindPath }): RelationField => {
        const name = `${usedByField}(${field})`
        const { from: to } = relation.definition
        const kindRelation = relationName(relation.definition)
        const places = { path: path.text, kindRelation, kindPath: kindPath.text }
        return { definition: { form: 'chooser', name, from, to, field, ...places }, many: true }
      })
      return [from, [...reverses, ...choosers]] as const
    },
  )
  return new Map(byType)
}

/** The `@ended` of a type. The last one wins, so that the user's SDL wins over the package's. */
function endedRuleOf(
  type: string,
  extensions: readonly TypeExtension[],
  problems: SdlError[],
): EndedRule | undefined {
  let rule: EndedRule | undefined
  for (const { ended } of extensions) {
    if (ended === undefined) continue
    const { path: paths, in: values } = ended.arguments
    const [problem] = paths.flatMap(
      (path) => pathProblem(path, ended.place, `@ended of ${type}`) ?? [],
    )
    if (problem === undefined) rule = { type, paths, values }
    else problems.push(problem)
  }
  return rule
}
