import { useCallback } from 'react'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useViewTitle } from '../frame/view-title.ts'
import { useKinds } from '../gateway/kinds.ts'
import type { TableSearch } from '../router.tsx'
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
  useViewTitle(useKinds().byPath.get(resource)?.title ?? resource)
  return <NamedKindTable resource={resource} view={view} change={change} />
}
