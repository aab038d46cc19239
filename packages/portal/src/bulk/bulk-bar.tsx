import { Menu } from '@base-ui/react/menu'
import { lazy, type RefObject, Suspense, useRef, useState } from 'react'
import { type Action, bulkActionsOf } from '../actions/action-list.ts'
import { useTakesWrites } from '../actions/writable.ts'
import { useKeys } from '../frame/keys.ts'
import type { Kind } from '../gateway/kinds.ts'
import controls from '../look/controls.module.css'
import { Icon } from '../look/icons.tsx'
import overlay from '../look/overlay.module.css'
import { words } from '../words.ts'
import type { BulkTask } from './bulk-dialog.tsx'
import { type BulkJob, useBulkJob, useBulkRun } from './bulk-jobs.ts'

const say = words.bulk

const BulkDialog = lazy(async () => {
  const { BulkDialog: component } = await import('./bulk-dialog.tsx')
  return { default: component }
})

interface BulkMenuProps {
  readonly kind: Kind
  readonly ids: ReadonlySet<string>
  /** Told when the dialog of an action opens, and when it closes: until then the menu stays, whatever is selected. */
  readonly onActing: (isActing: boolean) => void
}

/** What can be done with the selected objects of a table, as a menu. Nothing where the gateway takes no writes. */
export function BulkMenu(props: BulkMenuProps) {
  return useTakesWrites() ? <WritableMenu {...props} /> : null
}

function WritableMenu({ kind: { kind, group, title }, ids, onActing }: BulkMenuProps) {
  const trigger = useRef<HTMLButtonElement>(null)
  const [isOpen, setOpen] = useState(false)
  const [task, setTask] = useState<BulkTask>()
  const isBusy = useBulkJob() !== undefined
  // Also where an object is open beside the table, which has `a` too.
  useKeys(
    ['a', 'A'].map((keys) => ({ keys, isFirst: true, does: say.key, run: () => setOpen(true) })),
  )
  const choose = (action: Action): void => {
    setTask({ action, kindTitle: title, ids: [...ids] })
    onActing(true)
  }
  return (
    <>
      <Menu.Root open={isOpen} onOpenChange={setOpen}>
        <Menu.Trigger ref={trigger} className={controls['button']} data-kind="main">
          {say.title}
          <Icon name="chevron" />
        </Menu.Trigger>
        <Menu.Portal className="informerql">
          <Menu.Positioner align="end" sideOffset={4} className={overlay['positioner']}>
            <Menu.Popup className={overlay['popup']}>
              {isBusy ? <p className={overlay['label']}>{say.oneAtATime}</p> : null}
              {bulkActionsOf({ kind, apiVersion: group === '' ? 'v1' : `${group}/v1` }).map(
                (action) => (
                  <Menu.Item
                    key={action.name}
                    className={overlay['item']}
                    data-danger={action.name === 'delete'}
                    disabled={isBusy}
                    onClick={() => choose(action)}
                  >
                    {words.actions.of[action.name].label}…
                  </Menu.Item>
                ),
              )}
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      <Shown
        of={task}
        held={ids}
        close={() => {
          setTask(undefined)
          onActing(false)
        }}
        finalFocus={trigger}
      />
    </>
  )
}

/** The writes to many objects that go on or have ended, as a button that shows them. */
export function BulkChip() {
  const job = useBulkJob()
  return job === undefined ? null : <JobChip job={job} />
}

function JobChip({ job }: { readonly job: BulkJob }) {
  const trigger = useRef<HTMLButtonElement>(null)
  const [isShown, show] = useState(false)
  const { counts, outcomes } = useBulkRun(job.run, true)
  const { label } = words.actions.of[job.action.name]
  return (
    <>
      <button ref={trigger} type="button" className={controls['button']} onClick={() => show(true)}>
        {say.chip(label, counts.done, outcomes.size)}
        {counts.failed === 0 ? null : say.chipFailed(counts.failed)}
      </button>
      <Shown of={isShown ? job : undefined} close={() => show(false)} finalFocus={trigger} />
    </>
  )
}

function Shown({
  of,
  held,
  close,
  finalFocus,
}: {
  readonly of: BulkTask | BulkJob | undefined
  readonly held?: ReadonlySet<string>
  readonly close: () => void
  readonly finalFocus: RefObject<HTMLElement | null>
}) {
  if (of === undefined) return null
  return (
    <Suspense fallback={null}>
      <BulkDialog of={of} held={held} onClose={close} finalFocus={finalFocus} />
    </Suspense>
  )
}
