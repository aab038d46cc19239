import { createContext, useContext } from 'react'
import type { Kind } from '../gateway/kinds.ts'
import { levelOf } from './usage-bars.tsx'
import { type Amounts, isMeasured, type ObjectUsage, type Resource } from './usage.ts'
import styles from './usage.module.css'
import { usageWords } from './usage-words.ts'

type ColumnId = keyof typeof usageWords.columns

/** What each column has of which resource. */
const columns: Readonly<Record<ColumnId, readonly [Resource, keyof Amounts]>> = {
  usageCpu: ['cpu', 'used'],
  cpuRequests: ['cpu', 'requested'],
  cpuLimits: ['cpu', 'limit'],
  cpuAllocatable: ['cpu', 'allocatable'],
  usageMemory: ['memory', 'used'],
  memoryRequests: ['memory', 'requested'],
  memoryLimits: ['memory', 'limit'],
  memoryAllocatable: ['memory', 'allocatable'],
}

/** The columns of a kind about CPU and memory, and whether they are shown without being chosen. */
export function usageColumns({ group, kind }: Kind): readonly {
  readonly id: ColumnId
  readonly title: string
  readonly isUsual: boolean
}[] {
  if (!isMeasured(group, kind) || (kind === 'Namespace' && group === '')) return []
  return (Object.keys(columns) as ColumnId[])
    .filter((id) => kind === 'Node' || columns[id][1] !== 'allocatable')
    .map((id) => ({
      id,
      title: usageWords.columns[id],
      isUsual: columns[id][1] === 'used',
    }))
}

/** Whether a column is about CPU or memory. */
export function isUsageColumn(id: string): id is ColumnId {
  return Object.hasOwn(columns, id)
}

/** About as wide as the cells: `m` is wider than most letters. */
export function usageCellText(id: ColumnId): string {
  const [resource, amount] = columns[id]
  const text = resource === 'cpu' ? '0000m' : '000 MiB'
  return amount === 'used' ? `${text}/0${text}` : text
}

/** What the rows in view use, by their `id`s. */
export const UsageContext = createContext<ReadonlyMap<string, ObjectUsage>>(new Map())

/** One amount; or what is used, and what is requested or there is. */
function textsOf(column: ColumnId, use: ObjectUsage): readonly [string, string?] {
  const [resource, amount] = columns[column]
  const amounts = use[resource]
  const say = (number: number | undefined): string =>
    number === undefined ? usageWords.unknown : usageWords.amounts[resource](number)
  return amount === 'used'
    ? [say(amounts.used), say(amounts.allocatable ?? amounts.requested)]
    : [say(amounts[amount])]
}

/** The amounts of a column as numbers for a spreadsheet: a heading with the unit for each, and how to read it. */
export function usageNumbers(
  column: ColumnId,
  kind: string,
): readonly { readonly title: string; readonly read: (use: ObjectUsage) => string }[] {
  const [resource, amount] = columns[column]
  const second = kind === 'Node' ? 'allocatable' : 'requested'
  return (amount === 'used' ? ([amount, second] as const) : [amount]).map((one) => ({
    title: usageWords.numbers[resource](usageWords.numbers.of[one]),
    // Whole numbers: countries differ in the decimal point.
    read: (use) => {
      const { [one]: number } = use[resource]
      return number === undefined
        ? ''
        : String(Math.round(resource === 'cpu' ? number * 1000 : number))
    },
  }))
}

/** A cell: what is used of what is requested, or one amount. */
export function UsageCell({ id, column }: { readonly id: string; readonly column: ColumnId }) {
  const use = useContext(UsageContext).get(id)
  if (use === undefined) return null
  const [first, second] = textsOf(column, use)
  if (second === undefined) return <>{first}</>
  const [resource] = columns[column]
  const amounts = use[resource]
  const text = usageWords.amounts[resource]
  const { used, requested, limit, allocatable } = amounts
  if (used === undefined && requested === undefined) {
    return <span className={styles['dim']}>{usageWords.unknown}</span>
  }
  const title = [
    used === undefined ? usageWords.notUsed : usageWords.used(text(used)),
    requested === undefined ? usageWords.notRequested : usageWords.requested(text(requested)),
    limit === undefined ? usageWords.noLimit : usageWords.limit(text(limit)),
    ...(allocatable === undefined ? [] : [usageWords.capacity(text(allocatable))]),
  ].join(', ')
  return (
    <span title={title}>
      <span className={styles['used']} data-level={levelOf(amounts)}>
        {first}
      </span>
      <span className={styles['dim']}>/{second}</span>
    </span>
  )
}
