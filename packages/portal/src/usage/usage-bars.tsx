import { UseOverTime } from '../charts/use-over-time.tsx'
import type { SeenObject } from '../object/live-object.ts'
import { Section } from '../object/section.tsx'
import { words } from '../words.ts'
import {
  type Amounts,
  isMeasured,
  type ObjectUsage,
  ofAllPods,
  type Resource,
  useUsage,
} from './usage.ts'
import styles from './usage.module.css'
import { usageWords } from './usage-words.ts'
import { groupOf } from '../object/json.ts'

const resources: readonly Resource[] = ['cpu', 'memory']

/** What an object uses of CPU and memory, with what is requested, the limit, and what a node has: as bars and in words. */
export function UsageBars({ object }: { readonly object: SeenObject }) {
  const { id, kind, apiVersion } = object
  const group = groupOf(apiVersion)
  const has = isMeasured(group, kind)
  const { byId, why } = useUsage(kind, has ? [id] : [])
  const use = byId.get(id)
  if (!has || use === undefined || use.pods === 0) return null
  return (
    <Section title={usageWords.title}>
      <ul className={styles['lines']}>
        {resources.map((resource) => (
          <Line key={resource} resource={resource} use={use} />
        ))}
      </ul>
      {use.pods === undefined || kind === 'Node' ? null : (
        <p className={styles['note']}>{usageWords.ofPods(use.pods)}</p>
      )}
      {use.isPart ? <p className={styles['note']}>{words.overview.capacity.yours}</p> : null}
      {why === undefined ? null : <p className={styles['note']}>{why}</p>}
      <UseOverTime object={object} use={ofAllPods(use)} since={byId} />
    </Section>
  )
}

function Line({ resource, use }: { readonly resource: Resource; readonly use: ObjectUsage }) {
  const amounts = use[resource]
  const { used, requested, limit } = amounts
  const whole = wholeOf(amounts)
  const share = (amount: number): string => `${Math.min(100, (100 * amount) / whole)}%`
  const said = wordsOf(resource, use)
  return (
    <li className={styles['line']}>
      <span className={styles['name']}>{usageWords.resources[resource]}</span>
      <span className={styles['bar']} aria-hidden="true">
        {used === undefined || whole === 0 ? null : (
          <span data-level={levelOf(amounts)} style={{ width: share(used) }} />
        )}
        {requested === undefined || whole === 0 ? null : (
          <i data-mark="request" style={{ left: share(requested) }} />
        )}
        {limit === undefined || whole === 0 ? null : (
          <i data-mark="limit" style={{ left: share(limit) }} />
        )}
      </span>
      <span className={styles['legend']}>
        <span data-mark="used" data-level={levelOf(amounts)}>
          {said.used}
        </span>
        <span data-mark="request">{said.requested}</span>
        <span data-mark="limit">{said.limit}</span>
        {said.allocatable === undefined ? null : <span>{said.allocatable}</span>}
      </span>
    </li>
  )
}

/** The amounts of a resource in words. */
export function wordsOf(
  resource: Resource,
  use: ObjectUsage,
): Readonly<Record<'used' | 'requested' | 'limit', string>> & {
  readonly allocatable: string | undefined
} {
  const { used, requested, limit, someLimits, allocatable } = use[resource]
  const { pods = 0, isPart, isUsedPart } = use
  const text = usageWords.amounts[resource]
  const noLimit =
    someLimits === undefined
      ? usageWords.noLimit
      : usageWords.someLimits(text(someLimits.sum), someLimits.pods, pods, isPart)
  return {
    used: used === undefined ? usageWords.notUsed : usageWords.used(text(used), isUsedPart),
    requested:
      requested === undefined
        ? usageWords.notRequested
        : usageWords.requested(text(requested), isPart),
    limit: limit === undefined ? noLimit : usageWords.limit(text(limit), isPart),
    allocatable: allocatable === undefined ? undefined : usageWords.capacity(text(allocatable)),
  }
}

/** What a bar stands for: what a node has, otherwise the most of all amounts. */
function wholeOf({ used = 0, requested = 0, limit = 0, allocatable }: Amounts): number {
  return allocatable ?? Math.max(used, requested, limit)
}

/** Whether nearly all of what may be used is used. */
export function levelOf({ used, limit, allocatable }: Amounts): 'full' | undefined {
  const most = allocatable ?? limit
  return used !== undefined && most !== undefined && most > 0 && used >= 0.9 * most
    ? 'full'
    : undefined
}
