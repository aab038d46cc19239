import { Handle, type Node, type NodeProps, Position } from '@xyflow/react'
import { Health } from '../look/health.tsx'
import { words } from '../words.ts'
import type { PictureNode } from './graph-model.ts'
import styles from './graph-node.module.css'

export type DrawnNode = Node<
  {
    readonly node: PictureNode
    readonly isRoot: boolean
    readonly onCentre: (id: string) => void
    readonly onUnfold: (id: string) => void
  },
  'object'
>

/** One object of the picture, or several that are folded. */
export function GraphNode({ data: { node, isRoot, onCentre, onUnfold } }: NodeProps<DrawnNode>) {
  const { kind, health } = node
  return (
    <div className={styles['node']} data-health={health} data-form={node.form} data-root={isRoot}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <span className={styles['kind']}>
        {kind}
        {node.form === 'object' && node.reason !== null && health !== 'HEALTHY' && (
          <span className={styles['reason']}> {node.reason}</span>
        )}
      </span>
      <span className={styles['title']}>
        <Health status={health} bare />
        {node.form === 'object' ? (
          <span className={styles['name']} title={words.graph.node(node)}>
            {node.name}
          </span>
        ) : (
          <span className={styles['name']}>
            {words.graph.folded(node.members.length, node.health)}
          </span>
        )}
      </span>
      {node.form === 'object' && !isRoot && (
        <button
          type="button"
          className={styles['centre']}
          aria-label={words.graph.centre(node.name)}
          title={words.graph.centre(node.name)}
          onClick={(event) => {
            event.stopPropagation()
            onCentre(node.id)
          }}
        >
          ⌖
        </button>
      )}
      {node.form === 'object' && node.behind > 0 && (
        <button
          type="button"
          className={styles['behind']}
          aria-label={words.graph.openShared(node.behind, node.name)}
          title={words.graph.openShared(node.behind, node.name)}
          onClick={(event) => {
            event.stopPropagation()
            onUnfold(node.id)
          }}
        >
          +{node.behind}
        </button>
      )}
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  )
}
