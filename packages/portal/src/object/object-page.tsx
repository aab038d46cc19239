import { useParams } from '@tanstack/react-router'
import { ObjectGraph } from '../graph/object-graph.tsx'

/** One object. */
export function ObjectPage() {
  const { id } = useParams({ from: '/objects/$id' })
  return (
    <>
      <h1 className="visually-hidden">Object</h1>
      <ObjectGraph roots={[id]} />
    </>
  )
}
