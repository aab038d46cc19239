/*
 * Relations to the objects that an object names: by name (`@reference`, `@named`), by a name with any number at its end
 * (`@named` with `#`), or by UID (`@uid`). Forwards, a relation reads the names from an index of the referring store, if that
 * has it, or else from the object. Backwards, it looks up the key or the UID of an object in that index.
 */

import type { Indexers, IndexFunction } from '../../informer/store/store-view.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import { type Condition, everything, hasKey, hasValue, nothing } from '../condition/condition.ts'
import { parsePath, valuesAt } from '../index/path.ts'
import { parseNameTemplate, pathsInBraces, stemOf } from './name-template.ts'
import {
  keysByRule,
  type NameRule,
  referencedKeys,
  type ReferenceRelation,
} from './referenced-keys.ts'
import {
  codeOf,
  type Declaration,
  originObject,
  type ReferenceOfAnyKind,
  type Relation,
  type RelationBase,
  type RelationContext,
  type RelationForm,
  relationName,
  type RelationOrigin,
  type ReverseRelation,
} from './relation.ts'

/** The object refers to others by a rule that ends in any number: `StatefulSet.persistentVolumeClaims`. */
export interface NumberedRelation extends RelationBase {
  readonly form: 'numbered'
  readonly names: NameRule
  /** As in a {@link ReferenceRelation}. */
  readonly uses?: false
}

/** The object refers to others by UID: `EndpointSlice.pods` by `endpoints[*].targetRef.uid`. */
export interface UidRelation extends RelationBase {
  readonly form: 'uid'
  readonly paths: readonly string[]
  readonly many: boolean
}

export const referenceForm: RelationForm<ReferenceRelation> = {
  directives: { reference: { read: referenceOf }, named: { read: namedOf } },
  compile: compileReference,
  compileReverse: compileReverseReference,
  staysInNamespace: ({ namespacePaths, pattern, refPaths = [], names }) =>
    namespacePaths === undefined &&
    pattern === undefined &&
    refPaths.length === 0 &&
    isOwnNamespace(names),
  isVague: ({ paths }) => paths[0] === 'metadata.namespace',
  words: ({ paths, names }) => namedAt([...paths, ...(names?.templates ?? [])]),
  wordsBack: ({ paths, names, to }) => namingAt([...paths, ...(names?.templates ?? [])], to),
}

/** Both sides are indexed by the part of the name before the number. */
export const numberedForm: RelationForm<NumberedRelation> = {
  compile: compileNumbered,
  compileReverse: compileReverseNumbered,
  staysInNamespace: ({ names }) => isOwnNamespace(names),
  words: ({ names }) => namedAt(names.templates),
  wordsBack: ({ names, to }) => namingAt(names.templates, to),
}

export const uidForm: RelationForm<UidRelation> = {
  directives: { uid: { read: uidOf } },
  compile: (definition) =>
    forwards(definition, uidIndexOf(definition), (uids) => hasValue('uid', uids)),
  compileReverse: (definition, reference) =>
    backwards(definition, uidIndexOf(reference), ({ view, id }) => view.index('uid').valuesOf(id)),
  staysInNamespace: () => false,
  words: ({ paths }) => `whose UID it has in ${codeOf(paths)}`,
  wordsBack: ({ paths, to }) => `that has the UID of this ${to} in ${codeOf(paths)}`,
}

function isOwnNamespace({ namespace, namespacePath }: Partial<NameRule> = {}): boolean {
  return namespace === undefined && namespacePath === undefined
}

/** Words for the objects that an object names at these places. */
function namedAt(places: readonly string[]): string {
  if (isSameName(places)) return 'with the same name'
  if (places.length === 0) return 'that it names'
  return places.length === 1 ? `that ${codeOf(places)} names` : `that it names in ${fewOf(places)}`
}

/** Words for the objects that name one at these places. */
function namingAt(places: readonly string[], to: string): string {
  if (isSameName(places)) return 'with the same name'
  if (places.length === 0) return `that names this ${to}`
  return places.length === 1
    ? `whose ${codeOf(places)} names this ${to}`
    : `that names this ${to} in ${fewOf(places)}`
}

/** Pods name Secrets in 18 places: a description has room for three. */
function fewOf(places: readonly string[]): string {
  const [shown, further] = [places.slice(0, 3), places.length - 3]
  return further > 0 ? `${codeOf(shown)} and ${further} more` : codeOf(shown)
}

function isSameName([place, ...further]: readonly string[]): boolean {
  return place === '{metadata.name}' && further.length === 0
}

interface NamedArguments {
  readonly name: readonly string[]
  readonly namespace?: string | null
  readonly namespacePath?: string | null
  readonly uses?: boolean | null
}

interface ReferenceArguments {
  readonly path?: readonly string[] | null
  readonly namespacePath?: readonly string[] | null
  readonly kindPath?: readonly string[] | null
  readonly groupPath?: readonly string[] | null
  readonly defaultKind?: boolean | null
  readonly as?: string | null
  readonly at?: string | null
  readonly otherwise?: string | null
  readonly uses?: boolean | null
  /** The argument of `@uses`. */
  readonly namespaceOtherwise?: string | null
  /** The argument of `@uses`. */
  readonly pattern?: string | null
  /** The arguments of the `@named` beside it. */
  readonly names?: NamedArguments
}

/** The relation of a `@reference`, with the `@named` beside it. */
function referenceOf(args: ReferenceArguments, declaration: Declaration): ReferenceRelation {
  const { name, from, to, many } = declaration
  const { path, namespacePath, kindPath, groupPath, defaultKind, otherwise, uses } = pathsOf(
    args,
    declaration,
  )
  if (otherwise && args.names !== undefined) {
    throw unsupported(declaration, 'otherwise beside @named', 'leave one of them out')
  }
  const rule = otherwise ? { name: [otherwise] } : args.names
  const names = rule === undefined ? undefined : nameRuleOf(rule)
  const reference: ReferenceRelation = {
    form: 'reference',
    name,
    from,
    to,
    paths: path ?? [],
    many,
    ...(namespacePath ? { namespacePaths: namespacePath } : {}),
    ...(kindPath ? { kindPaths: kindPath } : {}),
    ...(groupPath ? { groupPaths: groupPath } : {}),
    ...(defaultKind ? { isDefaultKind: true } : {}),
    ...(names === undefined ? {} : { names }),
    ...(otherwise ? { isOtherwise: true } : {}),
    ...(args.namespaceOtherwise ? { namespaceOtherwise: args.namespaceOtherwise } : {}),
    ...(args.pattern ? { pattern: args.pattern } : {}),
    ...(uses === false ? { uses } : {}),
  }
  if (args.pattern?.includes('{name}') === false) {
    const hint = 'write it as system:serviceaccount:{namespace}:{name}'
    throw unsupported(declaration, 'a pattern without {name}', hint)
  }
  if (groupPath && !kindPath) {
    throw unsupported(declaration, 'groupPath without kindPath', 'give both, or neither')
  }
  compileReference(reference, { isNamespaced: () => true })
  const templates = (names?.templates ?? []).map((text) => parseNameTemplate(text))
  if (templates.some(({ isNumbered }) => isNumbered)) {
    const what = 'a number at the end of a name beside a @reference'
    throw unsupported(declaration, what, 'write @named alone, or leave the # out')
  }
  if (reference.paths.some((text) => parsePath(text).many) || templates.some((one) => one.many))
    declaration.needConnection()
  return withPresentPaths(reference, declaration)
}

/** The relation of a `@named` that stands alone. */
function namedOf(
  args: NamedArguments,
  declaration: Declaration,
): ReferenceRelation | NumberedRelation {
  const { name, from, to } = declaration
  const names = nameRuleOf(args)
  const templates = names.templates.map((text) => parseNameTemplate(text))
  const numbered = templates.filter(({ isNumbered }) => isNumbered)
  const { uses } = args
  if (numbered.length === 0)
    return referenceOf(
      { path: [], names: args, ...(uses === undefined ? {} : { uses }) },
      declaration,
    )
  if (numbered.length < templates.length) {
    const hint = 'end all of them in #, or none'
    throw unsupported(declaration, 'names with a number at the end beside others', hint)
  }
  declaration.needConnection()
  declaration.present(namePathsOf(names))
  return { form: 'numbered', name, from, to, names, ...(uses === false ? { uses } : {}) }
}

function uidOf(
  { path }: { readonly path: readonly string[] },
  declaration: Declaration,
): UidRelation {
  const { name, from, to, many } = declaration
  const isMany = path.map(parsePath).some((one) => one.many)
  if (isMany || path.length > 1) declaration.needConnection()
  const known = declaration.present(path)
  return { form: 'uid', name, from, to, paths: path.filter((text) => known.has(text)), many }
}

/** The arguments of a `@reference`. With `as`: the arguments of the relation that it names, with `at` before their paths. */
function pathsOf(args: ReferenceArguments, declaration: Declaration): ReferenceArguments {
  if (!args.as) {
    if (args.at) throw unsupported(declaration, 'at without as', 'name the relation by as, too')
    if (args.path || args.names !== undefined) return args
    throw unsupported(declaration, '@reference without a path', 'give it one, or as')
  }
  if (args.path) throw unsupported(declaration, 'path beside as', 'give one of them')
  const other: ReferenceArguments = declaration.argumentsOf(args.as) ?? {}
  if (!other.path) {
    const hint = 'correct the name, as in Pod.configMaps'
    const message = `${args.as} is no @reference with a path`
    throw declaration.fail('unknown-relation', message, hint)
  }
  const moved = (paths: readonly string[] | null | undefined): readonly string[] | null =>
    paths?.map((path) => (args.at ? `${args.at}.${path}` : path)) ?? null
  return {
    path: moved(other.path),
    namespacePath: moved(other.namespacePath),
    kindPath: moved(other.kindPath),
    groupPath: moved(other.groupPath),
    ...(other.defaultKind ? { defaultKind: true } : {}),
    ...(other.otherwise ? { otherwise: other.otherwise } : {}),
    uses: args.uses ?? other.uses ?? null,
  }
}

function withPresentPaths(
  reference: ReferenceRelation,
  declaration: Declaration,
): ReferenceRelation {
  const { paths, namespacePaths, kindPaths, groupPaths, names } = reference
  const known = declaration.present(paths)
  declaration.present([namespacePaths, kindPaths, groupPaths].flatMap((beside) => beside ?? []))
  if (names !== undefined) declaration.present(namePathsOf(names))
  const kept = (texts: readonly string[]): readonly string[] =>
    texts.filter((_, at) => known.has(paths[at] ?? ''))
  return {
    ...reference,
    paths: kept(paths),
    ...(namespacePaths === undefined ? {} : { namespacePaths: kept(namespacePaths) }),
    ...(kindPaths === undefined ? {} : { kindPaths: kept(kindPaths) }),
    ...(groupPaths === undefined ? {} : { groupPaths: kept(groupPaths) }),
  }
}

function nameRuleOf({ name, namespace, namespacePath }: NamedArguments): NameRule {
  return {
    templates: name,
    ...(namespace ? { namespace } : {}),
    ...(namespacePath ? { namespacePath } : {}),
  }
}

function namePathsOf({ templates, namespacePath }: NameRule): readonly string[] {
  const inBraces = templates.flatMap(pathsInBraces)
  return namespacePath === undefined ? inBraces : [...inBraces, namespacePath]
}

function unsupported(declaration: Declaration, what: string, hint: string): Error {
  return declaration.fail('unsupported', what, hint)
}

/** An index on the store of the referring type. It leads from referenced objects to the referring ones. */
interface ReferenceIndex {
  readonly name: string
  readonly valuesOf: IndexFunction
}

function compileReference(definition: ReferenceRelation, context: RelationContext): Relation {
  const { only, to } = definition
  if (only !== undefined) {
    return { definition, reads: [to], indexers: {}, follow: () => hasKey([only]) }
  }
  const index = keyIndexOf(definition, context)
  return { ...forwards(definition, index, hasKey), keysIndex: index.name }
}

function compileReverseReference(
  definition: ReverseRelation,
  reference: ReferenceRelation,
  context: RelationContext,
): Relation {
  const { only } = reference
  if (only !== undefined) {
    const follow = ({ view, id }: RelationOrigin): Condition =>
      view.keyOf(id) === only ? everything : nothing
    return { definition, reads: [definition.to], indexers: {}, only, follow }
  }
  const index = keyIndexOf(reference, context)
  return backwards(definition, index, ({ view, id }) => [view.keyOf(id)])
}

/** References to any kind, read backwards from the objects of one kind. */
export function compileReverseOfAnyKind(
  definition: ReverseRelation,
  reference: ReferenceOfAnyKind,
  context: RelationContext,
): Relation {
  return compileReverseReference(definition, referenceTo(definition.from, reference), context)
}

/** The references to one kind, among references to any kind. */
export function referenceTo(
  to: string,
  { from, name, paths }: ReferenceOfAnyKind,
): ReferenceRelation {
  const own = `${name}=${to}`
  return { form: 'reference', from, name: own, to, paths: [], refPaths: paths, many: true }
}

function forwards(
  definition: ReferenceRelation | UidRelation,
  { name, valuesOf }: ReferenceIndex,
  condition: (values: readonly string[]) => Condition,
): Relation {
  return {
    definition,
    reads: [definition.to],
    indexers: {},
    shortcuts: { [definition.from]: name === namespaceIndex ? {} : { [name]: valuesOf } },
    follow(origin) {
      const { view, id } = origin
      return condition(
        view.hasIndex(name) ? view.index(name).valuesOf(id) : valuesOf(originObject(origin)),
      )
    },
  }
}

function backwards(
  definition: ReverseRelation,
  { name, valuesOf }: ReferenceIndex,
  valuesOfOrigin: (origin: RelationOrigin) => readonly string[],
): Relation {
  return {
    definition,
    reads: [definition.to],
    indexers: { [definition.to]: name === namespaceIndex ? {} : { [name]: valuesOf } },
    follow: (origin) => hasValue(name, valuesOfOrigin(origin)),
  }
}

const namespaceIndex = 'namespace'

/** References to the own Namespace use the `namespace` index, which every store has. */
function keyIndexOf(reference: ReferenceRelation, context: RelationContext): ReferenceIndex {
  const { paths, to } = reference
  const isOwn = paths.length === 1 && paths[0] === 'metadata.namespace' && !context.isNamespaced(to)
  const name = isOwn ? namespaceIndex : `ref:${relationName(reference)}`
  return { name, valuesOf: referencedKeys(reference, context) }
}

function uidIndexOf(reference: UidRelation): ReferenceIndex {
  const paths = reference.paths.map(parsePath)
  const valuesOf: IndexFunction = (object) =>
    paths.flatMap((path) => valuesAt(path, object).filter(isUid))
  return { name: `ref:${relationName(reference)}`, valuesOf }
}

function isUid(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** The index of any store by the part of the name before its number. All relations share it. */
const stems = 'name:stem'

const stemOfObject: IndexFunction = ({ metadata: { namespace, name } }) => stemsOf(namespace, name)

const stemIndexers: Indexers = { [stems]: stemOfObject }

function stemsOf(namespace: string | undefined, name: string): readonly string[] {
  const stem = stemOf(name)
  if (stem === undefined) return []
  return [namespace === undefined || namespace === '' ? stem : `${namespace}/${stem}`]
}

function indexNameOf(definition: NumberedRelation): string {
  return `ref:${relationName(definition)}`
}

function compileNumbered(definition: NumberedRelation, context: RelationContext): Relation {
  const valuesOf = keysByRule(definition.names, context.isNamespaced(definition.to))
  const index = indexNameOf(definition)
  return {
    definition,
    reads: [definition.to],
    indexers: { [definition.to]: stemIndexers },
    shortcuts: { [definition.from]: { [index]: valuesOf } },
    follow(origin) {
      const { view, id } = origin
      return hasValue(
        stems,
        view.hasIndex(index) ? view.index(index).valuesOf(id) : valuesOf(originObject(origin)),
      )
    },
  }
}

function compileReverseNumbered(
  definition: ReverseRelation,
  numbered: NumberedRelation,
  context: RelationContext,
): Relation {
  const index = indexNameOf(numbered)
  const valuesOf = keysByRule(numbered.names, context.isNamespaced(numbered.to))
  return {
    definition,
    reads: [definition.to],
    indexers: { [definition.to]: { [index]: valuesOf } },
    follow({ view, id }) {
      const { namespace, name } = splitObjectKey(view.keyOf(id))
      return hasValue(index, stemsOf(namespace, name))
    },
  }
}
