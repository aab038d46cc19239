import { parsePath, PathError } from '../../query/index/path.ts'
import { NameTemplateError, parseNameTemplate } from '../../query/relation/name-template.ts'
import { compileReference } from '../../query/relation/reference-relation.ts'
import {
  type NameRule,
  type ReferenceRelation,
  type RelationDefinition,
  RelationDefinitionError,
} from '../../query/relation/relation-definition.ts'
import type { RelationDirectiveArguments } from '../sdl/sdl-directives.ts'
import type { RelationDeclaration } from '../sdl/sdl-document.ts'
import { SdlError } from '../sdl/sdl-error.ts'

/** The ends of a relation. */
export interface RelationEnds {
  readonly name: string
  readonly from: string
  readonly to: string
  /** Whether the field is a connection. */
  readonly many: boolean
}

/** One declaration of a relation that the object's own fields decide, and what it is checked against. */
export interface OwnRelationContext {
  readonly ends: RelationEnds
  readonly declaration: RelationDeclaration
  /** Throws `SdlError` if the field is not a connection. */
  readonly needConnection: () => void
  /**
   * The paths at which the API may have a value. A path without one is a thrown `SdlError`, unless the declaration is
   * optional; then the declaration is passed over if no path has one.
   */
  readonly present: (paths: readonly string[]) => ReadonlySet<string>
  /** The same for paths of the target type. */
  readonly presentOfTarget: (paths: readonly string[]) => ReadonlySet<string>
  /** The `@reference` of this full name. */
  readonly referenceNamed: (name: string) => RelationDirectiveArguments['reference'] | undefined
}

/** The relation of a `@reference`, with the `@named` beside it. Throws `SdlError`. */
export function referenceOf(
  args: RelationDirectiveArguments['reference'],
  context: OwnRelationContext,
): ReferenceRelation {
  const { ends } = context
  const { path, namespacePath, kindPath, groupPath, defaultKind, otherwise, uses } = pathsOf(
    args,
    context,
  )
  if (otherwise && args.names !== undefined) {
    throw unsupported(context, 'otherwise beside @named', 'leave one of them out')
  }
  const rule = otherwise ? { name: [otherwise] } : args.names
  const names = rule === undefined ? undefined : nameRuleOf(rule)
  const reference: ReferenceRelation = {
    form: 'reference',
    name: ends.name,
    from: ends.from,
    to: ends.to,
    paths: path ?? [],
    many: ends.many,
    ...(namespacePath ? { namespacePaths: namespacePath } : {}),
    ...(kindPath ? { kindPaths: kindPath } : {}),
    ...(groupPath ? { groupPaths: groupPath } : {}),
    ...(defaultKind ? { isDefaultKind: true } : {}),
    ...(names === undefined ? {} : { names }),
    ...(otherwise ? { isOtherwise: true } : {}),
    ...(uses ? { uses } : {}),
  }
  if (groupPath && !kindPath) {
    throw unsupported(context, 'groupPath without kindPath', 'give both, or neither')
  }
  checked(context, () => compileReference(reference, { isNamespaced: () => true }))
  const templates = (names?.templates ?? []).map((text) => parseNameTemplate(text))
  if (templates.some(({ isNumbered }) => isNumbered)) {
    const what = 'a number at the end of a name beside a @reference'
    throw unsupported(context, what, 'write @named alone, or leave the # out')
  }
  if (reference.paths.some((text) => parsePath(text).many) || templates.some(({ many }) => many))
    context.needConnection()
  return withPresentPaths(reference, context)
}

/** The relation of a `@named` that stands alone. Throws `SdlError`. */
export function namedOf(
  args: RelationDirectiveArguments['named'],
  context: OwnRelationContext,
): RelationDefinition {
  const { ends } = context
  const names = nameRuleOf(args)
  const templates = checked(context, () => names.templates.map((text) => parseNameTemplate(text)))
  const numbered = templates.filter(({ isNumbered }) => isNumbered)
  if (numbered.length === 0) return referenceOf({ path: [], names: args }, context)
  if (numbered.length < templates.length) {
    const hint = 'end all of them in #, or none'
    throw unsupported(context, 'names with a number at the end beside others', hint)
  }
  context.needConnection()
  context.present(namePathsOf(names))
  return { form: 'numbered', name: ends.name, from: ends.from, to: ends.to, names }
}

/** The relation of a `@uid`. Throws `SdlError`. */
export function uidOf(
  { path }: RelationDirectiveArguments['uid'],
  context: OwnRelationContext,
): RelationDefinition {
  const { ends, needConnection, present } = context
  const isMany = checked(context, () => path.some((text) => parsePath(text).many))
  if (isMany || path.length > 1) needConnection()
  const known = present(path)
  const paths = path.filter((text) => known.has(text))
  return { form: 'uid', name: ends.name, from: ends.from, to: ends.to, paths, many: ends.many }
}

/** The relation of a `@same`. Throws `SdlError`. */
export function sameOf(
  { text, as }: RelationDirectiveArguments['same'],
  context: OwnRelationContext,
): RelationDefinition {
  const { ends, needConnection, present, presentOfTarget } = context
  needConnection()
  checked(context, () =>
    [...text, ...as].map((one) => parseNameTemplate(one, { mayBeConstant: true })),
  )
  if (text.length === 0 || as.length === 0) {
    throw unsupported(context, '@same without a text', 'give both ends a text')
  }
  present(text.flatMap(pathsInBraces))
  presentOfTarget(as.flatMap(pathsInBraces))
  const { name, from, to } = ends
  return { form: 'same', name, from, to, texts: text, as }
}

/** The relation of a `@selects`. Throws `SdlError`. */
export function selectsOf(
  args: RelationDirectiveArguments['selects'],
  context: OwnRelationContext,
): RelationDefinition {
  const { name, from, to } = context.ends
  context.needConnection()
  const { path, selector, whenAbsent, namespaceSelector, namespaceLabels } = args
  const further = [namespaceSelector, namespaceLabels].filter((one) => typeof one === 'string')
  const paths = [path, ...further]
  checked(context, () => paths.map((text) => parsePath(text)))
  context.present(paths)
  return {
    form: 'selects',
    name,
    from,
    to,
    path,
    selector,
    whenAbsent,
    ...(namespaceSelector ? { namespacesPath: namespaceSelector } : {}),
    ...(namespaceLabels ? { namespaceLabelsPath: namespaceLabels } : {}),
  }
}

type ReferenceArguments = RelationDirectiveArguments['reference']

/** The arguments of a `@reference`, or with `as` those of the named one with `at` before its paths. */
function pathsOf(args: ReferenceArguments, context: OwnRelationContext): ReferenceArguments {
  const { ends, declaration, referenceNamed } = context
  if (!args.as) {
    if (args.at) throw unsupported(context, 'at without as', 'name the relation by as, too')
    if (args.path || args.names !== undefined) return args
    throw unsupported(context, '@reference without a path', 'give it one, or as')
  }
  if (args.path) throw unsupported(context, 'path beside as', 'give one of them')
  const other = referenceNamed(args.as)
  if (other?.path === undefined || other.path === null) {
    const message = `${ends.from}.${ends.name}: ${args.as} is no @reference with a path`
    const hint = 'correct the name, as in Pod.configMaps'
    throw new SdlError('unknown-relation', declaration.place, message, hint)
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
  { present }: OwnRelationContext,
): ReferenceRelation {
  const { paths, namespacePaths = [], kindPaths = [], groupPaths = [], names } = reference
  const named = names === undefined ? [] : namePathsOf(names)
  const known = present(paths)
  present([...namespacePaths, ...kindPaths, ...groupPaths])
  present(named)
  if (paths.every((path) => known.has(path))) return reference
  const isKnown = paths.map((path) => known.has(path))
  const kept = (texts: readonly string[]): readonly string[] => texts.filter((_, at) => isKnown[at])
  return {
    ...reference,
    paths: kept(paths),
    ...(reference.namespacePaths === undefined ? {} : { namespacePaths: kept(namespacePaths) }),
    ...(reference.kindPaths === undefined ? {} : { kindPaths: kept(kindPaths) }),
    ...(reference.groupPaths === undefined ? {} : { groupPaths: kept(groupPaths) }),
  }
}

function nameRuleOf({
  name,
  namespace,
  namespacePath,
}: RelationDirectiveArguments['named']): NameRule {
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

function pathsInBraces(template: string): readonly string[] {
  return Array.from(template.matchAll(/\{([^{}|]*)[^{}]*\}/g), ([, path = '']) => path.trim())
}

function unsupported(
  { ends, declaration }: OwnRelationContext,
  what: string,
  hint: string,
): SdlError {
  const message = `${ends.from}.${ends.name}: ${what}`
  return new SdlError('unsupported', declaration.place, message, hint)
}

/** Turns the errors of paths and rules into `SdlError`s, which name the file, the line and the field. */
function checked<T>({ ends, declaration }: OwnRelationContext, read: () => T): T {
  try {
    return read()
  } catch (error) {
    const isExpected =
      error instanceof PathError ||
      error instanceof NameTemplateError ||
      error instanceof RelationDefinitionError
    if (!isExpected) throw error
    const message = `${ends.from}.${ends.name}: ${error.message}`
    throw new SdlError('bad-path', declaration.place, message, error.hint ?? 'correct the path')
  }
}
