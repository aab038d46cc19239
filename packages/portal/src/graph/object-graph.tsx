import '@xyflow/react/dist/base.css'
import {
  Background,
  Controls,
  type Node,
  Panel,
  ReactFlow,
  type ReactFlowInstance,
} from '@xyflow/react'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { ObjectGraphDocument } from '../gateway/documents.ts'
import { useAnswer } from '../gateway/gateway.ts'
import { useAround } from '../object/around.ts'
import { usePlace } from '../scope.ts'
import { words } from '../words.ts'
import { GraphList } from './graph-list.tsx'
import { type DrawnLine, GraphLine } from './graph-line.tsx'
import { type DrawnNode, GraphNode } from './graph-node.tsx'
import { type Picture, pictureOf, relationWords } from './graph-model.ts'
import { nodeSize, passages } from './layout.ts'
import styles from './object-graph.module.css'
import { usePlaces } from './use-places.ts'

export interface ObjectGraphProps {
  /** The `id`s of the objects in the middle. */
  readonly roots: readonly string[]
  /** The `id` of the selected object, and what selects another one. */
  readonly selected?: string | undefined
  readonly onSelect?: (id: string) => void
}

/** As many objects as a picture can show. */
const maxNodes = 500
const maxSteps = 4
const nodeTypes = { object: GraphNode }
const edgeTypes = { line: GraphLine }

/** The objects around some objects, as a picture that stays current, or as a list. */
export function ObjectGraph({ roots, selected, onSelect }: ObjectGraphProps) {
  const [centre, setCentre] = useState<readonly string[]>()
  const around = centre ?? roots
  const [chosen, setSteps] = useState<number>()
  const depth = Math.max(chosen ?? 0, 2)
  const [beside, setBeside] = useState<readonly string[]>([])
  const { data, errors, isPending } = useAnswer(
    ObjectGraphDocument,
    { roots: [...around], depth, maxNodes },
    { since: useAround(around, beside) },
  )
  const others = data?.graph?.nodes.map(({ id }) => id) ?? []
  useEffect(() => setBeside(others), [others.join()])
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set())
  const [isList, setList] = useState(false)
  const graph = data?.graph
  const picture = useMemo(
    (): Picture =>
      graph === undefined || graph === null ? nothing : pictureOf(graph, unfolded, chosen),
    [graph, unfolded, chosen],
  )
  const { steps } = picture
  const unfold = useCallback((id: string) => setUnfolded((before) => new Set([...before, id])), [])
  const [error] = errors
  if (error !== undefined && (graph === undefined || graph === null)) {
    return <p role="alert">{error.message}</p>
  }
  const notes = [
    graph?.truncated === true ? words.graph.truncated(maxNodes) : '',
    graph?.complete === false ? words.graph.incomplete(graph.notLookedAt) : '',
  ].filter((note) => note !== '')
  return (
    <section className={styles['graph']} aria-label={words.graph.title} aria-busy={isPending}>
      <div className={styles['bar']}>
        {centre !== undefined && (
          <button type="button" onClick={() => setCentre(undefined)}>
            {words.graph.back}
          </button>
        )}
        {unfolded.size > 0 && (
          <button type="button" onClick={() => setUnfolded(new Set())}>
            {words.graph.fold}
          </button>
        )}
        <button type="button" disabled={steps <= 1} onClick={() => setSteps(steps - 1)}>
          {words.graph.nearer}
        </button>
        <button type="button" disabled={steps >= maxSteps} onClick={() => setSteps(steps + 1)}>
          {words.graph.further}
        </button>
        <button type="button" aria-pressed={isList} onClick={() => setList(!isList)}>
          {words.graph.list}
        </button>
      </div>
      {isList ? (
        <GraphList picture={picture} />
      ) : (
        <Canvas
          picture={picture}
          asked={unfolded.size}
          roots={around}
          selected={selected}
          onSelect={onSelect}
          onUnfold={unfold}
          onCentre={(id) => setCentre([id])}
        />
      )}
      {notes.length > 0 && (
        <p className={styles['notes']} title={graph?.notLookedAt.join(', ')}>
          {notes.join(' ')}
        </p>
      )}
    </section>
  )
}

const nothing: Picture = { nodes: [], edges: [], steps: 0 }

interface CanvasProps {
  readonly picture: Picture
  /** How many folds the user has opened. */
  readonly asked: number
  readonly roots: readonly string[]
  readonly selected: string | undefined
  readonly onSelect: ((id: string) => void) | undefined
  readonly onUnfold: (id: string) => void
  readonly onCentre: (id: string) => void
}

function Canvas({ picture, asked, roots, selected, onSelect, onUnfold, onCentre }: CanvasProps) {
  const { open } = usePlace()
  const centre = JSON.stringify([roots, picture.steps, asked])
  const layout = usePlaces(picture, centre)
  const flow = useRef<ReactFlowInstance<DrawnNode, DrawnLine> | undefined>(undefined)
  const canvas = useRef<HTMLDivElement>(null)
  const wasFitted = useRef('')
  const [hovered, setHovered] = useState<string>()

  const nodes = useMemo(
    () =>
      picture.nodes.flatMap((node): DrawnNode[] => {
        const position = layout.places.get(node.id)
        if (position === undefined) return []
        return [
          {
            id: node.id,
            type: 'object',
            position,
            ...nodeSize,
            selected: node.id === selected,
            draggable: false,
            connectable: false,
            ariaLabel: words.graph.node(node),
            data: { node, isRoot: roots.includes(node.id), onCentre, onUnfold },
          },
        ]
      }),
    [picture, layout, selected, roots, onCentre, onUnfold],
  )
  const passed = useMemo(
    () => new Map(picture.edges.map((edge) => [edge.id, { passages: passages(edge, layout) }])),
    [picture, layout],
  )
  const edges = useMemo(
    () =>
      picture.edges.map(({ id, from, to, relations }): DrawnLine => {
        const isNear = hovered === from || hovered === to || hovered === id
        return {
          id,
          type: 'line',
          data: passed.get(id) ?? { passages: [] },
          source: from,
          target: to,
          focusable: false,
          className: isNear ? (styles['near'] ?? '') : '',
          ...(isNear ? { label: relations.map(relationWords).join(', ') } : {}),
        }
      }),
    [picture, passed, hovered],
  )
  // The picture is fitted where the user asks for another one, not when the objects change.
  const isPlaced = nodes.length > 0 && nodes.length === picture.nodes.length
  if (isPlaced && wasFitted.current !== centre && flow.current !== undefined) {
    wasFitted.current = centre
    const height = canvas.current?.clientHeight ?? 0
    requestAnimationFrame(() => void fitted(flow.current, nodes, height))
  }
  const openNode = ({ data: { node } }: Node & DrawnNode): void => {
    if (node.form === 'fold') onUnfold(node.id)
    else open({ object: node.address })
  }
  return (
    <div ref={canvas} className={styles['canvas']}>
      <ReactFlow<DrawnNode, DrawnLine>
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        onInit={(instance) => {
          flow.current = instance
        }}
        onNodeClick={(_event, { data: { node } }) => {
          if (node.form === 'fold') onUnfold(node.id)
          else onSelect?.(node.id)
        }}
        onNodeDoubleClick={(_event, node) => openNode(node)}
        onNodeMouseEnter={(_event, { id }) => setHovered(id)}
        onNodeMouseLeave={() => setHovered(undefined)}
        onEdgeMouseEnter={(_event, { id }) => setHovered(id)}
        onEdgeMouseLeave={() => setHovered(undefined)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          const id = (event.target as HTMLElement).closest<HTMLElement>('.react-flow__node')
            ?.dataset['id']
          const node = nodes.find((one) => one.id === id)
          if (node !== undefined) openNode(node)
        }}
        minZoom={0.1}
        maxZoom={1.5}
        nodesDraggable={false}
        nodesConnectable={false}
        deleteKeyCode={null}
        zoomOnDoubleClick={false}
        onlyRenderVisibleElements
        proOptions={{ hideAttribution: true }}
      >
        <Background gap={16} />
        <Controls showInteractive={false} fitViewOptions={fitting} />
        {picture.nodes.length === 1 && <Panel position="top-center">{words.graph.alone}</Panel>}
      </ReactFlow>
    </div>
  )
}

const fitting = { padding: 0.1, maxZoom: 1 }
/** Below this, names cannot be read: then the picture begins at its root. */
const readableZoom = 0.8
const margin = 16

async function fitted(
  flow: ReactFlowInstance<DrawnNode, DrawnLine> | undefined,
  nodes: readonly DrawnNode[],
  height: number,
): Promise<void> {
  await flow?.fitView(fitting)
  const root = nodes.find(({ data }) => data.isRoot)
  if (flow === undefined || root === undefined || flow.getZoom() >= readableZoom) return
  const { x, y } = root.position
  await flow.setViewport({
    x: margin - x * readableZoom,
    y: height / 2 - (y + nodeSize.height / 2) * readableZoom,
    zoom: readableZoom,
  })
}
