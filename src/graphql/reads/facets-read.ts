import { ArgumentError } from '../../query/condition/argument-error.ts'
import { type IndexType, valueOfIndexKey } from '../../query/index/index-key.ts'
import { parsePath, PathError } from '../../query/index/path.ts'
import type { Page } from '../../query/page/page.ts'
import { notOfDirectList } from './direct/direct-list.ts'
import type { Kind } from '../model/kind.ts'
import type { FacetArguments } from '../schema/read-arguments.ts'
import type { Facet } from '../schema/read-context.ts'
import type { KindView } from '../prepare/kind-view.ts'

const defaultTop = 10
const maxTop = 1_000
const maxFacets = 20

/**
 * Counts the objects on all pages of a list by the values of indexes or labels. Throws `ArgumentError` and
 * `QueryTooCostlyError`.
 */
export function facetsOf(
  page: Page,
  part: KindView,
  { by, top }: FacetArguments,
): readonly Facet[] {
  const { kind, view } = part
  if (part.isDirect) throw notOfDirectList(part, 'facets', 'there are no indexes to count by')
  if (by.length > maxFacets) {
    throw new ArgumentError('by', `names more than ${maxFacets} facets`, { value: by.length })
  }
  const most = top ?? defaultTop
  if (most < 0 || most > maxTop) {
    throw new ArgumentError('top', `must be from 0 to ${maxTop}, not ${most}`, { value: most })
  }
  return by.map((name, position) => {
    const { index, type } = facetOf(kind, name, `by[${position}]`)
    const found = index === undefined ? view.index(name) : view.label(index)
    const { values, ...counts } = page.spread(found, most)
    return {
      by: name,
      ...counts,
      values: values.map(({ value, count }) => ({ value: valueOfIndexKey(type, value), count })),
    }
  })
}

/** Resolves a name of `by`: an index of the kind or, with `index`, the label of that key. */
function facetOf(
  kind: Kind,
  name: string,
  argument: string,
): { readonly index?: string; readonly type: IndexType } {
  const definition = kind.indexes.find((one) => one.name === name)
  if (definition !== undefined) return { type: definition.type }
  const label = labelOf(name)
  if (label !== undefined) return { index: label, type: 'string' }
  throw new ArgumentError(argument, `there is no index ${JSON.stringify(name)}`, {
    value: name,
    hint: `there are ${kind.indexes.map((one) => one.name).join(', ')}, and labels["KEY"]`,
  })
}

/** The key in `labels["key"]`; `undefined` for other names. */
function labelOf(name: string): string | undefined {
  try {
    const [map, key, ...others] = parsePath(name).steps
    if (map?.form !== 'field' || map.name !== 'labels' || others.length > 0) return undefined
    return key?.form === 'field' ? key.name : undefined
  } catch (error) {
    if (error instanceof PathError) return undefined
    throw error
  }
}
