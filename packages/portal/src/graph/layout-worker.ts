/** Lays pictures out off the main thread: 500 nodes take some hundred milliseconds. */
import { Graph, layout } from '@dagrejs/dagre'
import type { LayoutAnswer, LayoutRequest, Place } from './layout.ts'

addEventListener('message', ({ data }: MessageEvent<LayoutRequest>) => {
  const graph = new Graph()
  graph.setGraph({ rankdir: 'LR', nodesep: 12, ranksep: 72, marginx: 16, marginy: 16 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const { id, width, height } of data.nodes) graph.setNode(id, { width, height })
  for (const { from, to } of data.edges) graph.setEdge(from, to)
  layout(graph)
  const places = new Map(
    data.nodes.map(({ id, width, height }) => {
      const { x, y } = graph.node(id) as { readonly x: number; readonly y: number }
      return [id, { x: x - width / 2, y: y - height / 2 }]
    }),
  )
  const bends = new Map(
    data.edges.map(({ id, from, to }) => {
      const { points } = graph.edge(from, to) as { readonly points: readonly Place[] }
      return [id, points.slice(1, -1)]
    }),
  )
  const answer: LayoutAnswer = { number: data.number, places, bends }
  postMessage(answer)
})
