/*
 * Rules that compose names from values of an object: text with paths in braces, such as
 * `{metadata.name}-{spec.volumes[*].name}`, and `#` at the end for any number. A path with several values gives several
 * names. `{path | function}` reads a part of the text at a path; the functions, such as those for Argo CD, stand at the end.
 */

import { CodedError } from '../../lib/coded-error.ts'
import type { KubernetesObject } from '../../kubernetes/object.ts'
import { parsePath, type Path, valueAt, valuesAt } from '../index/path.ts'
import type { GroupKind } from './relation.ts'

export interface NameTemplate {
  /** Whether names end in any number; then {@link NameTemplate.namesOf} returns the part before it. */
  readonly isNumbered: boolean
  /** Whether an object may have several names by this rule. */
  readonly many: boolean
  /** The names by this rule; none if a part is missing. */
  namesOf(object: unknown): readonly string[]
}

export class NameTemplateError extends CodedError {
  constructor(text: string, problem: string) {
    super('NAME_TEMPLATE', `name ${JSON.stringify(text)} ${problem}`, {
      value: text,
      hint: 'write it as {metadata.name}-{spec.volumes[*].name}, with # at the end for any number',
    })
  }
}

/** A path, and the function applied to its values. */
interface Placed {
  readonly path: Path
  readonly read: TextFunction | undefined
}

type Piece = string | Placed

const pieces = /\{([^{}]*)\}|([^{}]+)|([{}])/g

/** Throws {@link NameTemplateError} and `PathError`. `groupKind`: the kind of the objects, if known. */
export function parseNameTemplate(
  text: string,
  { mayBeConstant = false, groupKind }: NameTemplateOptions = {},
): NameTemplate {
  const isNumbered = text.endsWith('#')
  const read: Piece[] = []
  for (const [, path, literal] of (isNumbered ? text.slice(0, -1) : text).matchAll(pieces)) {
    if (path !== undefined) read.push(placedAt(text, path))
    else if (literal !== undefined) read.push(literal)
    else throw new NameTemplateError(text, 'has an unmatched brace')
  }
  if (!mayBeConstant && !read.some((piece) => typeof piece !== 'string')) {
    throw new NameTemplateError(text, 'has no path in braces')
  }
  if (read.some((piece) => typeof piece === 'string' && piece.includes('#'))) {
    throw new NameTemplateError(text, 'has a # that is not at the end')
  }
  return {
    isNumbered,
    many: isNumbered || read.some((piece) => typeof piece !== 'string' && piece.path.many),
    namesOf: (object) =>
      read.reduce<readonly string[]>(
        (names, piece) => joined(names, piece, object, groupKind),
        start,
      ),
  }
}

const start: readonly string[] = ['']

interface NameTemplateOptions {
  readonly mayBeConstant?: boolean
  readonly groupKind?: GroupKind | undefined
}

function placedAt(template: string, text: string): Placed {
  const [path = '', name] = text.split('|').map((part) => part.trim())
  if (name === undefined) return { path: parsePath(path), read: undefined }
  const read = Object.hasOwn(textFunctions, name) ? textFunctions[name] : undefined
  if (read !== undefined) return { path: parsePath(path), read }
  const known = Object.keys(textFunctions).join(', ')
  throw new NameTemplateError(template, `has an unknown function ${name}; there is ${known}`)
}

function joined(
  names: readonly string[],
  piece: Piece,
  object: unknown,
  groupKind: GroupKind | undefined,
): readonly string[] {
  if (typeof piece === 'string') return names.map((name) => name + piece)
  const { path, read } = piece
  const values = valuesAt(path, object).flatMap((value) => {
    if (typeof value !== 'string' || value === '') return []
    return read === undefined ? [value] : (read(value, object as KubernetesObject, groupKind) ?? [])
  })
  return names.flatMap((name) => values.map((value) => name + value))
}

export function pathsInBraces(template: string): readonly string[] {
  return Array.from(template.matchAll(/\{([^{}|]*)[^{}]*\}/g), ([, path = '']) => path.trim())
}

const numbered = /^(.*\D)(?:0|[1-9]\d*)$/s

/** The part before the number at the end of a name; `undefined` if there is no number. */
export function stemOf(name: string): string | undefined {
  return numbered.exec(name)?.[1]
}

/** Parses a text of an object; `undefined` if it has another form. Must be pure. */
type TextFunction = (
  text: string,
  object: KubernetesObject,
  groupKind: GroupKind | undefined,
) => string | undefined

/** `APPLICATION:GROUP/KIND:NAMESPACE/NAME`. */
const trackingId = /^([^:]+):([^/:]*)\/([^/:]+):([^/]*)\/([^/]+)$/

/**
 * The application in a tracking id of Argo CD, as `NAME` or `NAMESPACE_NAME`. The id must be the object's own, because
 * controllers copy annotations to the objects that they create. The id of a cluster-scoped object has the namespace
 * that its application deploys to.
 */
const argoApplication: TextFunction = (text, { metadata: { namespace, name } }, groupKind) => {
  const [, application, ofGroup, ofKind, ofNamespace, ofName] = trackingId.exec(text) ?? []
  const isOwn =
    ofGroup === groupKind?.group &&
    ofKind === groupKind?.kind &&
    ofName === name &&
    (!namespace || ofNamespace === namespace)
  return isOwn ? application : undefined
}

const controllerNamespace = parsePath('status.controllerNamespace')

/**
 * The name of an Argo CD Application as tracking ids show it: just `NAME` in the namespace of Argo CD, `NAMESPACE_NAME`
 * in others. An Application that does not say where Argo CD runs may have either.
 */
const argoPlainName: TextFunction = (text, object) => {
  const home = valueAt(controllerNamespace, object)
  const isElsewhere = typeof home === 'string' && home !== '' && home !== object.metadata.namespace
  return isElsewhere ? undefined : text
}

/** The functions that `{path | function}` may name. */
const textFunctions: Readonly<Record<string, TextFunction>> = {
  argoApplication,
  argoPlainName,
}
