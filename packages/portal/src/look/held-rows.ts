import { type RefObject, useEffect } from 'react'

/** Rows that stay in their places. */
export interface HeldRows<Row> {
  readonly rows: readonly Row[]
  /** Those that do not belong to the list any more. */
  readonly gone: ReadonlySet<string>
}

/** The rows that are shown, in their places, as they are now: none comes, goes or moves. */
export function heldRows<Row extends { readonly id: string }>(
  shown: readonly Row[],
  current: ReadonlyMap<string, Row>,
): HeldRows<Row> {
  return {
    rows: shown.map((row) => current.get(row.id) ?? row),
    gone: new Set(shown.flatMap(({ id }) => (current.has(id) ? [] : [id]))),
  }
}

/** Rows are held while the pointer is over them, or over the button that lets them move. */
export function useHold(
  frame: RefObject<HTMLElement | null>,
  hold: (isHeld: boolean) => void,
): void {
  useEffect(() => {
    const element = frame.current
    if (element === null) return undefined
    const enter = (): void => hold(true)
    const leave = (): void => hold(false)
    if (element.matches(':hover')) enter()
    element.addEventListener('pointerenter', enter)
    element.addEventListener('pointerleave', leave)
    return () => {
      element.removeEventListener('pointerenter', enter)
      element.removeEventListener('pointerleave', leave)
    }
  }, [frame, hold])
}
