import { CodedError } from '../../lib/coded-error.ts'
import { parsePath, type Path, valuesAt } from '../index/path.ts'

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

type Piece = string | Path

const pieces = /\{([^{}]*)\}|([^{}]+)|([{}])/g

/** Reads a rule: text, paths in braces, and `#` at the end. Throws {@link NameTemplateError} and `PathError`. */
export function parseNameTemplate(text: string): NameTemplate {
  const isNumbered = text.endsWith('#')
  const read: Piece[] = []
  for (const [, path, literal] of (isNumbered ? text.slice(0, -1) : text).matchAll(pieces)) {
    if (path !== undefined) read.push(parsePath(path))
    else if (literal !== undefined) read.push(literal)
    else throw new NameTemplateError(text, 'has a brace without its other one')
  }
  if (!read.some((piece) => typeof piece !== 'string')) {
    throw new NameTemplateError(text, 'has no path in braces')
  }
  if (read.some((piece) => typeof piece === 'string' && piece.includes('#'))) {
    throw new NameTemplateError(text, 'has a # that is not at the end')
  }
  return {
    isNumbered,
    many: isNumbered || read.some((piece) => typeof piece !== 'string' && piece.many),
    namesOf: (object) =>
      read.reduce<readonly string[]>((names, piece) => joined(names, piece, object), start),
  }
}

const start: readonly string[] = ['']

function joined(names: readonly string[], piece: Piece, object: unknown): readonly string[] {
  if (typeof piece === 'string') return names.map((name) => name + piece)
  const values = valuesAt(piece, object).filter(
    (value) => typeof value === 'string' && value !== '',
  )
  return names.flatMap((name) => values.map((value) => name + String(value)))
}

const numbered = /^(.*\D)(?:0|[1-9]\d*)$/s

/** What stands before the number at the end of a name; `undefined` where there is none. */
export function stemOf(name: string): string | undefined {
  return numbered.exec(name)?.[1]
}
