import { lazy, Suspense } from 'react'
import type { ObjectGraphProps } from '../graph/object-graph.tsx'
import { Look } from './look.tsx'

export type { ObjectGraphProps }

const Graph = lazy(async () => {
  const { ObjectGraph: component } = await import('../graph/object-graph.tsx')
  return { default: component }
})

/** The objects around some objects, as a picture that stays current. It fills its place: give that a height. */
export function ObjectGraph(props: ObjectGraphProps) {
  return (
    <Look>
      <Suspense fallback={null}>
        <Graph {...props} />
      </Suspense>
    </Look>
  )
}
