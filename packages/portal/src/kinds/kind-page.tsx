import { useCallback } from 'react'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useViewTitle } from '../frame/view-title.ts'
import { useKinds } from '../gateway/kinds.ts'
import { Failure, Notice } from '../look/notice.tsx'
import type { TableSearch } from '../router.tsx'
import { scopeSearch, useScope } from '../scope.ts'
import { words } from '../words.ts'
import { KindTable, type TableView } from './kind-table.tsx'
import styles from './kind-table.module.css'

/** The table of a kind; the address has all of its state. */
export function KindPage() {
  const { resource } = useParams({ from: '/kinds/$resource' })
  const view = useSearch({ from: '/kinds/$resource' })
  const navigate = useNavigate({ from: '/kinds/$resource' })
  const { scope } = useScope()
  const { byPath, isPending } = useKinds()
  const kind = byPath.get(resource)
  const change = useCallback(
    (changed: TableView, isStep: boolean): void => {
      void navigate({
        search: (before: TableSearch) => ({ ...before, ...changed }),
        replace: !isStep,
      })
    },
    [navigate],
  )
  useViewTitle(kind?.title ?? resource)
  if (kind === undefined) {
    if (isPending) return <div className={styles['page']} aria-busy="true" />
    return <UnknownKind resource={resource} />
  }
  return (
    <KindTable
      // Another kind is another table.
      key={`${scope.cluster ?? ''} ${kind.path}`}
      kind={kind}
      scope={scope}
      view={view}
      change={change}
      visit={(id) => {
        void navigate({
          to: '/objects/$id',
          params: { id },
          search: (before: TableSearch) => scopeSearch({ ...before }),
        })
      }}
    />
  )
}

/** Shown until the gateway knows the kind: its definition may have just been made. */
function UnknownKind({ resource }: { readonly resource: string }) {
  const { errors } = useKinds(2_000)
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
