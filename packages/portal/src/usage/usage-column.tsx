import { createContext, useContext } from 'react'
import type { Kind } from '../gateway/kinds.ts'
import { levelOf, wordsOf } from './usage-bars.tsx'
import { type Amounts, isMeasured, type ObjectUsage, ofAllPods, type Resource } from './usage.ts'
import styles from './usage.module.css'
import { usageWords } from './usage-words.ts'

type ColumnId = keyof typeof usageWords.columns

/** What each column has of which resource. */
const columns: Readonly<
  Record<ColumnId, readonly [Resource, Exclude<keyof Amounts, 'someLimits'>]>
> = {
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
  readonly hint?: string
  readonly isUsual: boolean
}[] {
  if (!isMeasured(group, kind) || (kind === 'Namespace' && group === '')) return []
  return (Object.keys(columns) as ColumnId[])
    .filter((id) => kind === 'Node' || columns[id][1] !== 'allocatable')
    .map((id) => ({
      id,
      title: usageWords.columns[id],
      isUsual: columns[id][1] === 'used',
      ...(columns[id][1] === 'used' && {
        hint: kind === 'Node' ? usageWords.ofAllocatable : usageWords.ofRequested,
      }),
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
  const amounts = ofAllPods(use)[resource]
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
      const { [one]: number } = ofAllPods(use)[resource]
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
  const [resource] = columns[column]
  const { used, requested, limit, allocatable } = wordsOf(resource, use)
  const title = [used, requested, limit, ...(allocatable === undefined ? [] : [allocatable])]
  if (second === undefined) return <span title={title.join(', ')}>{first}</span>
  if (use[resource].used === undefined && use[resource].requested === undefined) {
    return <span className={styles['dim']}>{usageWords.unknown}</span>
  }
  return (
    <span title={title.join(', ')}>
      <span className={styles['used']} data-level={levelOf(ofAllPods(use)[resource])}>
        {first}
      </span>
      <span className={styles['dim']}>/{second}</span>
    </span>
  )
}
