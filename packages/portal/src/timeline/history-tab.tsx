import { lazy, Suspense, useMemo, useState } from 'react'
import { kindsOf } from '../actions/action-list.ts'
import { builtInKind } from '../actions/target.ts'
import { type ChangeRowFragment as ChangeRow, PastObjectDocument } from '../gateway/documents.ts'
import { useAnswer } from '../gateway/gateway.ts'
import { Failure } from '../look/notice.tsx'
import controls from '../look/controls.module.css'
import type { SeenObject } from '../object/live-object.ts'
import type { TabText } from '../object/object-view.tsx'
import { yamlOf } from '../object/yaml-text.ts'
import { words } from '../words.ts'
import { Revisions } from './revisions.tsx'
import styles from './timeline.module.css'
import { Timeline } from './timeline.tsx'

const YamlView = lazy(async () => ({ default: (await import('../object/yaml-tab.tsx')).YamlView }))

const said = words.timeline

/** What a history may have besides, by its name in the address: `status,around`. */
const choices = ['status', 'around'] as const

/**
 * What has changed of an object, or around it, and the object as it was beside what it is. Who has changed it comes first: what
 * controllers and kubelets write into its status all the time is shown when it is asked for.
 */
export function HistoryTab({
  id,
  object,
  view,
  onView,
}: {
  readonly id: string
  /** Absent: it is gone. */
  readonly object?: SeenObject
} & Partial<TabText>) {
  const [own, setOwn] = useState<string>()
  const chosen = ((onView === undefined ? own : view) ?? '').split(',')
  const [hasStatus, isWide] = [chosen.includes('status'), chosen.includes('around')]
  const [then, setThen] = useState<ChangeRow>()
  const of = useMemo(
    () => ({
      ...(isWide ? { around: id, depth: 2 } : { ids: [id] }),
      where: hasStatus ? null : { statusOnly: false },
    }),
    [id, isWide, hasStatus],
  )
  if (then !== undefined) {
    return <Past id={id} object={object} change={then} leave={() => setThen(undefined)} />
  }
  return (
    <div className={styles['view']}>
      {object === undefined || isWide || !keepsRevisions(object) ? null : (
        <Revisions object={object} />
      )}
      <div className={styles['filters']}>
        {(object === undefined ? (['status'] as const) : choices).map((choice) => (
          <label key={choice} className={styles['dim']}>
            <input
              type="checkbox"
              checked={chosen.includes(choice)}
              onChange={({ target: { checked } }) => {
                const next = choices.filter((one) =>
                  one === choice ? checked : chosen.includes(one),
                )
                ;(onView ?? setOwn)(next.length === 0 ? undefined : next.join())
              }}
            />{' '}
            {said.with[choice]}
          </label>
        ))}
      </div>
      <Timeline
        of={of}
        isOfOne={!isWide}
        show={isWide ? undefined : setThen}
        isGone={object === undefined}
      />
    </div>
  )
}

/** Whether a workload can be rolled back. */
function keepsRevisions(object: SeenObject): boolean {
  return kindsOf('rollBack')?.includes(builtInKind(object) ?? '') === true
}

/** The object as it was after a change, or before its removal; with what has changed since, unless it is gone. */
function Past({
  id,
  object,
  change: { type, time, resourceVersion: version, fields },
  leave,
}: {
  readonly id: string
  readonly object: SeenObject | undefined
  readonly change: ChangeRow
  readonly leave: () => void
}) {
  const isRemoval = type === 'REMOVED'
  const { data, errors, isPending } = useAnswer(
    PastObjectDocument,
    { id, version },
    { enabled: !isRemoval },
  )
  // A removal has the last state as the value of the whole.
  const json = isRemoval ? fields[0]?.before : data?.then?.json
  const since = useMemo(
    () => (json === undefined ? undefined : { text: yamlOf(json), at: new Date(time) }),
    [json, time],
  )
  return (
    <div className={styles['past']}>
      <div className={styles['filters']}>
        <button type="button" className={controls['button']} onClick={leave}>
          {said.back}
        </button>
      </div>
      {since === undefined ? (
        isPending ? null : (
          <Failure errors={errors} />
        )
      ) : (
        <Suspense fallback={null}>
          {object === undefined ? (
            <YamlView
              object={{ json }}
              done={said.asItWas[isRemoval ? 'last' : 'before'](since.at)}
            />
          ) : (
            <YamlView object={object} done={undefined} since={since} />
          )}
        </Suspense>
      )}
    </div>
  )
}
