import { useEffect, useRef, useState } from 'react'
import type { Picture } from './graph-model.ts'
import type { LayoutAnswer, LayoutRequest, Place } from './layout.ts'

/** The size of a drawn node, in pixels. */
export const nodeSize = { width: 208, height: 44 } as const
const gap = 12

type Places = ReadonlyMap<string, Place>

/**
 * Where the nodes of a picture are drawn, as a worker lays them out; empty until then. Nodes that stay keep their places,
 * so that nothing jumps when one comes or goes, unless the user `asked` for another picture.
 */
export function usePlaces({ nodes, edges }: Picture, asked: string): Places {
  const worker = useRef<Worker | undefined>(undefined)
  const count = useRef(0)
  const placed = useRef({ before: '', next: '' })
  const [places, setPlaces] = useState<Places>(new Map())
  const shape = JSON.stringify([nodes.map(({ id }) => id), edges.map(({ id }) => id)])

  useEffect(() => {
    const own = new Worker(new URL('layout-worker.ts', import.meta.url), { type: 'module' })
    worker.current = own
    own.addEventListener('message', ({ data }: MessageEvent<LayoutAnswer>) => {
      if (data.number !== count.current) return
      const { before: last, next } = placed.current
      placed.current = { before: next, next }
      setPlaces((before) => (last === next ? merged(before, data.places) : data.places))
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
      edges: edges.map(({ from, to }) => ({ from, to })),
    }
    placed.current = { ...placed.current, next: asked }
    worker.current?.postMessage(request)
    // The shape says when the nodes or the edges are others.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [shape])

  return places
}

/** The new places around the old ones: where most nodes stay, each keeps its place, and new nodes give way to them. */
function merged(before: Places, after: Places): Places {
  const staying = [...after.keys()].filter((id) => before.has(id))
  const [anchor = ''] = staying
  const [old, now] = [before.get(anchor), after.get(anchor)]
  if (old === undefined || now === undefined) return after
  const moved = new Map(
    Array.from(after, ([id, { x, y }]) => [id, { x: x + old.x - now.x, y: y + old.y - now.y }]),
  )
  if (staying.length * 2 < after.size) return moved
  const taken = new Map(staying.map((id) => [id, before.get(id) ?? old]))
  for (const [id, place] of moved) {
    if (taken.has(id)) continue
    let free = place
    while ([...taken.values()].some((other) => overlap(other, free))) {
      free = { x: free.x, y: free.y + nodeSize.height + gap }
    }
    taken.set(id, free)
  }
  return taken
}

function overlap(a: Place, b: Place): boolean {
  return (
    Math.abs(a.x - b.x) < nodeSize.width + gap && Math.abs(a.y - b.y) < nodeSize.height + gap / 2
  )
}
