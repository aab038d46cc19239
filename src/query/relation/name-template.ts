import { CodedError } from '../../lib/coded-error.ts'
import type { KubernetesObject } from '../../kubernetes/object.ts'
import { parsePath, type Path, valuesAt } from '../index/path.ts'
import type { GroupKind } from './relation.ts'
import { type TextFunction, textFunctions } from './text-functions.ts'

/** A rule that puts names together, ready to be used. */
export interface NameTemplate {
  /** Whether it ends in any number; {@link NameTemplate.namesOf} gives what stands before it. */
  readonly isNumbered: boolean
  /** Whether an object may have more than one name by it. */
  readonly many: boolean
  /** The names by the rule; none where a part of them is missing. */
  namesOf(object: unknown): readonly string[]
}

/** A rule that cannot be read. */
export class NameTemplateError extends CodedError {
  constructor(text: string, problem: string) {
    super('NAME_TEMPLATE', `name ${JSON.stringify(text)} ${problem}`, {
      value: text,
      hint: 'write it as {metadata.name}-{spec.volumes[*].name}, with # at the end for any number',
    })
  }
}

/** A path, and what becomes of what stands there. */
interface Placed {
  readonly path: Path
  readonly read: TextFunction | undefined
}

type Piece = string | Placed

const pieces = /\{([^{}]*)\}|([^{}]+)|([{}])/g

/**
 * Reads a rule: text, paths in braces, and `#` at the end. Throws {@link NameTemplateError} and `PathError`.
 *
 * @param options.groupKind The kind of the objects that it is for, where that is known.
 */
export function parseNameTemplate(
  text: string,
  { mayBeConstant = false, groupKind }: NameTemplateOptions = {},
): NameTemplate {
  const isNumbered = text.endsWith('#')
  const read: Piece[] = []
  for (const [, path, literal] of (isNumbered ? text.slice(0, -1) : text).matchAll(pieces)) {
    if (path !== undefined) read.push(placedAt(text, path))
    else if (literal !== undefined) read.push(literal)
    else throw new NameTemplateError(text, 'has a brace without its other one')
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

const numbered = /^(.*\D)(?:0|[1-9]\d*)$/s

/** What stands before the number at the end of a name; `undefined` where there is none. */
export function stemOf(name: string): string | undefined {
  return numbered.exec(name)?.[1]
}
