import type { Indexers } from '../../informer/store/store-view.ts'
import { parsePath, valuesAt } from './path.ts'

/** Which objects of a type have come to their end: those that have one of the values at one of the paths. */
export interface EndedRule {
  /** The type. */
  readonly type: string
  readonly paths: readonly string[]
  readonly values: readonly string[]
}

/** The one value of the index, of the objects that have ended. */
export const endedValue = 'true'

/** The name of the index of the objects that have ended. */
export function endedIndexName({ type }: EndedRule): string {
  return `ended:${type}`
}

/** The index of the objects that have ended; none without a rule. Throws `PathError`. */
export function endedIndexers(rule: EndedRule | undefined): Indexers {
  if (rule === undefined) return {}
  const paths = rule.paths.map(parsePath)
  const values: ReadonlySet<string> = new Set(rule.values)
  const [ended, lasting] = [[endedValue], []]
  return {
    [endedIndexName(rule)]: (object) =>
      paths.some((path) => valuesAt(path, object).some((value) => values.has(String(value))))
        ? ended
        : lasting,
  }
}
