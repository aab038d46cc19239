/*
 * The `where` of changes. The archive compares whole values: types, managers, names, the paths that fields are at or within,
 * and whether all are within `status`. Everything else (`not`, `exists`, parts of a text) is a test of each change, with the
 * meaning that filters of indexes have: one of the values must meet all comparisons, and `not` holds if the inner filter does
 * not.
 */

import {
  type ArchivedChange,
  type ChangesQuestion,
  type RecordType,
  recordTypes,
} from '../../../archive/archive-calls.ts'
import { unusableValue } from '../../../query/condition/argument-error.ts'
import type { Filter } from '../../../query/condition/filter.ts'
import type { ChangesFilterArguments } from '../../schema/gateway-types.ts'
import { ChangeTest } from '../direct/archive-reads.ts'

export type ChangeFilter = Pick<
  ChangesQuestion,
  'types' | 'managers' | 'paths' | 'names' | 'isStatusOnly'
> & {
  readonly test?: ChangeTest
}

type TextFilter = Filter<string>

interface ChangeWhere {
  readonly type?: Filter<RecordType> | null
  readonly manager?: TextFilter | null
  readonly path?: TextFilter | null
  readonly name?: TextFilter | null
  readonly kind?: TextFilter | null
  readonly statusOnly?: boolean | null
}

/** How deep `not` may nest. */
const maxDepth = 20
/** The values of a `where`, with each of which each change may be compared. */
const maxValues = 500

/** Throws `ArgumentError`. */
export function changeFilter({ where }: Pick<ChangesFilterArguments, 'where'>): ChangeFilter {
  const { type, manager, path, name, statusOnly } = (where ?? {}) as ChangeWhere
  checkValues((where ?? {}) as ChangeWhere)
  const filter: { -readonly [F in keyof ChangeFilter]: ChangeFilter[F] } = {}
  const tests: ((change: ArchivedChange) => boolean)[] = []
  const texts: string[] = []
  const add = (
    member: 'managers' | 'paths' | 'names',
    given: TextFilter | null | undefined,
    valuesOf: (change: ArchivedChange) => readonly string[],
    isEqual?: (value: string, wanted: string) => boolean,
  ): void => {
    if (given === undefined || given === null) return
    const { eq, in: among, ...rest } = given
    const argument = `where.${member.slice(0, -1)}`
    const meets = textTest(given, argument, isEqual)
    if (eq !== undefined) filter[member] = [eq]
    else if (among !== undefined && among !== null) filter[member] = among
    const isWhole = Object.values(rest).every((value) => (value ?? null) === null)
    if (isWhole && !(eq !== undefined && (among ?? null) !== null)) return
    tests.push((change) => meets(valuesOf(change)))
    texts.push(JSON.stringify([member, given]))
  }
  if (type !== undefined && type !== null) {
    const meets = textTest(type, 'where.type')
    filter.types = recordTypes.filter((one) => meets([one]))
  }
  add('managers', manager, (change) => (change.manager === undefined ? [] : [change.manager]))
  add('names', name, (change) => [change.name])
  add('paths', path, ({ fields }) => fields.map((field) => field.path), isAtOrWithin)
  if (typeof statusOnly === 'boolean') filter.isStatusOnly = statusOnly
  const accepts = (change: ArchivedChange): boolean => tests.every((meets) => meets(change))
  return tests.length === 0 ? filter : { ...filter, test: new ChangeTest(texts.join(), accepts) }
}

function checkValues({ type, manager, path, name, kind }: ChangeWhere): void {
  let values = 0
  const filters = { type, manager, path, name, kind }
  for (const [field, given] of Object.entries(filters)) {
    let filter: TextFilter | null | undefined = given
    for (let depth = 0; filter && depth <= maxDepth; depth += 1) {
      values += filter.in?.length ?? 0
      filter = filter.not
    }
    if (values <= maxValues) continue
    const hint = 'ask in several queries'
    throw unusableValue(`where.${field}`, maxValues, `makes more than ${maxValues} values`, hint)
  }
}

/** Which kinds the changes are of: it is decided before the archive is asked. Throws `ArgumentError`. */
export function kindTest({
  where,
}: Pick<ChangesFilterArguments, 'where'>): (kind: string) => boolean {
  const { kind = null } = (where ?? {}) as ChangeWhere
  if (kind === null) return () => true
  const meets = textTest(kind, 'where.kind')
  return (name) => meets([name])
}

function textTest(
  filter: Filter<string>,
  argument: string,
  isEqual: (value: string, wanted: string) => boolean = (value, wanted) => value === wanted,
  depth = 0,
): (values: readonly string[]) => boolean {
  if (depth > maxDepth) throw unusableValue(argument, filter, 'is nested too deep')
  if (filter.eq === null) {
    const hint = 'leave it out, or ask for changes without a value by exists: false'
    throw unusableValue(`${argument}.eq`, null, 'must not be null', hint)
  }
  const { eq, in: among = null, exists = null, not = null } = filter
  const { startsWith = null, endsWith = null, contains = null } = filter
  const meetsNot = not === null ? undefined : textTest(not, `${argument}.not`, isEqual, depth + 1)
  const comparisons: ((value: string) => boolean)[] = []
  if (eq !== undefined) comparisons.push((value) => isEqual(value, eq))
  if (among !== null) comparisons.push((value) => among.some((one) => isEqual(value, one)))
  if (startsWith !== null) comparisons.push((value) => value.startsWith(startsWith))
  if (endsWith !== null) comparisons.push((value) => value.endsWith(endsWith))
  if (contains !== null) comparisons.push((value) => value.includes(contains))
  return (values) => {
    if (exists !== null && values.length > 0 !== exists) return false
    if (meetsNot?.(values) === true) return false
    if (comparisons.length === 0) return true
    return values.some((value) => comparisons.every((compares) => compares(value)))
  }
}

/** Whether a place (RFC 6901) is another one, or within it. `*` in `at` is any step. */
export function isAtOrWithin(path: string, at: string): boolean {
  if (!at.includes('*')) return path === at || path.startsWith(`${at}/`)
  const steps = path.split('/')
  return at.split('/').every((step, index) => {
    const own = steps[index]
    return own !== undefined && (step === '*' || step === own)
  })
}
