/*
 * The kinds with their declarations: from the package's SDL, the user's SDL, the names of fields of custom kinds
 * (`inferred-references.ts`), and the facts that every cluster has namespaces, Events and CRDs. First, declarations of
 * every kind become declarations of each kind that they fit, and `@uses` becomes references without a field. Then come
 * the indexes (`declared-indexes.ts`) and the relations (`declared-relations.ts`). Finally each kind learns which
 * references and selectors lead to it: these are its `usedBy`. An unreadable declaration is left out, and becomes a problem.
 */

import type { CodedError } from '../../lib/coded-error.ts'
import type { EndedRule } from '../../query/index/index-definition.ts'
import { type ReferenceOfAnyKind, relationName } from '../../query/relation/relation.ts'
import { relationDirectives } from '../../query/relation/relations.ts'
import type { RelationDeclaration, TypeExtension, TypeDeclaration } from '../sdl/sdl-document.ts'
import { pathProblem, SdlError, unknownFieldHint } from '../sdl/sdl-error.ts'
import { IndexFunctionError, indexesOf, type IndexFunctions } from './declared-indexes.ts'
import { amongOf, DeclaredRelations } from './declared-relations.ts'
import { inferredReferences, referencedByOf } from './inferred-references.ts'
import {
  type Among,
  type BareKind,
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
  type DormantDeclaration,
} from './kind-catalog.ts'

export interface DeclaredKindsOptions extends KindCatalogOptions {
  readonly extensions: readonly TypeExtension[]
  readonly indexFunctions: IndexFunctions
  /** Whether references of custom kinds are inferred from the names of their fields. */
  readonly inferReferences: boolean
}

export interface DeclaredKinds {
  readonly kinds: readonly Kind[]
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
  for (const listField of Object.keys(indexFunctions)) {
    if (lists.has(listField)) continue
    const hint = 'use the name of a list, such as `pods`; is its CRD installed?'
    problems.push(new IndexFunctionError(listField, 'there is no list of this name', hint))
  }
  const indexes = new Map<string, Kind['indexes']>()
  for (const kind of kinds) {
    const own = ofType.get(kind.typeName) ?? []
    indexes.set(kind.typeName, indexesOf(kind, catalog, own, indexFunctions, problems))
    yield
  }
  const hasEvents = catalog.get('Event')?.resource.group === ''
  const hasNamespaces = catalog.get('Namespace')?.resource.group === ''
  const relations = new DeclaredRelations(catalog, {
    given: [
      ...(hasNamespaces ? kinds.flatMap(namespaceOf) : []),
      ...(catalog.has(definitionType) ? kinds.flatMap((kind) => definitionOf(kind, catalog)) : []),
    ],
    written: [...extensions, ...inferred],
    events: hasEvents ? kinds.map(({ typeName }) => eventsOf(typeName)) : [],
  })
  yield* relations.addAll(known)
  const usersByKind = usersOf(kinds, relations, catalog)
  const polymorphicOf = (typeName: string): readonly PolymorphicRelationField[] => {
    const isTaken = catalog.hasField(typeName, 'referencedBy')
    const users = (usersByKind.get(typeName) ?? []).flatMap((field) =>
      field.definition.form === 'reverse' ? [[field.definition.of, field] as const] : [],
    )
    const by = isTaken ? undefined : referencedByOf(typeName, inferred, relations, new Map(users))
    const instances = (): PolymorphicRelationField => ({
      name: 'instances',
      relations: relations.reversesOf('instances', definitionType, 'definition'),
      description: 'The objects of the kind that it defines.',
    })
    return [
      ...relations.polymorphicOf(typeName),
      ...(typeName === definitionType ? [instances()] : []),
      ...(by === undefined ? [] : [by]),
    ]
  }
  yield
  const endedProblems: SdlError[] = []
  const declared: Kind[] = []
  for (const kind of kinds) {
    const { typeName } = kind
    const ended = endedRuleOf(typeName, ofType.get(typeName) ?? [], endedProblems)
    declared.push({
      ...kind,
      indexes: indexes.get(typeName) ?? [],
      relations: relations.of(typeName).filter(({ isHidden }) => !isHidden),
      uses: relations.of(typeName).filter(({ isHidden }) => isHidden),
      objectRefs: relations.objectRefsOf(typeName),
      polymorphic: polymorphicOf(typeName),
      usedBy: usersByKind.get(typeName) ?? [],
      leftOutUsers: uses.leftOutUsers(kind),
      ...(ended === undefined ? {} : { ended }),
      ...(hasEvents ? { events: eventsOf(typeName) } : {}),
    })
    yield
  }
  return {
    kinds: declared,
    problems: [...problems, ...relations.problems, ...endedProblems],
    dormant: catalog.unknown.dormant,
    ofAnyKind: relations.ofAnyKind,
  }
}

/**
 * The unknown types among the targets of the user's declarations of every kind, reported once. After that, each kind
 * passes over the declarations that do not fit it.
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

/** Turns a declaration of every kind into declarations of each kind that it fits. */
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

/**
 * The relation of a namespaced kind to its Namespace, and the reverse relation unless a field of every kind has its name.
 */
function namespaceOf({ typeName, listField, resource }: BareKind): readonly RelationField[] {
  if (!resource.namespaced) return []
  const [name, from, to] = [namespaceField, typeName, 'Namespace']
  const paths = ['metadata.namespace']
  const definition = { form: 'reference', name, from, to, paths, many: false, uses: false } as const
  const up = { definition, many: false, description: 'The namespace that the object is in.' }
  if (isInjectedField(listField, { ...resource, namespaced: false })) return [up]
  const of = `${from}.${name}`
  const back = { form: 'reverse', name: listField, from: to, to: from, of } as const
  return [up, { definition: back, many: true, description: `Every ${from} in the namespace.` }]
}

const definitionType = 'CustomResourceDefinition'

function definitionOf(kind: BareKind, catalog: KindCatalog): readonly RelationField[] {
  const crd = catalog.customResourceOf(kind)
  if (crd === undefined || catalog.hasField(kind.typeName, 'definition')) return []
  const [name, from, to] = ['definition', kind.typeName, definitionType]
  const only = crd.definition
  const definition = { form: 'reference', name, from, to, paths: [], only, many: false } as const
  return [{ definition, many: false, description: 'The definition of the kind.' }]
}

function eventsOf(typeName: string): RelationField {
  return {
    definition: { form: 'events', name: 'events', from: typeName, to: 'Event' },
    many: true,
  }
}

/** The reverse of each reference and selector, by the type of the used objects. */
function usersOf(
  kinds: readonly BareKind[],
  relations: DeclaredRelations,
  catalog: KindCatalog,
): ReadonlyMap<string, readonly RelationField[]> {
  const uses = Map.groupBy(
    kinds
      .flatMap(({ typeName }) => relations.of(typeName))
      .flatMap(({ definition }) => (isUse(definition) ? [definition] : [])),
    ({ to }) => to,
  )
  const ofAnyKind = relations.usesOfAnyKind
  const users = kinds.map((kind): [string, readonly RelationField[]] => {
    const from = kind.typeName
    const anyUses = ofAnyKind.filter((one) =>
      isAmong(relations.amongOf(relationName(one)), kind, catalog),
    )
    const reverses = [...(uses.get(from) ?? []), ...anyUses].map((user): RelationField => {
      const of = relationName(user)
      const name = `${usedByField}(${of})`
      return { definition: { form: 'reverse', name, from, to: user.from, of }, many: true }
    })
    const choices = relations.choices.filter(({ among }) => isAmong(among, kind, catalog))
    const choosers = choices.map(({ field, path, relation, kindPath }): RelationField => {
      const name = `${usedByField}(${field})`
      const { from: to } = relation.definition
      const kindRelation = relationName(relation.definition)
      const places = { path: path.text, kindRelation, kindPath: kindPath.text }
      return { definition: { form: 'chooser', name, from, to, field, ...places }, many: true }
    })
    return [from, [...reverses, ...choosers]]
  })
  return new Map(users)
}

/** Whether objects with a relation use those that it leads to: whether they name or select them. */
function isUse(definition: RelationField['definition']): boolean {
  switch (definition.form) {
    case 'reference':
    case 'numbered':
    case 'selects':
      return definition.uses !== false
    default:
      return false
  }
}

/** Whether `usedBy` of a kind counts references to any kind of these. */
function isAmong(among: Among | undefined, kind: BareKind, catalog: KindCatalog): boolean {
  return (
    among?.some((one) => {
      if (one === 'scalable') return kind.resource.subresources?.includes('scale') === true
      if (one === 'custom') return catalog.customResourceOf(kind) !== undefined
      if (one.endsWith('*')) return kind.typeName.startsWith(one.slice(0, -1))
      return one === kind.typeName
    }) ?? true
  )
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

/** What objects of a type use: a `@reference`, `@named`, `@selects`, `@objectRef` or `@chooses`, or an `@uses`. */
interface Use {
  readonly declaration: RelationDeclaration
  /** The types of the used objects; `undefined`: any. */
  readonly to: Among | undefined
}

/**
 * Reads every `@uses` as references without a field. Also finds the users that the profile leaves out of the schema.
 */
class SdlUses {
  readonly extensions: readonly TypeExtension[]
  readonly problems: readonly SdlError[]
  readonly #byType: ReadonlyMap<string, readonly TypeExtension[]>
  readonly #catalog: KindCatalog
  /** The uses of kinds that the profile leaves out, by type. */
  readonly #leftOut = new Map<string, readonly Use[]>()

  /** `inferredOfLeftOut` are the inferred references of the kinds that the profile leaves out. */
  constructor(
    written: readonly TypeExtension[],
    catalog: KindCatalog,
    inferredOfLeftOut: readonly TypeExtension[],
  ) {
    this.#catalog = catalog
    this.#byType = Map.groupBy(written, ({ typeName }) => typeName)
    const problems: SdlError[] = []
    this.extensions = written.flatMap((extension) => {
      const { typeName, optional, uses = [] } = extension
      if (!catalog.has(typeName)) return []
      return uses.map((use): TypeExtension => {
        const relations = this.#hidden(use, typeName, [typeName]).map(
          ({ declaration }) => declaration,
        )
        const problem = optional ? undefined : useProblem(use, typeName, relations, catalog)
        if (problem !== undefined) {
          problems.push(problem)
          relations.length = 0
        }
        // With `as`, only those paths of the other type count that this type has.
        const isOptional = optional || Boolean(use.arguments.as)
        return { place: use.place, typeName, optional: isOptional, indexes: [], relations }
      })
    })
    this.problems = problems
    for (const [typeName] of this.#byType) {
      if (catalog.has(typeName) || !catalog.isLeftOut(typeName)) continue
      this.#leaveOut(typeName, this.#usesOf(typeName, [typeName]))
    }
    for (const { typeName, relations } of inferredOfLeftOut) {
      const inferred = relations.flatMap((declaration) => this.#useIn(declaration) ?? [])
      this.#leaveOut(typeName, inferred)
    }
  }

  #leaveOut(typeName: string, uses: readonly Use[]): void {
    this.#leftOut.set(typeName, [...(this.#leftOut.get(typeName) ?? []), ...uses])
  }

  /** The kinds that may use objects of a type, but that the profile leaves out of the schema. */
  leftOutUsers(kind: BareKind): readonly string[] {
    const users = [...this.#leftOut].flatMap(([typeName, uses]) =>
      uses.some(({ to }) => isAmong(to, kind, this.#catalog)) ? [typeName] : [],
    )
    return users.toSorted()
  }

  #usesOf(typeName: string, open: readonly string[]): readonly Use[] {
    return (this.#byType.get(typeName) ?? []).flatMap(({ relations, uses = [] }) => [
      ...relations.flatMap((declaration) => this.#useIn(declaration) ?? []),
      ...uses.flatMap((use) => this.#hidden(use, typeName, open)),
    ])
  }

  /** A field as a use, with the arguments of the `@reference` that it takes its paths from. */
  #useIn(declaration: RelationDeclaration): Use | undefined {
    const { directive, arguments: args, type } = declaration
    const { as, at, uses } = args
    if (uses === false) return undefined
    if (directive === 'objectRef' && (args['topmost'] || args['kindAt'])) return undefined
    if (directive === 'objectRef' || directive === 'chooses')
      return { declaration, to: amongOf(args) }
    if (!['reference', 'named', 'selects'].includes(directive)) return undefined
    const to = [type.replace(/Connection$/, '')]
    if (typeof as !== 'string') return { declaration, to }
    const [otherType = '', field] = as.split('.')
    const other = (this.#byType.get(otherType) ?? [])
      .flatMap(({ relations }) => relations)
      .find(({ name }) => name === field)
    if (other === undefined || (uses ?? other.arguments['uses']) === false) return undefined
    return { declaration: { ...declaration, arguments: moved(other.arguments, at) }, to }
  }

  /** The references of an `@uses`. A circle of `as` ends at the first type that is read already. */
  #hidden(
    { place, arguments: args }: TypeDeclaration<'uses'>,
    typeName: string,
    open: readonly string[],
  ): readonly Use[] {
    const { kind, as, at, namespace, path, ...rest } = args
    if (as) {
      if (open.includes(as)) return []
      const taken = new Set(
        (this.#byType.get(typeName) ?? []).flatMap(({ relations }) =>
          relations.flatMap(({ arguments: own }) =>
            own['at'] === at && own['uses'] !== false ? [own['as']] : [],
          ),
        ),
      )
      return this.#usesOf(as, [...open, as]).flatMap(({ declaration, to }) => {
        const { name, type, directive } = declaration
        if (!['reference', 'objectRef'].includes(directive) || taken.has(`${as}.${name}`)) return []
        const own = {
          place,
          name: `uses(${as}.${name} at ${at ?? ''})`,
          type: directive === 'objectRef' ? type : `${to?.[0]}Connection`,
          isList: directive === 'objectRef',
          directive,
          arguments: moved(declaration.arguments, at),
          isHidden: true,
        } as const
        return [{ declaration: own, to }]
      })
    }
    if (!kind || !path) return []
    const names = path.map((one) => `{${one}}`)
    const where = namespace ? { path: [], names: { name: names, namespace } } : { path, ...rest }
    const declaration = {
      place,
      name: `uses(${kind} at ${path.join()})`,
      type: `${kind}Connection`,
      isList: false,
      directive: 'reference',
      arguments: where,
      isHidden: true,
    } as const
    return [{ declaration, to: [kind] }]
  }
}

const pathArguments = ['path', 'namespacePath', 'kindPath', 'groupPath']

/** The arguments of a `@reference` or `@objectRef`, with its paths moved below another path, if any. That drops composed names. */
function moved(
  args: RelationDeclaration['arguments'],
  at: unknown,
): RelationDeclaration['arguments'] {
  if (typeof at !== 'string') return args
  const below = (name: string, value: unknown): unknown =>
    pathArguments.includes(name) && Array.isArray(value)
      ? value.map((path) => `${at}.${path}`)
      : value
  const entries = Object.entries(args).filter(([name]) => name !== 'names')
  return Object.fromEntries(entries.map(([name, value]) => [name, below(name, value)]))
}

function useProblem(
  { place, arguments: { kind, path, as, at } }: TypeDeclaration<'uses'>,
  typeName: string,
  relations: readonly RelationDeclaration[],
  catalog: KindCatalog,
): SdlError | undefined {
  const isOther = Boolean(as) && !kind && !path
  const isOwn = Boolean(kind) && Boolean(path) && !as && !at
  if (!isOther && !isOwn) {
    const message = `@uses of ${typeName} needs kind and path, or as`
    return new SdlError(
      'unsupported',
      place,
      message,
      'write @uses(kind: "Secret", path: "spec.x")',
    )
  }
  if (as && !catalog.has(as) && !catalog.isLeftOut(as)) {
    return catalog.unknown.problem(as, place, `@uses of ${typeName}: there is no type ${as}`)
  }
  const paths = relations.flatMap(({ arguments: args }) => (args['path'] as string[] | null) ?? [])
  const isAbsent = (one: string): boolean => catalog.at(typeName, one).form === 'absent'
  if (at ? isAbsent(at) : as && paths.every(isAbsent)) {
    const message = `@uses of ${typeName}: it has nothing at ${at || `any path of ${as}`}`
    return new SdlError('unknown-field', place, message, unknownFieldHint)
  }
  return undefined
}
