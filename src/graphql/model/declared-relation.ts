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
  const { ends, declaration } = context
  const own = pathsOf(args, context)
  const { path, namespacePath, kindPath, groupPath, defaultKind, otherwise, uses } = own
  if (otherwise && args.names !== undefined) {
    throw unsupported({ ends, declaration }, 'otherwise beside @named', 'leave one of them out')
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
    throw unsupported({ ends, declaration }, 'groupPath without kindPath', 'give both, or neither')
  }
  checked({ ends, declaration }, () => compileReference(reference, { isNamespaced: () => true }))
  const templates = (names?.templates ?? []).map((text) => parseNameTemplate(text))
  if (templates.some(({ isNumbered }) => isNumbered)) {
    const hint = 'write @named alone, or leave the # out'
    throw unsupported(
      { ends, declaration },
      'a number at the end of a name beside a @reference',
      hint,
    )
  }
  if (reference.paths.some(isManyPath) || templates.some(({ many }) => many))
    context.needConnection()
  return withPresentPaths(reference, context)
}

/** The relation of a `@named` that stands alone. Throws `SdlError`. */
export function namedOf(
  args: RelationDirectiveArguments['named'],
  context: OwnRelationContext,
): RelationDefinition {
  const { ends, declaration } = context
  const names = nameRuleOf(args)
  const templates = checked({ ends, declaration }, () =>
    names.templates.map((text) => parseNameTemplate(text)),
  )
  const numbered = templates.filter(({ isNumbered }) => isNumbered)
  if (numbered.length === 0) {
    return referenceOf({ path: [], names: args }, context)
  }
  if (numbered.length < templates.length) {
    const hint = 'end all of them in #, or none'
    throw unsupported({ ends, declaration }, 'names with a number at the end beside others', hint)
  }
  context.needConnection()
  context.present(namePathsOf(names))
  return { form: 'numbered', name: ends.name, from: ends.from, to: ends.to, names }
}

/** The relation of a `@uid`. Throws `SdlError`. */
export function uidOf(
  { path }: RelationDirectiveArguments['uid'],
  { ends, declaration, needConnection, present }: OwnRelationContext,
): RelationDefinition {
  const isMany = checked({ ends, declaration }, () => path.some((text) => parsePath(text).many))
  if (isMany || path.length > 1) needConnection()
  const known = present(path)
  const paths = path.filter((text) => known.has(text))
  return { form: 'uid', name: ends.name, from: ends.from, to: ends.to, paths, many: ends.many }
}

/** The relation of a `@same`. Throws `SdlError`. */
export function sameOf(
  { text, as }: RelationDirectiveArguments['same'],
  { ends, declaration, needConnection, present, presentOfTarget }: OwnRelationContext,
): RelationDefinition {
  needConnection()
  checked({ ends, declaration }, () =>
    [...text, ...as].map((one) => parseNameTemplate(one, { mayBeConstant: true })),
  )
  if (text.length === 0 || as.length === 0) {
    throw unsupported({ ends, declaration }, '@same without a text', 'give both ends a text')
  }
  present(text.flatMap(pathsInBraces))
  presentOfTarget(as.flatMap(pathsInBraces))
  const { name, from, to } = ends
  return { form: 'same', name, from, to, texts: text, as }
}

/** The relation of a `@selects`. Throws `SdlError`. */
export function selectsOf(
  args: RelationDirectiveArguments['selects'],
  { ends, declaration, needConnection, present }: OwnRelationContext,
): RelationDefinition {
  const { name, from, to } = ends
  needConnection()
  const { path, selector, whenAbsent, namespaceSelector, namespaceLabels } = args
  const further = [namespaceSelector, namespaceLabels].filter((one) => typeof one === 'string')
  const paths = [path, ...further]
  checked({ ends, declaration }, () => paths.map((text) => parsePath(text)))
  present(paths)
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

function isManyPath(text: string): boolean {
  return parsePath(text).many
}

type ReferenceArguments = RelationDirectiveArguments['reference']

/** The arguments of a `@reference`, or with `as` those of the named one with `at` before its paths. */
function pathsOf(
  args: ReferenceArguments,
  { ends, declaration, referenceNamed }: OwnRelationContext,
): ReferenceArguments {
  if (!args.as) {
    if (args.at)
      throw unsupported({ ends, declaration }, 'at without as', 'name the relation by as, too')
    if (args.path || args.names !== undefined) return args
    throw unsupported({ ends, declaration }, '@reference without a path', 'give it one, or as')
  }
  if (args.path) throw unsupported({ ends, declaration }, 'path beside as', 'give one of them')
  const other = referenceNamed(args.as)
  if (other?.path === undefined || other.path === null) {
    const message = `${ends.from}.${ends.name}: ${args.as} is no @reference with a path`
    throw new SdlError(
      'unknown-relation',
      declaration.place,
      message,
      'correct the name, as in Pod.configMaps',
    )
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

type Declared = Pick<OwnRelationContext, 'ends' | 'declaration'>

function unsupported({ ends, declaration }: Declared, what: string, hint: string): SdlError {
  const message = `${ends.from}.${ends.name}: ${what}`
  return new SdlError('unsupported', declaration.place, message, hint)
}

/** Turns the errors of paths and rules into `SdlError`s, which name the file, the line and the field. */
function checked<T>({ ends, declaration }: Declared, read: () => T): T {
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
