import { useCallback } from 'react'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useTakesWrites } from '../actions/writable.ts'
import { useViewTitle } from '../frame/view-title.ts'
import { useKinds } from '../gateway/kinds.ts'
import controls from '../look/controls.module.css'
import type { CreateSearch, TableSearch } from '../router.tsx'
import { scopeSearch, type ScopeSearch } from '../scope.ts'
import { words } from '../words.ts'
import { NamedKindTable } from './named-kind-table.tsx'
import type { TableView } from './table-view.ts'

/** The table of a kind; the address has all of its state. */
export function KindPage() {
  const { resource } = useParams({ from: '/kinds/$resource' })
  const view = useSearch({ from: '/kinds/$resource' })
  const navigate = useNavigate({ from: '/kinds/$resource' })
  const change = useCallback(
    (changed: TableView, isStep: boolean): void => {
      void navigate({
        search: (before: TableSearch) => ({ ...before, ...changed }),
        replace: !isStep,
      })
    },
    [navigate],
  )
  const kind = useKinds().byPath.get(resource)
  const takesWrites = useTakesWrites()
  useViewTitle(kind?.title ?? resource)
  const tools =
    kind === undefined ? null : (
      <>
        <Link to="/access" search={{ type: kind.type }} className={controls['quiet']}>
          {words.access.whoMay}
        </Link>
        {takesWrites ? <CreateLink resource={resource} kind={kind.kind} /> : null}
      </>
    )
  return <NamedKindTable resource={resource} view={view} change={change} tools={tools} />
}

function CreateLink({ resource, kind }: { readonly resource: string; readonly kind: string }) {
  const search = (before: ScopeSearch): CreateSearch => ({
    ...scopeSearch({ ...before }),
    kind: resource,
  })
  return (
    <Link
      to="/create"
      search={search}
      className={controls['quiet']}
      aria-label={words.frame.createOf(kind)}
    >
      {words.frame.create}
    </Link>
  )
}
