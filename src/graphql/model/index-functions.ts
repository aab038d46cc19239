import type { IndexFunction } from '../../informer/store/store-view.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import { CodedError } from '../../lib/coded-error.ts'
import type { IndexDefinition } from '../../query/index/index-definition.ts'
import { isReservedIndexName } from './sdl-indexes.ts'

/** A method, as TypeScript then accepts a function of a `Pod` in place of a function of any object. */
interface ObjectIndex {
  valuesOf(object: Unstructured): readonly string[]
}

/** The user's index functions by list field (`pods`) and by name, which is also the field of `where`. */
export type IndexFunctions = Readonly<
  Record<string, Readonly<Record<string, ObjectIndex['valuesOf']>>>
>

/** An index function that cannot become a field of `where`. Thrown at start. */
export class IndexFunctionError extends CodedError {
  constructor(name: string, problem: string, hint: string) {
    super('INDEX_FUNCTION', `indexers.${name}: ${problem}`, { value: name, hint })
  }
}

/** The indexes of one kind's functions, and the problems of those that cannot be indexes. */
export function functionIndexes(
  { listField, typeName }: { readonly listField: string; readonly typeName: string },
  functions: IndexFunctions,
  isDeclared: (name: string) => boolean,
): {
  readonly indexes: readonly IndexDefinition[]
  readonly problems: readonly IndexFunctionError[]
} {
  const indexes: IndexDefinition[] = []
  const problems: IndexFunctionError[] = []
  const own = Object.hasOwn(functions, listField) ? functions[listField] : undefined
  for (const [name, valuesOf] of Object.entries(own ?? {})) {
    const fail = (problem: string, hint = 'choose another name'): void =>
      void problems.push(new IndexFunctionError(`${listField}.${name}`, problem, hint))
    if (isReservedIndexName(name)) fail('the name is reserved')
    else if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(name)) {
      fail(`it cannot be a field of ${typeName}Where`, 'use letters, digits and _')
    } else if (isDeclared(name)) fail(`${typeName} has an index of this name already`)
    else if (typeof valuesOf !== 'function') {
      fail('it is not a function', 'give a function from an object to a list of strings')
    } else indexes.push({ name, paths: [], type: 'string', valuesOf: valuesOf as IndexFunction })
  }
  return { indexes, problems }
}

/** The problems of functions for unknown list fields. */
export function unknownListFields(
  functions: IndexFunctions,
  isKnown: (listField: string) => boolean,
): readonly IndexFunctionError[] {
  return Object.keys(functions)
    .filter((listField) => !isKnown(listField))
    .map((listField) => {
      const hint = 'use the name of a list, such as `pods`; is its CRD installed?'
      return new IndexFunctionError(listField, 'there is no list of this name', hint)
    })
}
