import { useVirtualizer } from '@tanstack/react-virtual'
import { useMemo, useRef } from 'react'
import type { ActionName } from '../actions/action-list.ts'
import { fieldName } from '../actions/field-changes.tsx'
import type { Written } from '../actions/write.ts'
import { words } from '../words.ts'
import styles from './bulk-table.module.css'
import type { BulkObject } from './bulk-objects.ts'
import type { BulkProgress, Outcome } from './bulk-run.ts'
import { rolloutOf, type Workloads } from './use-rollouts.ts'

const say = words.bulk

/** The least height of a row, in pixels: two lines, or four where there is no room beside each other. The same in bulk-table.module.css. */
const rowHeightOf = (width: number): number => (width < 600 ? 88 : 48)

/** The objects of a bulk: what happens to each, what else that concerns, and how far it is. What needs attention comes first. */
export function BulkTable({
  name,
  objects,
  progress: { outcomes, isOver },
  workloads,
  isDryRun,
}: {
  readonly name: ActionName
  readonly objects: ReadonlyMap<string, BulkObject>
  readonly progress: BulkProgress
  /** Of a restart that is written. */
  readonly workloads?: Workloads
  readonly isDryRun: boolean
}) {
  const scroller = useRef<HTMLDivElement>(null)
  const rowHeight = rowHeightOf(globalThis.innerWidth)
  // Rows stay where they are while it goes on.
  const ids = useMemo(() => {
    const weight = (id: string): number => {
      const object = objects.get(id)
      if (isOver && outcomes.get(id)?.state === 'failed') return 0
      return object !== undefined && consequencesOf(object).length > 0 ? 1 : 2
    }
    return [...outcomes.keys()].toSorted((one, other) => weight(one) - weight(other))
  }, [objects, outcomes, isOver])
  const virtualizer = useVirtualizer({
    count: ids.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 4,
  })
  const said = isDryRun ? say.dry.states : say.run.states
  return (
    <div
      ref={scroller}
      role="table"
      aria-label={say.table}
      aria-rowcount={ids.length + 1}
      tabIndex={0}
      className={styles['table']}
    >
      <div role="row" aria-rowindex={1} className={styles['head']}>
        {(['object', 'what', 'state'] as const).map((column) => (
          <span key={column} role="columnheader">
            {say.columns[column]}
          </span>
        ))}
      </div>
      <div
        role="rowgroup"
        className={styles['body']}
        style={{ height: virtualizer.getTotalSize() }}
      >
        {virtualizer.getVirtualItems().map(({ index, start }) => {
          const id = ids[index] ?? ''
          const object = objects.get(id)
          const outcome = outcomes.get(id)
          if (object === undefined || outcome === undefined) return null
          const what = whatOf(name, object, outcome, isDryRun)
          const consequences = consequencesOf(object).join('; ')
          const isSame = outcome.state === 'done' && changesNothing(outcome.written)
          const rollout =
            workloads === undefined || name !== 'restart'
              ? undefined
              : rolloutOf(outcome, workloads.get(id))
          return (
            <div
              key={id}
              ref={virtualizer.measureElement}
              data-index={index}
              role="row"
              aria-rowindex={index + 2}
              className={styles['row']}
              data-state={outcome.state}
              style={{ transform: `translateY(${start}px)` }}
            >
              <span role="cell" title={`${object.kind} ${object.name}`}>
                <span className={styles['line']}>{object.name}</span>
                <span className={`${styles['line']} ${styles['dim']}`}>
                  {[object.clusterName, object.namespace].filter((one) => one !== null).join(' / ')}
                </span>
              </span>
              <span role="cell">
                <span className={styles['whole']}>{what}</span>
                <span className={`${styles['whole']} ${styles['dim']}`}>{consequences}</span>
              </span>
              <span role="cell" className={styles['state']}>
                {rollout === undefined
                  ? said[isSame ? 'same' : outcome.state]
                  : say.restart.states[rollout]}
              </span>
            </div>
          )
        })}
      </div>
    </div>
  )
}

/** Whether a write leaves its object as it is. */
export function changesNothing({ changes, warnings }: Written): boolean {
  // Without the right to read the object, changes are not known, and a warning says so.
  return changes.length === 0 && warnings.length === 0
}

/** What happens to an object, in a line. */
function whatOf(
  name: ActionName,
  { replicas }: BulkObject,
  outcome: Outcome,
  isDryRun: boolean,
): string {
  if (outcome.state === 'failed') {
    const [error] = outcome.errors
    return error === undefined ? '' : error.message
  }
  if (outcome.state !== 'done') return ''
  const { changes, warnings } = outcome.written
  const [first] = changes
  // What changes is an annotation of the pod template.
  if (name === 'restart' && first !== undefined) return say.restarts(replicas)
  if (first === undefined) return warnings[0] ?? ''
  if (first.path === '' && first.after === null) return isDryRun ? say.dry.removed : ''
  const text = first.masked
    ? fieldName(first.path)
    : `${fieldName(first.path)}: ${valueText(first.before)} → ${valueText(first.after)}`
  return changes.length === 1 ? text : `${text} ${say.dry.more(changes.length - 1)}`
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return '–'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** What else an action on an object concerns, in short. */
function consequencesOf({
  users,
  namedUsers,
  autoscalers,
  manager,
  maker,
  losesData,
}: BulkObject): readonly string[] {
  return [
    ...(users === undefined ? [say.usersUnknown] : []),
    ...(users !== undefined && users > 0 ? [say.users(users, namedUsers.slice(0, 3))] : []),
    ...(losesData ? [say.emptyDir] : []),
    ...autoscalers.map(({ name: scaler, bounds }) => say.autoscaler(scaler, bounds)),
    ...(maker === undefined ? [] : [say.remade(maker)]),
    ...(manager === undefined
      ? []
      : [say.manager(words.delivery.tools[manager.tool], manager.name, manager.reversal !== null)]),
  ]
}
