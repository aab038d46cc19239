import type { ReactNode } from 'react'
import { useKinds } from '../gateway/kinds.ts'
import { Failure, Notice } from '../look/notice.tsx'
import { usePlace } from '../scope.ts'
import { words } from '../words.ts'
import { KindTable } from './kind-table.tsx'
import styles from './kind-table.module.css'
import type { TableView } from './table-view.ts'

/** The table of the kind that has a name, such as `deployments.apps`; or why there is none. */
export function NamedKindTable({
  resource,
  view,
  change,
  tools,
}: {
  readonly resource: string
  readonly view: TableView
  /** Changes the view; `isStep`: the user can go back to the one before. */
  readonly change: (changed: TableView, isStep: boolean) => void
  /** What stands beside the table's own tools. */
  readonly tools?: ReactNode
}) {
  const { scope, open } = usePlace()
  const { byPath, isPending } = useKinds()
  const kind = byPath.get(resource)
  if (kind === undefined) {
    if (isPending) return <div className={styles['page']} aria-busy="true" />
    return <UnknownKind resource={resource} />
  }
  return (
    <KindTable
      // Another kind is another table.
      key={`${scope.clusters?.join(',') ?? ''} ${kind.path}`}
      kind={kind}
      scope={scope}
      view={view}
      change={change}
      tools={tools}
      visit={open}
    />
  )
}

/** Shown until the gateway knows the kind: its definition may have just been made. */
function UnknownKind({ resource }: { readonly resource: string }) {
  const { errors } = useKinds()
  return (
    <div className={styles['said']}>
      <h1 className="visually-hidden">{resource}</h1>
      {errors.length > 0 ? (
        <Failure errors={errors} />
      ) : (
        <Notice title={words.table.unknownKind(resource)}>
          <p>{words.table.unknownKindNext}</p>
        </Notice>
      )}
    </div>
  )
}
