import { useRouterState } from '@tanstack/react-router'
import { useEffect, useLayoutEffect, useRef } from 'react'
import { useKept } from '../kept-view.ts'

/** Where a view was left. */
interface Left {
  readonly top: number
  /** The address of the link that had the focus last. */
  readonly link: string | undefined
}

/** A view that is as long again as it was, or never will be. */
const patienceMs = 5_000

/**
 * After a navigation a view begins at its top, with the focus on its heading, unless the view has taken it. After Back it
 * is where it was left, with the focus on the link that was followed.
 */
export function useArrival(): void {
  const shown = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname })
  // On the way to another view the one before is still there, and shrinks.
  const isUnderWay = useRouterState({
    select: ({ location, resolvedLocation }) => location.pathname !== resolvedLocation?.pathname,
  })
  const { read, keep } = useKept<Left>('view')
  const before = useRef(shown)
  const isArriving = useRef(false)
  const latest = useRef({ read, keep, isUnderWay })
  useLayoutEffect(() => {
    latest.current = { read, keep, isUnderWay }
  })

  useEffect(() => {
    const view = document.querySelector<HTMLElement>('#view')
    if (view === null) return undefined
    const note = (): void => {
      const now = latest.current
      if (isArriving.current || now.isUnderWay) return
      const href = document.activeElement?.closest('#view a')?.getAttribute('href')
      now.keep({ top: view.scrollTop, link: href ?? now.read()?.link })
    }
    view.addEventListener('scroll', note)
    view.addEventListener('focusin', note)
    return () => {
      view.removeEventListener('scroll', note)
      view.removeEventListener('focusin', note)
    }
  }, [])

  useLayoutEffect(() => {
    const isFirst = before.current === undefined || before.current === shown
    before.current = shown
    const view = document.querySelector<HTMLElement>('#view')
    if (isFirst || view === null) return undefined
    const { top, link } = latest.current.read() ?? { top: 0, link: undefined }
    isArriving.current = true
    const end = (): void => {
      observer.disconnect()
      clearTimeout(timer)
      for (const type of userEvents) view.removeEventListener(type, end)
      isArriving.current = false
    }
    const arrive = (): void => {
      if (view.scrollTop !== top) view.scrollTop = top
      const isThere = Math.abs(view.scrollTop - top) <= 1
      if (isThere && hasFocus(view, link)) end()
    }
    // The heading and the rows come with what the view asks for.
    const observer = new MutationObserver(arrive)
    const timer = setTimeout(end, patienceMs)
    for (const type of userEvents) view.addEventListener(type, end)
    observer.observe(view, { childList: true, subtree: true })
    arrive()
    return end
  }, [shown])
}

/** What the user does puts an end to what the page does by itself. */
const userEvents = ['wheel', 'pointerdown', 'keydown'] as const

/** Gives the focus to the link, or to the heading where there is none, unless the view has taken it. */
function hasFocus(view: HTMLElement, link: string | undefined): boolean {
  const { activeElement } = document
  const heading = view.querySelector('h1')
  const isTaken =
    activeElement !== view && activeElement !== heading && view.contains(activeElement)
  if (isTaken) return true
  const left =
    link === undefined ? null : view.querySelector<HTMLElement>(`a[href="${CSS.escape(link)}"]`)
  heading?.setAttribute('tabindex', '-1')
  const next = left ?? heading ?? view
  if (next !== activeElement) next.focus({ preventScroll: true })
  return next === left || (link === undefined && next === heading)
}
