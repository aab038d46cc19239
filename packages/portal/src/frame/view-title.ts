import { useLocation } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useCounts } from '../gateway/counts.ts'
import { pageState } from '../page-state.ts'
import { type Scope, useScope } from '../scope.ts'
import { words } from '../words.ts'

const state = pageState()
let shown = ''

/** The parameters of views that filter. */
const filterNames = ['q', 'order', 'severity', 'verb', 'type', 'who', 'name', 'manager', 'path']
/** Those of an object's page; beside a table they are about the object in its inspector. */
const tabNames = ['tab', 'logs']

/**
 * Names the view in the tab of the browser, and where it is pinned, with what it is filtered by and where it looks. `at`: if
 * that is not the scope.
 */
export function useViewTitle(title: string, at?: Scope): void {
  const { search, pathname } = useLocation()
  const { all = [], clusters } = useCounts()
  const { scope } = useScope()
  const { clusters: given, namespaces = [] } = at ?? scope
  const names = given ?? clusters.map(({ name }) => name)
  const parameters = pathname.startsWith('/objects/') ? tabNames : filterNames
  const whole = [
    title,
    ...parameters.flatMap((name) => (search as Readonly<Record<string, string>>)[name] || []),
    ...(all.length < 2 || names[0] === '*' ? [] : names),
    ...namespaces,
  ].join(' · ')
  useShownAs(whole)
}

/** Names the view by a whole text. */
export function useShownAs(whole: string): void {
  useEffect(() => {
    shown = whole
    document.title = `${whole} · ${words.frame.product}`
    state.changed()
  }, [whole])
}

/** The name of the view that is shown. */
export function useShownTitle(): string {
  return state.useState(() => shown)
}
