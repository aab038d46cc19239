import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { ViewMenu } from '../frame/view-menu.tsx'
import { useViewTitle } from '../frame/view-title.ts'
import { FollowChangesDocument } from '../gateway/documents.ts'
import { PageHead } from '../look/page-head.tsx'
import { clustersOf, useScope } from '../scope.ts'
import { words } from '../words.ts'
import styles from './timeline.module.css'
import { Timeline } from './timeline.tsx'

const said = words.timeline
const filters = ['type', 'name', 'manager', 'path'] as const

/** Which changes a timeline shows, as its address has it: parts of names, and a kind's type. */
export type ChangeFilter = {
  readonly [filter in (typeof filters)[number]]?: string
} & {
  /** What is left out: changes of the status alone. */
  readonly without?: 'status' | undefined
}

/** What has changed in the scope, of all kinds. */
export function ChangesPage() {
  useViewTitle(said.title)
  const { scope } = useScope()
  const search = useSearch({ from: '/changes' })
  const navigate = useNavigate({ from: '/changes' })
  const { type, name, manager, path, without } = search
  const of = useMemo(() => {
    const contains = { name, manager, path }
    const where = {
      ...Object.fromEntries(
        Object.entries(contains).flatMap(([key, text]) =>
          text === undefined ? [] : [[key, { contains: text }]],
        ),
      ),
      ...(without === undefined ? {} : { statusOnly: false }),
    }
    return {
      ...clustersOf(scope),
      namespaces: scope.namespaces?.slice() ?? null,
      types: type === undefined ? null : [type],
      where: Object.keys(where).length === 0 ? null : where,
    }
  }, [scope, type, name, manager, path, without])
  return (
    <section className={styles['view']}>
      <PageHead title={said.title}>
        <ViewMenu document={FollowChangesDocument} variables={of} />
      </PageHead>
      <form
        className={styles['filters']}
        role="search"
        onSubmit={(event) => event.preventDefault()}
      >
        {filters.map((filter) => (
          <input
            key={filter}
            type="search"
            aria-label={said.filters[filter]}
            placeholder={said.filters[filter]}
            defaultValue={search[filter] ?? ''}
            onChange={({ target }) => {
              const text = target.value.trim()
              const changed = { [filter]: text === '' ? undefined : text }
              void navigate({ search: (before) => ({ ...before, ...changed }), replace: true })
            }}
          />
        ))}
        <label className={styles['dim']}>
          <input
            type="checkbox"
            checked={without === 'status'}
            onChange={({ target: { checked } }) => {
              const changed = { without: checked ? ('status' as const) : undefined }
              void navigate({ search: (before) => ({ ...before, ...changed }), replace: true })
            }}
          />{' '}
          {said.withoutStatus}
        </label>
      </form>
      <Timeline of={of} />
    </section>
  )
}
