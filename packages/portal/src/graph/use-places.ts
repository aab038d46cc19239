import { useEffect, useRef, useState } from 'react'
import type { Picture } from './graph-model.ts'
import {
  type Layout,
  type LayoutAnswer,
  type LayoutRequest,
  nodeSize,
  type Place,
} from './layout.ts'

const gap = 12

const nowhere: Layout = { places: new Map(), bends: new Map() }

/**
 * Where the nodes of a picture are drawn, as a worker lays them out; empty until then. Nodes that stay keep their places,
 * so that nothing jumps when one comes or goes, unless the user `asked` for another picture.
 */
export function usePlaces({ nodes, edges }: Picture, asked: string): Layout {
  const worker = useRef<Worker | undefined>(undefined)
  const count = useRef(0)
  const placed = useRef({ before: '', next: '' })
  const [layout, setLayout] = useState(nowhere)
  const shape = JSON.stringify([nodes.map(({ id }) => id), edges.map(({ id }) => id)])

  useEffect(() => {
    const own = new Worker(new URL('layout-worker.ts', import.meta.url), { type: 'module' })
    worker.current = own
    own.addEventListener('message', ({ data }: MessageEvent<LayoutAnswer>) => {
      if (data.number !== count.current) return
      const { before: last, next } = placed.current
      placed.current = { before: next, next }
      setLayout((before) => (last === next ? merged(before, data) : data))
    })
    return () => {
      worker.current = undefined
      own.terminate()
    }
  }, [])

  useEffect(() => {
    const request: LayoutRequest = {
      number: ++count.current,
      nodes: nodes.map(({ id }) => ({ id, ...nodeSize })),
      edges: edges.map(({ id, from, to }) => ({ id, from, to })),
    }
    placed.current = { ...placed.current, next: asked }
    worker.current?.postMessage(request)
    // The shape says when the nodes or the edges are others.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [shape])

  return layout
}

/** The new places around the old ones: where most nodes stay, each keeps its place, and new nodes give way to them. */
function merged(before: Layout, after: Layout): Layout {
  const staying = [...after.places.keys()].filter((id) => before.places.has(id))
  const [anchor = ''] = staying
  const [old, now] = [before.places.get(anchor), after.places.get(anchor)]
  if (old === undefined || now === undefined) return after
  const shifted = ({ x, y }: Place): Place => ({ x: x + old.x - now.x, y: y + old.y - now.y })
  const places = new Map(Array.from(after.places, ([id, place]) => [id, shifted(place)]))
  const bends = new Map<string, readonly Place[]>(
    Array.from(after.bends, ([id, all]) => [id, all.map(shifted)]),
  )
  if (staying.length * 2 < places.size) return { places, bends }
  const taken = new Map(staying.map((id) => [id, before.places.get(id) ?? old]))
  for (const [id, place] of places) {
    if (taken.has(id)) continue
    let free = place
    while ([...taken.values()].some((other) => overlap(other, free))) {
      free = { x: free.x, y: free.y + nodeSize.height + gap }
    }
    taken.set(id, free)
  }
  for (const id of bends.keys()) bends.set(id, before.bends.get(id) ?? bends.get(id) ?? [])
  return { places: taken, bends }
}

function overlap(a: Place, b: Place): boolean {
  return (
    Math.abs(a.x - b.x) < nodeSize.width + gap && Math.abs(a.y - b.y) < nodeSize.height + gap / 2
  )
}
